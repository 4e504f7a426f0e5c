"""How the hook is served: `gunicorn --config python:hooks.gunicorn_conf 'hooks.app:create_app()'`."""

import socket
import sys
from pathlib import Path
from typing import Any

from hooks import settings

bind = "0.0.0.0:8080"

# Metacontroller keeps connections open, which the default worker class would close after each answer. One process with
# threads answers several times what an API server takes; more processes would only take more memory.
worker_class = "gthread"
workers = 1
threads = 8

# Longer than the 90 s after which Metacontroller's Go client closes an idle connection: the client closes first, so
# that no request meets a connection that is just being closed here.
keepalive = 120

# On SIGTERM: no new connections, and this many seconds for what is under way. A pod is given more (manifests/).
graceful_timeout = 25

# gunicorn's worker touches a file to show that it lives; on a disk that can stall it. /dev/shm is memory, on Linux.
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - the file has no name

# No proxy stands before it, so no peer may set SCRIPT_NAME and the like by headers; by default those on loopback may.
forwarded_allow_ips = ""

# A way in that nobody needs: it would open a socket in HOME, which a read-only container doesn't have.
control_socket_disable = True


def on_starting(_server: object) -> None:
    """Check the settings before any worker starts: one that fails to boot would bury the reason in a traceback."""
    try:
        settings.from_environment()
    except settings.SettingsError as error:
        print(f"ingress-manager: {error}", file=sys.stderr)  # noqa: T201 - for a person, before there is a log
        sys.exit(2)


def when_ready(server: Any) -> None:
    """Have Linux hand over a connection with its first bytes: a silent one would hold a thread for five seconds."""
    for listener in server.LISTENERS:
        if hasattr(socket, "TCP_DEFER_ACCEPT"):
            listener.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, keepalive)
