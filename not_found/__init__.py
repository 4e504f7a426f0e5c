"""The 404 page for every host and path that nothing else serves. It is a separate program in the hook's image."""
