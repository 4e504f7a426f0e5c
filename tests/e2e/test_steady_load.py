"""The load by which it is judged whether requests are lost: it tells of every one that is, and of none that is not."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tests.e2e.steady_load import Report, SteadyLoad

HOST = "shop.example.com"


def answer(body: bytes, status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 %b\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body)


GOOD = answer(b"the shop")


@contextlib.contextmanager
def server(serve: Callable[[socket.socket], None], address: str = "127.0.0.1", port: int = 0) -> Iterator[int]:
    """Yield the port of a server that serves each connection with a function."""

    def run(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            serve(connection)

    def accept() -> None:
        with contextlib.suppress(OSError):  # the listener is closed
            while True:
                threading.Thread(target=run, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server((address, port)) as listener:
        threading.Thread(target=accept).start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)


def serving(*answers: bytes) -> Callable[[socket.socket], None]:
    """Return a function that gives these answers to a connection's requests, the last one for ever."""

    def serve(connection: socket.socket) -> None:
        for number in range(10_000):
            if not connection.recv(65536):
                return
            given = answers[min(number, len(answers) - 1)]
            if not given:
                return
            connection.sendall(given)

    return serve


def cut_off(connection: socket.socket) -> None:
    """Answer with a part of a body."""
    connection.recv(65536)
    connection.sendall(GOOD[:-1])


def visit(port: int, *, kind: str = "kept", seconds: float = 0.3, timeout: str = "10s") -> Report:
    """Return the report of a load of 100 requests a second; on a busy machine it may take longer to have some."""
    texts = {HOST: "the shop"}
    with SteadyLoad(texts, ["127.0.0.1"], http_port=port, rate=100, kinds=[kind], timeout=timeout) as load:
        time.sleep(seconds)
        report = load.report()
    return report if report.total >= 5 or seconds > 10 else visit(port, kind=kind, seconds=3 * seconds, timeout=timeout)


@pytest.mark.parametrize("kind", ["kept", "new"])
def test_requests_that_are_answered_succeed(kind: str) -> None:
    with server(serving(GOOD)) as port:
        report = visit(port, kind=kind)
    assert report.sent == {kind: report.succeeded}
    assert report.total >= 5
    assert (report.failed, report.sent_again) == ([], [])
    assert 0 < report.median <= report.p99 <= report.slowest


@pytest.mark.parametrize(
    ("serve", "reason"),
    [
        (serving(answer(b"another shop")), "200 OK: another shop"),
        (serving(answer(b"the shop", b"404 Not Found")), "404 Not Found: the shop"),
        (serving(answer(b"the shop", b"502 Bad Gateway")), "502 Bad Gateway: the shop"),
        (cut_off, "unexpected EOF"),
        (serving(b""), "EOF"),
        (lambda _connection: time.sleep(1), "context deadline exceeded"),
    ],
    ids=["another body", "404", "502", "half an answer", "no answer", "silence"],
)
def test_what_is_not_the_answer_of_the_service_is_a_failure(
    serve: Callable[[socket.socket], None], reason: str
) -> None:
    with server(serve) as port:
        report = visit(port, timeout="300ms")
    assert report.succeeded == 0
    assert len(report.failed) == report.total > 0
    for failed in report.failed:
        assert (failed.kind, failed.url) == ("kept", f"http://{HOST}/")
        assert reason in failed.reason


def test_a_request_that_meets_the_end_of_its_connection_is_told_to_be_sent_again() -> None:
    """The server reads the second request of each connection, and closes without an answer."""
    with server(serving(GOOD, b"")) as port:
        report = visit(port, seconds=0.6)
    assert report.failed == []
    assert report.sent_again
    assert {again.reason for again in report.sent_again} == {"sent 2 times"}
    assert report.succeeded == report.total
