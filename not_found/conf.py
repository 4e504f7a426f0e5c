"""How the 404 page is served: `gunicorn --config python:not_found.conf 'not_found.app:create_app()'`."""

from hooks.gunicorn_conf import *  # noqa: F403 - all of the hook's settings, but for those below
from hooks.gunicorn_conf import ADDRESS, PORT
from not_found.app import PROBES_PORT

# The gateway sends visitors to the first alone. Each has its own room for connections: visitors hold up no probe.
worker_connections = 450
bind = [f"{ADDRESS}:{PORT}", f"{ADDRESS}:{PROBES_PORT}"]
limit_request_line = 8190  # the longest that gunicorn takes: a visitor with a long path gets the page, too
