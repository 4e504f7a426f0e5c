"""How the API server is served: `gunicorn --config python:hooks.admission_conf 'hooks.admission_app:create_app()'`."""

import sys
from collections.abc import Callable
from typing import Any

from gunicorn import sock

from hooks import gunicorn_conf, logs
from hooks.certificate import Certificate
from hooks.gunicorn_conf import *  # noqa: F403 - all of the hook's settings, but for those below
from hooks.gunicorn_conf import addresses

bind = addresses(8443)

# Where the Deployment mounts its Secret.
certfile = "/etc/ingress-manager-tls/tls.crt"
keyfile = "/etc/ingress-manager-tls/tls.key"


def ssl_context(config: Any, make: Callable[[], Any]) -> Certificate:
    """Return what takes connections with the certificate that the files hold then: gunicorn's server hook."""
    return Certificate([config.certfile, config.keyfile], make)


def on_starting(server: Any) -> None:  # type: ignore[no-redef]
    """Check the settings and the certificate before any worker starts."""
    gunicorn_conf.on_starting(server)
    try:
        sock.ssl_context(server.cfg)
    except OSError as error:
        config = server.cfg
        logs.make_logger().error("certificate", sentence=f"{config.certfile}, {config.keyfile}: {error}")
        sys.exit(2)
