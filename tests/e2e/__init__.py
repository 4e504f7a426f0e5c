"""End to end: a real API server, a real engine, the hook under gunicorn, the committed manifests."""
