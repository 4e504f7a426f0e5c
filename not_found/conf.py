"""Gunicorn's settings for the 404 page: `gunicorn --config python:not_found.conf 'not_found.app:create_app()'`."""

from hooks.gunicorn_conf import *  # noqa: F403 - all of the hook's settings, but for those below
from hooks.gunicorn_conf import ADDRESS, PORT
from not_found.app import PROBES_PORT

# The gateway sends visitors only to the first port. Each port has its own connections: visitors can't block a probe.
worker_connections = 450
bind = [f"{ADDRESS}:{PORT}", f"{ADDRESS}:{PROBES_PORT}"]
limit_request_line = 8190  # the most that gunicorn allows: a long path gets the page, too
