"""The 404 page, which answers every host and path that nothing else serves. A separate program in the hook's image."""
