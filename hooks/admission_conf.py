"""gunicorn settings for the webhook: `gunicorn --config python:hooks.admission_conf 'hooks.app:create_webhook()'`."""

import socket
import ssl
from collections.abc import Callable
from typing import Any

import gevent

from hooks import gunicorn_conf
from hooks.gunicorn_conf import *  # noqa: F403 - all of the hook's settings except those below

bind = [f"{gunicorn_conf.ADDRESS}:8443"]

# Where the Deployment mounts its Secret.
certfile = "/etc/ingress-manager-tls/tls.crt"
keyfile = "/etc/ingress-manager-tls/tls.key"

HANDSHAKE_SECONDS = 5
"""The timeout for each step of a TLS handshake. The API server gives up after one second."""


def ssl_context(_config: Any, make: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
    """Make gunicorn reload the certificate for each TLS handshake, because the kubelet replaces the file on renewal."""

    def reload(connection: ssl.SSLSocket, _name: str, _context: ssl.SSLContext) -> None:
        connection.context = make()

    context = make()
    context.sni_callback = reload  # type: ignore[assignment]
    return context


def post_worker_init(worker: Any) -> None:  # type: ignore[no-redef]
    """Set a timeout for each TLS handshake (gunicorn removes it afterwards), and don't log failed handshakes."""
    gunicorn_conf.post_worker_init(worker)
    socket.setdefaulttimeout(HANDSHAKE_SECONDS)
    hub = gevent.get_hub()
    hub.NOT_ERROR = (*hub.NOT_ERROR, OSError)
