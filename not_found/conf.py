"""How the 404 page is served: `gunicorn --config python:not_found.conf 'not_found.app:create_app()'`."""

from hooks import logs
from hooks.gunicorn_conf import *  # noqa: F403 - all of the hook's settings, but for those below
from hooks.gunicorn_conf import PORT, addresses, allow_open_files, worker_connections
from not_found.app import PROBES_PORT

# The gateway sends visitors to the first alone. Each has room for `worker_connections`: visitors hold up no probe.
bind = [*addresses(PORT), *addresses(PROBES_PORT)]
limit_request_line = 8190  # the longest that gunicorn takes: a visitor with a long path gets the page, too


def on_starting(_server: object) -> None:  # type: ignore[no-redef]
    """Prepare the process, in place of the hook's function: there are no settings to check."""
    logs.log_everything()
    allow_open_files(2 * worker_connections + 100)
