"""The 404 page: it answers every host and path that nothing serves. A program of its own, in the hook's image."""
