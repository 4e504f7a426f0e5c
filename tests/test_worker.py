"""The worker: what it adds to gunicorn's own. tests/test_server.py shows that it serves."""

import json
from typing import Any

import gevent
import pytest
from gunicorn.workers.ggevent import GeventWorker

from hooks.worker import BODY_SECONDS, Worker, log_exception


class Config:
    keepalive = 60


class Socket:
    """A socket that notes the timeouts it is given."""

    def __init__(self) -> None:
        self.timeouts: list[float | None] = []

    def settimeout(self, seconds: float | None) -> None:
        self.timeouts.append(seconds)


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Worker:
    """Return a worker whose `run` returns when it is told to stop and no connection is left, as gunicorn's does."""

    def run(self: Any) -> None:
        while self.alive or self.connections:
            gevent.sleep(0.01)

    monkeypatch.setattr(GeventWorker, "run", run)
    made = object.__new__(Worker)
    made.cfg, made.alive, made.connections = Config(), True, 0
    return made


def test_when_it_stops_it_ends_every_wait_for_another_request(worker: Worker) -> None:
    def connection() -> None:
        worker.connections += 1
        with worker.timeout_ctx():
            gevent.sleep(60)
        worker.connections -= 1

    def serve() -> None:
        running = gevent.spawn(worker.run)
        gevent.sleep(0.05)
        for _ in range(3):
            gevent.spawn(connection)
        gevent.sleep(0.2)
        assert worker.connections == 3, "nothing ends while it serves"
        worker.alive = False
        gevent.spawn(connection)  # one that comes late
        gevent.sleep(0)
        running.get(timeout=5)

    gevent.spawn(serve).get(timeout=10)
    assert worker.connections == 0


def test_a_client_that_hangs_during_a_request_is_given_up(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GeventWorker, "handle_request", lambda *_arguments: "answered")
    sock = Socket()
    assert worker.handle_request("listener", "request", sock, "address") == "answered"
    assert sock.timeouts == [BODY_SECONDS, None]


def test_an_exception_that_ends_a_greenlet_is_logged_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    log_exception(None, OSError, OSError(24, "Too many open files"), None)
    assert "Too many open files" in json.loads(capsys.readouterr().err)["exception"]
