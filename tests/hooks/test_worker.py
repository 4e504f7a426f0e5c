"""The worker: what it adds to gunicorn's own. tests/hooks/test_server.py shows that it serves.

Coverage takes the greenlets of a thread for one another, unless it is told of them, and then all tests are three times
slower. So tests with one greenlet are measured, and those with several are not.
"""

import gc
import io
import json
import ssl
from contextlib import suppress
from typing import Any

import gevent
import gevent.socket
import pytest
from gunicorn.http.errors import ChunkMissingTerminator
from gunicorn.workers.ggevent import GeventWorker

from hooks import certificate, gunicorn_conf
from hooks import worker as workers
from hooks.worker import MOST_UNREAD, PIECE, Worker, linger, log_exception


class Config:
    keepalive = 60


class Request:
    """A request with a body."""

    def __init__(self, body: Any = None) -> None:
        self.body = body or io.BytesIO()


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Worker:
    """Return a worker that serves no socket."""
    monkeypatch.setattr(GeventWorker, "__init__", lambda *_arguments: None)
    gevent.sleep(0)  # the hub, too, is a greenlet: it begins before coverage looks at the worker
    made = Worker()
    made.cfg, made.alive = Config(), True
    return made


def test_before_it_serves_errors_become_json_and_idle_connections_are_watched(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    spawned: list[object] = []
    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.setattr(gevent, "spawn", spawned.append)
    monkeypatch.setattr(gevent.get_hub(), "print_exception", None)  # put back at the end
    gunicorn_conf.post_worker_init(worker)
    assert spawned == [worker.close_idle_connections]
    assert gevent.get_hub().print_exception is log_exception


@pytest.mark.thorough
@pytest.mark.no_cover
def test_when_it_stops_it_ends_every_wait_for_another_request(worker: Worker) -> None:
    def connection() -> None:
        with worker.timeout_ctx():
            gevent.sleep(60)

    def serve() -> None:
        closer = gevent.spawn(worker.close_idle_connections)
        connections = [gevent.spawn(connection) for _ in range(3)]
        gevent.sleep(0.2)
        assert not any(each.ready() for each in connections), "nothing ends while it serves"
        worker.alive = False
        connections.append(gevent.spawn(connection))  # one that comes late
        gevent.joinall(connections, timeout=30, raise_error=True)
        assert all(each.ready() for each in connections)
        closer.kill()

    gevent.spawn(serve).get(timeout=50)


def test_the_wait_for_another_request_is_known_while_it_lasts(worker: Worker) -> None:
    with worker.timeout_ctx():
        assert list(worker._waiting) == [gevent.getcurrent()]
    assert not worker._waiting


class Connection:
    """What stands for the greenlet of a connection: it notes with what it was ended."""

    ended_with: object = None

    def kill(self, exception: object, block: bool) -> None:
        assert not block, "one connection would hold up the end of the others"
        self.ended_with = exception


@pytest.mark.parametrize(
    ("alive", "waited", "ended_with"), [(True, 10, None), (False, 10, "its timeout"), (False, 0, None)]
)
def test_a_wait_is_ended_only_when_the_worker_stops_and_the_client_has_sent_nothing_lately(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, alive: bool, waited: float, ended_with: object
) -> None:
    naps = iter((0.1, 0))
    monkeypatch.setattr(gevent, "sleep", lambda _seconds: next(naps))
    monkeypatch.setattr(workers, "monotonic", lambda: 100.0)
    connection = Connection()
    worker.alive = alive
    worker._waiting = {connection: ("its timeout", 100.0 - waited)}  # type: ignore[dict-item]
    with suppress(StopIteration):  # at the third nap
        worker.close_idle_connections()
    assert connection.ended_with == ended_with


class Client:
    """A client whose handshake goes as it is said."""

    def __init__(self, handshake: str) -> None:
        self.handshake = handshake

    def do_handshake(self) -> None:
        if self.handshake == "hangs":
            gevent.sleep(60)
        if self.handshake == "fails":
            raise ssl.SSLError(1, "no TLS")


@pytest.mark.parametrize(
    ("client", "served"), [("no TLS", True), (Client("ends"), True), (Client("fails"), False), (Client("hangs"), False)]
)
def test_a_connection_is_served_after_its_handshake_whatever_becomes_of_the_listener_meanwhile(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, client: object, served: bool
) -> None:
    handed_on: list[object] = []
    monkeypatch.setattr(GeventWorker, "handle", lambda _worker, *arguments: handed_on.extend(arguments))
    monkeypatch.setattr(certificate, "HANDSHAKE_SECONDS", 0.01)
    worker.handle("a listener that is closed", client, "address")
    assert handed_on == ([client, client, "address"] if served else [])


def answer(worker: Worker, request: Any) -> object:
    """Return what the worker does with a request of a client that is gone; "closed" when it closes the connection."""
    ours, client = gevent.socket.socketpair()
    client.sendall(b"more, which nobody reads")
    client.close()
    with ours, gevent.Timeout(10):
        try:
            return worker.handle_request("listener", request, ours, "address")
        except StopIteration:
            return "closed"


class Slow:
    """A body that never comes."""

    def read(self, _size: int) -> bytes:
        gevent.sleep(60)
        return b""


class BrokenOff:
    """A body that isn't what was announced."""

    def read(self, size: int) -> bytes:
        assert size <= PIECE, "every connection may hold as many bytes"
        raise ChunkMissingTerminator(b"xx")


@pytest.mark.parametrize(
    ("body", "done"),
    [
        (io.BytesIO(), True),
        (io.BytesIO(b" " * MOST_UNREAD), True),
        (io.BytesIO(b" " * (MOST_UNREAD + 1)), "closed"),
        (io.BytesIO(b" " * MOST_UNREAD * 9), "closed"),
        (Slow(), "closed"),
        (BrokenOff(), "closed"),
    ],
    ids=["nothing", "little", "much", "very much", "what never comes", "what breaks off"],
)
def test_a_connection_is_closed_when_too_much_of_a_body_or_its_end_was_not_read(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, body: Any, done: object
) -> None:
    monkeypatch.setattr(workers, "REQUEST_SECONDS", 0.1)
    monkeypatch.setattr(GeventWorker, "handle_request", lambda *_arguments: True)
    assert answer(worker, Request(body)) == done


def closes(*_arguments: object) -> None:
    """Close the connection, as gunicorn does."""
    raise StopIteration


@pytest.mark.parametrize("handles", [closes, lambda *_arguments: gevent.sleep(60)], ids=["closes", "takes too long"])
def test_a_connection_that_gunicorn_closes_or_whose_client_takes_too_long_is_closed(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, handles: Any
) -> None:
    monkeypatch.setattr(workers, "REQUEST_SECONDS", 0.1)
    monkeypatch.setattr(GeventWorker, "handle_request", handles)
    assert answer(worker, Request()) == "closed"


class Written:
    """A connection, and what was written to it."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []

    def sendall(self, data: bytes) -> None:
        self.writes.append(data)

    def fileno(self) -> int:
        return 7


def test_the_head_and_the_body_of_an_answer_are_one_write(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    def answers(_worker: Worker, _listener: str, _request: Request, sock: Any, _address: str) -> None:
        assert sock.fileno() == 7
        sock.sendall(b"head ")
        sock.sendall(b"body")

    monkeypatch.setattr(gevent, "Timeout", lambda *_arguments: suppress(TimeoutError))  # gevent's own uses greenlets
    monkeypatch.setattr(GeventWorker, "handle_request", answers)
    connection = Written()
    worker.handle_request("listener", Request(), connection, "address")
    assert connection.writes == [b"head body"]


@pytest.mark.no_cover
def test_a_client_that_goes_on_sending_is_closed_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "LINGER_SECONDS", 0.2)
    ours, client = gevent.socket.socketpair()

    def send_for_ever() -> None:
        while True:
            client.sendall(b" " * PIECE)

    sender = gevent.spawn(send_for_ever)
    with ours, client:
        gevent.spawn(linger, ours).get(timeout=10)
        assert client.recv(1) == b"", "it was told at once that there is no more"
        sender.kill()


def test_nothing_more_is_awaited_of_a_client_that_is_given_up(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    def takes_too_long(*_arguments: object) -> None:
        raise TimeoutError

    monkeypatch.setattr(gevent, "Timeout", lambda *_arguments: suppress(TimeoutError))  # gevent's own uses greenlets
    monkeypatch.setattr(GeventWorker, "handle_request", takes_too_long)
    monkeypatch.setattr(workers, "linger", pytest.fail)
    with pytest.raises(StopIteration):
        worker.handle_request("listener", Request(), None, "address")


def test_an_exception_that_ends_a_greenlet_is_logged_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    log_exception(None, OSError, OSError(24, "Too many open files"), None)
    assert "Too many open files" in json.loads(capsys.readouterr().err)["exception"]
