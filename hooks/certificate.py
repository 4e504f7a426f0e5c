"""The certificate that is served, as its files say at each handshake: a new one needs no restart."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gevent

from hooks import logs

HANDSHAKE_SECONDS = 5
"""How long a client may take for its handshake. The API server gives up after a second."""


class Certificate:
    """Takes the place of an ssl.SSLContext. Raises OSError, ssl.SSLError among them, if it can't be loaded.

    `make` returns the context of the certificate and the key that are in `files` then.
    """

    def __init__(self, files: Sequence[str], make: Callable[[], Any]) -> None:
        self._files = [Path(each) for each in files]
        self._make = make
        self._tried = self._read()
        self._context = make()

    def wrap_socket(self, sock: Any, **options: Any) -> Any:
        """Return the socket of a connection, whose handshake is still to come. Raises GreenletExit where it is gone."""
        try:
            return self.context().wrap_socket(sock, do_handshake_on_connect=False, **options)
        except OSError:
            sock.close()
            raise gevent.GreenletExit from None

    def context(self) -> Any:
        """Return the context of the certificate; that of the last one while a new one can't be loaded."""
        # The kubelet replaces both files at once, but not while both are read: the two may not belong together.
        try:
            if (pair := self._read()) != self._tried:
                self._tried = pair
                self._context = self._make()
                logs.make_logger().info("certificate", sentence="another certificate is served from now on")
        except OSError as error:
            logs.make_logger().warning("certificate", sentence=f"the last one stays: {error}")
        return self._context

    def _read(self) -> list[bytes]:
        return [each.read_bytes() for each in self._files]


def shakes_hands(client: Any) -> bool:
    """Return whether a connection is one to go on with: it has no TLS, or its handshake is done now."""
    try:
        with gevent.Timeout(HANDSHAKE_SECONDS):
            if hasattr(client, "do_handshake"):
                client.do_handshake()
    except (OSError, gevent.Timeout):
        # A client that speaks no TLS, or doesn't trust the certificate, or goes: nobody else is concerned.
        return False
    return True
