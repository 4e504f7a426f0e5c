"""The load by which it is judged whether requests are lost: it tells of every one that is, and of none that is not."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from tests.e2e.steady_load import Report, SteadyLoad

HOST = "shop.example.com"


def answer(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


GOOD = answer(b"the shop")


@contextlib.contextmanager
def server(*answers: bytes) -> Iterator[int]:
    """Yield the port of a server that gives these answers to each connection's requests, and then ends the connection.

    After a good answer it reads one more request first.
    """

    def serve(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            for given in answers:
                connection.recv(65536)
                connection.sendall(given)
            if answers[-1] == GOOD:
                connection.recv(65536)

    def accept() -> None:
        with contextlib.suppress(OSError):  # the listener is closed
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept).start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)


def visit(port: int, *, seconds: float = 0.3) -> Report:
    """Return the report of a load of 100 requests a second; on a busy machine it may take longer to have some."""
    with SteadyLoad({HOST: "the shop"}, ["127.0.0.1"], http_port=port, rate=100, kinds=["kept"]) as load:
        time.sleep(seconds)
        report = load.report()
    return report if report.total >= 5 or seconds > 10 else visit(port, seconds=3 * seconds)


def test_requests_that_are_answered_succeed() -> None:
    with server(*[GOOD] * 10_000) as port:
        report = visit(port)
    assert report.sent == {"kept": report.succeeded}
    assert report.total >= 5
    assert (report.failed, report.sent_again) == ([], [])


@pytest.mark.parametrize(
    ("given", "reason"), [(answer(b"another shop"), "200 OK: another shop"), (GOOD[:-1], "EOF"), (b"", "EOF")]
)
def test_what_is_not_the_answer_of_the_service_is_a_failure(given: bytes, reason: str) -> None:
    with server(given) as port:
        report = visit(port)
    assert report.succeeded == 0
    assert len(report.failed) == report.total > 0
    assert all(reason in failed.reason for failed in report.failed)


def test_a_request_that_meets_the_end_of_its_connection_is_told_to_be_sent_again() -> None:
    """The server reads the second request of each connection, and closes without an answer."""
    with server(GOOD) as port:
        report = visit(port, seconds=0.6)
    assert report.failed == []
    assert report.sent_again
    assert report.succeeded == report.total
