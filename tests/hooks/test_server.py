"""The hook in production form: gunicorn with the committed configuration, over real sockets."""

import contextlib
import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
import requests

from devcluster.api import wait_for
from devcluster.build import REPOSITORY
from devcluster.errors import ProcessDied
from devcluster.gateway import answers
from devcluster.processes import Process, Processes
from devcluster.sync_requests import body, service, sync_request

OPTED_IN = body(sync_request(service({"ingress/http": "true"})))
HOOK = ("--config", "python:hooks.gunicorn_conf", "hooks.app:create_app()")


class Server(NamedTuple):
    """A server process on loopback."""

    process: Process
    port: int
    probes: int
    """A second port, which replaces PROBES in its options."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def answer_to(self, sent: bytes) -> bytes:
        """Return the response to these raw bytes, until the server closes the connection."""
        with self.connect() as connection, connection.makefile("rb") as received:
            connection.sendall(sent)
            return received.read()

    def log_lines(self) -> list[dict[str, str]]:
        """Return all log lines so far. Raises ValueError if one isn't JSON."""
        return [json.loads(line) for line in self.process.log_path.read_text().splitlines()]

    def check_ended(self) -> None:
        """Raise AssertionError unless the server exits with status 0, and its log has no bug and is all JSON."""
        wait_for(lambda: not self.process.running, 60, what="its end")
        with pytest.raises(ProcessDied, match="ended with status 0"):
            self.process.check_alive()
        assert "bug" not in [line["event"] for line in self.log_lines()]


def is_ready(server: Server) -> bool:
    return answers(server.port, "/readyz")


@contextlib.contextmanager
def serving(*options: str, is_ready: Callable[[Server], object] = is_ready) -> Iterator[Server]:
    """Start gunicorn on a free port, and yield it when ready; it is stopped at the end."""
    with Processes() as processes:
        port, probes = processes.port(), processes.port()
        own = [option.replace("PROBES", str(probes)) for option in options]
        command = [sys.executable, "-m", "gunicorn", f"--bind=127.0.0.1:{port}", "--reuse-port", *own]
        server = Server(processes.add("server", command, cwd=REPOSITORY), port, probes)
        server.process.start()
        server.process.wait_ready(lambda: is_ready(server))
        yield server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(*HOOK) as running:
        yield running


def check_answers(server: Server) -> None:
    """Raise AssertionError unless the hook repeatedly answers Metacontroller."""
    for _ in range(20):
        assert requests.post(f"{server.url}/sync", data=OPTED_IN, timeout=60).status_code == 200


def test_ambiguous_requests_are_refused_or_harmless(server: Server) -> None:
    def status(head: bytes) -> int:
        return int(server.answer_to(head + b"Host: hook\r\nConnection: close\r\n\r\nx").split(b" ", 2)[1])

    # By default, gunicorn trusts SCRIPT_NAME from loopback clients, and answers 500 if the path is outside it.
    assert status(b"GET /healthz HTTP/1.1\r\nSCRIPT_NAME: /x\r\n") == 200
    assert status(b"POST /sync HTTP/1.1\r\nContent-Length: 999999999\r\n") == 413, "it isn't read whole"


def test_a_large_body_waits_for_a_slow_one_no_longer_than_metacontroller_does(server: Server) -> None:
    head = b"POST /sync HTTP/1.1\r\nHost: hook\r\nContent-Length: 100000\r\n\r\n"
    with server.connect() as slow, server.connect() as slower, server.connect() as waiting:
        for connection in (slow, slower, waiting):
            connection.sendall(head)
        check_answers(server)
        # The server may accept the connections in another order.
        assert {connection.recv(12) for connection in (slow, slower, waiting)} == {b"HTTP/1.1 408", b"HTTP/1.1 429"}


@pytest.mark.thorough
def test_hundreds_of_hanging_connections_hold_up_nobody_else(server: Server) -> None:
    head = b"POST /sync HTTP/1.1\r\nHost: hook\r\nContent-Length: %d\r\n\r\n"
    hang = (b"", head % 100 + OPTED_IN[:10], head % 8_000_000 + b" " * 100_000)
    with contextlib.ExitStack() as exits:
        for number in range(850):
            connection = exits.enter_context(server.connect())
            connection.sendall(hang[2 if number > 830 else number % 2])
        check_answers(server)


BUSY = {
    "a body without an end that nobody reads": (
        b"POST /sync HTTP/1.1\r\nHost: hook\r\nContent-Length: 99999999999\r\n\r\n",
        b" " * 16384,
    ),
    "one request after the other, without waiting": (b"", b"GET /healthz HTTP/1.1\r\nHost: hook\r\n\r\n" * 500),
}
"""What a client sends first, and what it then sends repeatedly, as fast as it can."""


@pytest.mark.thorough
@pytest.mark.parametrize(("first", "then"), BUSY.values(), ids=BUSY.keys())
def test_a_client_that_never_stops_sending_holds_up_nobody_else(server: Server, first: bytes, then: bytes) -> None:
    is_over = threading.Event()

    def take(connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while connection.recv(1 << 20):
                pass

    def send() -> None:
        while not is_over.is_set():
            with contextlib.suppress(OSError), server.connect() as connection:
                threading.Thread(target=take, args=(connection,), daemon=True).start()
                connection.sendall(first)
                while not is_over.wait(0):
                    connection.sendall(then)

    client = threading.Thread(target=send)
    client.start()
    try:
        check_answers(server)
        assert client.is_alive(), "it was still sending"
    finally:
        is_over.set()
        client.join()
