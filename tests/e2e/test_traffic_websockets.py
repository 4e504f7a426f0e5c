"""WebSockets through the gateway."""

import contextlib
import queue
import socket
import threading
from collections.abc import Callable, Iterator

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.http11 import Request, Response
from websockets.sync import client, server
from websockets.typing import Subprotocol

from devcluster.gateway import LOOPBACK
from tests.e2e.site import TIMEOUT
from tests.e2e.traffic import Place

CHAT = Subprotocol("chat")

ABNORMAL = 1006
"""The close code that is never sent: the connection has ended without a closing handshake (RFC 6455, 7.4.1)."""


class WebSockets:
    """A host whose backend speaks WebSocket: `behind` handles the next connection there."""

    def __init__(self, place: Place, host: str) -> None:
        self.place = place
        self.host = host
        self.behind: Callable[[server.ServerConnection], None]

    def handle(self, connection: server.ServerConnection) -> None:
        """Handle a connection at the backend."""
        self.behind(connection)

    @contextlib.contextmanager
    def connect(self, path: str = "/") -> Iterator[client.ClientConnection]:
        """Yield a visitor's connection. Raises InvalidStatus when it is refused."""
        uri, opened = f"ws://{self.host}{path}", socket.create_connection((LOOPBACK, self.place.gateway.http_port))
        with client.connect(uri, sock=opened, proxy=None, open_timeout=TIMEOUT, subprotocols=[CHAT]) as connection:
            yield connection


def refuse(connection: server.ServerConnection, request: Request) -> Response | None:
    """Refuse one path."""
    return connection.respond(403, "not here") if request.path == "/refused" else None


@pytest.fixture(scope="module")
def websockets(place: Place) -> Iterator[WebSockets]:
    """Yield a host that all tests here share."""
    with place.service("websockets") as service:
        host = place.host("websockets")
        site = WebSockets(place, host)
        listening = server.serve(
            site.handle,
            service["spec"]["clusterIP"],
            80,
            subprotocols=[CHAT],
            process_request=refuse,
        )
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        place.until("the backend, which wants an upgrade", lambda answer: answer.status == 426, host)
        yield site
        listening.shutdown()
        thread.join()


def test_a_websocket_carries_text_and_bytes_both_ways(websockets: WebSockets) -> None:
    asked = queue.Queue[str]()

    def echo(connection: server.ServerConnection) -> None:
        assert connection.request is not None
        asked.put(connection.request.path)
        for message in connection:
            connection.send(message)

    websockets.behind = echo
    with websockets.connect("/room?name=a") as connection:
        for message in ("héllo", b"\x00\xff", b"x" * (1 << 19)):
            connection.send(message)
            assert connection.recv(TIMEOUT) == message
        assert connection.ping().wait(TIMEOUT)
    assert (asked.get(), connection.subprotocol) == ("/room?name=a", CHAT)


def test_the_close_code_of_a_websocket_arrives_from_either_side(websockets: WebSockets) -> None:
    seen = queue.Queue[tuple[int | None, str | None]]()

    def wait(connection: server.ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            connection.recv(TIMEOUT)
        seen.put((connection.close_code, connection.close_reason))

    websockets.behind = wait
    with websockets.connect() as connection:
        connection.close(4001, "the visitor's")
    assert seen.get(timeout=TIMEOUT) == (4001, "the visitor's")

    websockets.behind = lambda connection: connection.close(4002, "the backend's")
    with websockets.connect() as connection, pytest.raises(ConnectionClosed):
        connection.recv(TIMEOUT)
    assert (connection.close_code, connection.close_reason) == (4002, "the backend's")


def test_a_websocket_that_breaks_off_is_seen_on_the_other_side(websockets: WebSockets) -> None:
    seen = queue.Queue[int | None]()

    def wait(connection: server.ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            connection.recv(TIMEOUT)
        seen.put(connection.close_code)

    websockets.behind = wait
    with websockets.connect() as connection:
        connection.socket.shutdown(socket.SHUT_RDWR)
        assert seen.get(timeout=TIMEOUT) == ABNORMAL

    websockets.behind = lambda connection: connection.socket.shutdown(socket.SHUT_RDWR)
    with websockets.connect() as connection, pytest.raises(ConnectionClosed):
        connection.recv(TIMEOUT)
    assert connection.close_code == ABNORMAL


def test_a_backend_that_refuses_a_websocket_is_heard(websockets: WebSockets) -> None:
    with pytest.raises(InvalidStatus) as refused, websockets.connect("/refused"):
        pass
    assert (refused.value.response.status_code, refused.value.response.body) == (403, b"not here")
