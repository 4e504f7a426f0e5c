"""A backend whose answers a test writes itself, and its visitor: both see HTTP/1.1 as it is sent."""

import contextlib
import http.client
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from devcluster.api import Object
from devcluster.gateway import LOOPBACK
from tests.e2e.traffic import Place

TIMEOUT = 20
"""Seconds after which a socket gives up, so that a test that waits for what never comes fails."""


class Exchange(BaseHTTPRequestHandler):
    """One request at the backend: `command`, `path`, `headers` and `rfile` are the request, the answer is written."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 3 * TIMEOUT  # longer than a visitor reads nothing
    server: "Server"

    def answer_by_path(self) -> None:
        """Call what the test has said answers this path; without a query, which is the test's to read."""
        self.server.answers[self.path.partition("?")[0]](self)

    do_GET = do_HEAD = do_PUT = do_POST = answer_by_path  # noqa: N815 - as its base calls them

    def handle_expect_100(self) -> bool:
        """Leave the answer to `Expect: 100-continue` to the test."""
        return True

    def start(self, status: int, **headers: object) -> None:
        """Send the status line and the headers; a _ in a name stands for a hyphen."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def answer(self, status: int = 200, body: bytes = b"", **headers: object) -> None:
        """Send a whole answer."""
        self.start(status, Content_Length=len(body), **headers)
        self.wfile.write(body)

    def chunk(self, data: bytes) -> None:
        """Send one chunk of an answer; an empty one is the last."""
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def body(self, at_once: int = 1 << 20) -> Iterator[bytes]:
        """Yield the request's body in pieces as they arrive, chunked or not."""
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                yield self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return
        left = int(self.headers.get("Content-Length", 0))
        while left and (piece := self.rfile.read1(min(left, at_once))):
            left -= len(piece)
            yield piece

    def visitor_has_left(self) -> bool:
        """Return once the gateway sends something or closes the connection: whether it has closed it."""
        try:
            return not self.connection.recv(1)
        except ConnectionResetError:
            return True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as its base calls it
        """Log nothing."""


class Server(ThreadingHTTPServer):
    """What listens in place of the Service's Pods."""

    request_queue_size = 128  # its own 5 are too few for visitors who come at once

    def __init__(self, address: tuple[str, int]) -> None:
        super().__init__(address, Exchange)
        self.answers: dict[str, Callable[[Exchange], object]] = {}
        self.connections: list[socket.socket] = []
        """All that it has accepted."""

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection."""
        connection, address = super().get_request()
        self.connections.append(connection)
        return connection, address

    def server_close(self) -> None:
        """Close the listener and all connections: as long as one is open, the gateway sends requests on it."""
        super().server_close()
        for connection in self.connections:
            with contextlib.suppress(OSError):  # it has been closed
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: that the other side has gone is what some tests are about, and the others see no answer."""


@dataclass(frozen=True)
class Reply:
    """What a visitor was answered."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


class Visitor(http.client.HTTPConnection):
    """A visitor's connection to the gateway. Its `sock` is open, for what http.client can't or won't send."""

    def __init__(self, port: int, host: str) -> None:
        super().__init__(LOOPBACK, port, timeout=TIMEOUT)
        self.host_header = host
        self.connect()

    def send_request(self, method: str, path: str, body: object = None, **headers: str) -> None:
        """Send a request; bytes have a length, and of an iterator each piece becomes a chunk."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        chunked = body is not None and not isinstance(body, bytes)
        self.request(method, path, body, {"Host": self.host_header} | named, encode_chunked=chunked)  # type: ignore[arg-type]

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Reply:
        """Send a request and return the whole answer. Raises what http.client raises, for example IncompleteRead."""
        self.send_request(method, path, body, **headers)
        response = self.getresponse()
        return Reply(response.status, response.headers, response.read())


class Site:
    """A host that is served, and the backend behind it: `on` says what that answers on a path."""

    def __init__(self, place: Place, host: str, server: Server) -> None:
        self.place = place
        self.host = host
        self._server = server

    def on(self, path: str, answer: Callable[[Exchange], object]) -> None:
        """Let `answer` answer a path."""
        self._server.answers[path] = answer

    @contextlib.contextmanager
    def visitor(self) -> Iterator[Visitor]:
        """Yield a new connection to the gateway."""
        with contextlib.closing(Visitor(self.place.gateway.http_port, self.host)) as visitor:
            yield visitor

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Reply:
        """Return the answer to a request on a connection of its own."""
        with self.visitor() as visitor:
            return visitor.ask(method, path, body, **headers)


@contextlib.contextmanager
def serve(place: Place, service: Object) -> Iterator[Site]:
    """Yield a site on a Service's ClusterIP and first port, once the gateway serves it on the host of its name."""
    server = Server((service["spec"]["clusterIP"], service["spec"]["ports"][0]["port"]))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        site = Site(place, place.host(service["metadata"]["name"]), server)
        site.on("/", Exchange.answer)
        place.until_served(site.host)
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
