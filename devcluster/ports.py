"""A port of 127.0.0.1 that stays ours from the moment it is chosen, also while its server is stopped."""

import socket
import sys


class ReservedPort:
    """A free port. A server that sets SO_REUSEPORT can listen on it; no other program is given it.

    A bound socket that doesn't listen holds the port: connecting to it is refused until the server listens. That is
    Linux's behaviour; elsewhere such a socket might be handed the server's connections, so the port is only looked up.
    """

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._socket.bind(("127.0.0.1", 0))
        self.number: int = self._socket.getsockname()[1]
        if sys.platform != "linux":
            self._socket.close()

    def close(self) -> None:
        """Give the port back."""
        self._socket.close()
