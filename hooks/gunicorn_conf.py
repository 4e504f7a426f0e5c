"""How the hook is served: `gunicorn --config python:hooks.gunicorn_conf 'hooks.app:create_app()'`."""

import signal
import socket
import sys
from pathlib import Path
from typing import Any

import gevent

from hooks import logs
from hooks.settings_file import from_environment
from ingress_manager.core.errors import SettingsError

PORT = 8080

# On IPv6 and IPv4, or on IPv4 alone on a machine that has no IPv6.
ADDRESS = "[::]" if socket.has_dualstack_ipv6() else "0.0.0.0"  # noqa: S104 - all of a Pod's
bind = [f"{ADDRESS}:{PORT}"]

# A greenlet for each connection: an idle connection, or a request that is half sent, holds up no other. One process
# answers several times as fast as an API server takes Ingresses; more processes would only take more memory.
worker_class = "gevent"
workers = 1

# Metacontroller opens as many connections as it has workers (20). The rest is room for connections that hang, within
# the 1,024 files that a process may open where nobody says more.
worker_connections = 900

# Longer than the 90 s after which Metacontroller's Go client closes an idle connection: the client closes first, so
# that no request meets a connection that is just being closed here.
keepalive = 120

# On SIGTERM: no new connections, the end of each with its next answer, and this many seconds for what is under way. A
# pod is given more (manifests/).
graceful_timeout = 25

# gunicorn's worker touches a file to show that it lives; on a disk that can stall it. /dev/shm is memory, on Linux.
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - gunicorn unlinks the file at once

# No proxy stands before the hook, so no client may set SCRIPT_NAME and the like by headers. By default, gunicorn lets
# clients on loopback do so.
forwarded_allow_ips = ""

# gunicorn would open a control socket in HOME, which a read-only container doesn't have.
control_socket_disable = True

logconfig_dict = logs.CONFIGURATION


def post_worker_init(worker: Any) -> None:
    """Leave Ctrl-C to the master: a worker that is told by both to end prints a traceback. And tell of no request."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker.log.access = lambda *_told: None  # as the log is configured, gunicorn would write of each


def post_request(_worker: object, _request: object, _environ: object, _response: object) -> None:
    """Let other connections have their turn: one that always has something to read never waits for it."""
    gevent.sleep(0)


def on_starting(_server: object) -> None:
    """Check the settings before any worker starts: a worker that fails to boot would bury the reason in a traceback."""
    logs.log_everything()
    try:
        from_environment()
    except SettingsError as error:
        logs.make_logger().error("settings", sentence=str(error))
        sys.exit(2)
