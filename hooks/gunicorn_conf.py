"""gunicorn settings for the hook: `gunicorn --config python:hooks.gunicorn_conf 'hooks.app:create_app()'`."""

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

# Listen on IPv6 and IPv4, or on IPv4 alone if the machine has no IPv6.
ADDRESS = "[::]" if socket.has_dualstack_ipv6() else "0.0.0.0"  # noqa: S104 - all of a Pod's
bind = [f"{ADDRESS}:{PORT}"]

# One greenlet per connection, so that an idle client or a half-sent request blocks no others. One process answers
# several times as fast as an API server accepts Ingresses, so more would only use memory.
worker_class = "gevent"
workers = 1

# Metacontroller opens a connection for each of its 20 workers. The rest leaves room for hanging ones, within the usual
# limit of 1,024 open files.
worker_connections = 900

# Longer than the 90 s after which Metacontroller's Go client closes an idle connection, so that gunicorn closes none
# just as a request arrives.
keepalive = 120

# Seconds for unfinished requests after SIGTERM. No new connections are accepted, and open ones close after their next
# response. The Pod's grace period is longer (manifests/).
graceful_timeout = 25

# gunicorn's worker touches a file as its heartbeat, and a slow disk could stall it. On Linux, /dev/shm is memory.
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - gunicorn unlinks the file at once

# The hook has no proxy. By default, gunicorn would trust headers such as SCRIPT_NAME from loopback.
forwarded_allow_ips = ""

# gunicorn would open a control socket in HOME, which a read-only container can't write to.
control_socket_disable = True

logconfig_dict = logs.CONFIGURATION


def post_worker_init(worker: Any) -> None:
    """Leave Ctrl-C to the master process (a worker would print a traceback), and disable the access log."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker.log.access = lambda *_arguments: None  # with this logconfig, gunicorn would log each request


def post_request(_worker: object, _request: object, _environ: object, _response: object) -> None:
    """Let other connections proceed. A connection that always has data to read would otherwise block them."""
    gevent.sleep(0)


def on_starting(_server: object) -> None:
    """Check the settings before any worker starts. A worker that fails to boot buries the reason in a traceback."""
    logs.log_uncaught()
    try:
        from_environment()
    except SettingsError as error:
        logs.make_logger().error("settings", sentence=str(error))
        sys.exit(2)
