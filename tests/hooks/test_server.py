"""The hook as it is served: gunicorn with the committed configuration, over real sockets."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests

from devcluster.build import REPOSITORY
from devcluster.sync_requests import body, service, sync_request

OPTED_IN = body(sync_request(service({"ingress/http": "true"})))
GUNICORN = [sys.executable, "-m", "gunicorn", "--config", "python:hooks.gunicorn_conf", "hooks.app:create_app()"]
HEAD = f"POST /sync HTTP/1.1\r\nHost: hook\r\nContent-Length: {len(OPTED_IN)}\r\n\r\n".encode()
EXPECTING = HEAD.replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n")
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@dataclass
class Server:
    process: subprocess.Popen[bytes]
    port: int
    home: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def connect(self) -> socket.socket:
        """Return a new connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def answer_to(self, sent: bytes) -> bytes:
        """Return what comes back for the raw bytes `sent`, until the server closes."""
        with self.connect() as connection:
            connection.sendall(sent)
            received = b""
            while chunk := connection.recv(65536):
                received += chunk
            return received

    def log_lines(self) -> list[dict[str, object]]:
        """Return all that the process has printed so far."""
        return [json.loads(line) for line in (self.home / "log").read_text().splitlines()]


def free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def serving(home: Path, host: str = "127.0.0.1") -> Iterator[Server]:
    """Start the hook, with a HOME of its own; it is stopped, and must stop, at the end."""
    port = free_port()
    with started([*GUNICORN, "--bind", f"{host}:{port}"], home, port) as server:
        until_ready(server)
        yield server


@contextlib.contextmanager
def started(command: list[str], home: Path, port: int) -> Iterator[Server]:
    """Start a program that is to serve on a port; it is stopped, and must stop, at the end."""
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=REPOSITORY,
            env={**os.environ, "HOME": str(home), "XDG_RUNTIME_DIR": str(home)},
            stdout=log,
            stderr=log,
        )
        try:
            yield Server(process, port, home)
        finally:
            process.terminate()
            process.wait(30)


def until_ready(server: Server, probe: str = "", get: Callable[..., requests.Response] = requests.get) -> None:
    """Return when it answers; raises AssertionError when it ends, or after 300 attempts, each of a minute at most."""
    for _ in range(300):
        try:
            get(probe or f"{server.url}/readyz", timeout=60).raise_for_status()
        except requests.ConnectionError:
            assert server.process.poll() is None, (server.home / "log").read_text()
            time.sleep(0.1)
        else:
            return
    raise AssertionError("it did not become ready in 300 attempts")


def until_closed(server: Server) -> None:
    """Return when it takes no new connection: it stops."""
    with contextlib.suppress(ConnectionRefusedError):
        for _ in range(300):
            server.connect().close()
            time.sleep(0.1)
        raise AssertionError("it still took connections after 30 s")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield a running hook that the tests share; none of them may stop it."""
    with serving(tmp_path_factory.mktemp("shared")) as running:
        yield running


def test_what_others_would_take_for_more_is_refused_or_changes_nothing(server: Server) -> None:
    def status(head: bytes) -> int:
        return int(server.answer_to(head + b"Host: hook\r\nConnection: close\r\n\r\nx").split(b" ", 2)[1])

    # By default gunicorn takes SCRIPT_NAME from clients on loopback, and answers 500 when the path is outside.
    assert status(b"GET /healthz HTTP/1.1\r\nSCRIPT_NAME: /x\r\n") == 200
    assert status(b"POST /sync HTTP/1.1\r\nContent-Length: 999999999\r\n") == 413, "it isn't read whole"


@pytest.mark.thorough
def test_hundreds_of_connections_that_hang_hold_up_nobody_else(server: Server) -> None:
    hang = (
        b"",
        HEAD + OPTED_IN[:10],
        b"POST /sync HTTP/1.1\r\nHost: hook\r\nContent-Length: 8000000\r\n\r\n" + b" " * 100_000,
    )
    with contextlib.ExitStack() as exits:
        for number in range(850):
            connection = exits.enter_context(server.connect())
            connection.sendall(hang[2 if number > 830 else number % 2])
        for _ in range(20):
            assert requests.post(server.url + "/sync", data=OPTED_IN, timeout=60).status_code == 200


BUSY = {
    "a body without an end that nobody reads": (
        b"POST /sync HTTP/1.1\r\nHost: hook\r\nContent-Length: 99999999999\r\n\r\n",
        b" " * 16384,
    ),
    "one request after the other, without waiting": (b"", b"GET /healthz HTTP/1.1\r\nHost: hook\r\n\r\n" * 500),
}
"""What a client sends once, and what it then goes on sending as fast as it can."""

SEND_FOR_EVER = """
import contextlib, socket, sys, threading
from devcluster.build import REPOSITORY
port, first, then = int(sys.argv[1]), bytes.fromhex(sys.argv[2]), bytes.fromhex(sys.argv[3])
while True:
    with socket.create_connection(("127.0.0.1", port)) as connection, contextlib.suppress(OSError):
        def take():
            with contextlib.suppress(OSError):
                while connection.recv(1 << 20): pass
        threading.Thread(target=take, daemon=True).start()
        connection.sendall(first)
        while True:
            connection.sendall(then)
"""


@pytest.mark.thorough
@pytest.mark.parametrize(("first", "then"), BUSY.values(), ids=BUSY.keys())
def test_a_client_that_never_stops_sending_holds_up_nobody_else(server: Server, first: bytes, then: bytes) -> None:
    client = subprocess.Popen([sys.executable, "-c", SEND_FOR_EVER, str(server.port), first.hex(), then.hex()])
    try:
        time.sleep(1)
        for _ in range(20):
            assert requests.post(server.url + "/sync", data=OPTED_IN, timeout=60).status_code == 200
        assert client.poll() is None, "it was still sending"
    finally:
        client.kill()
        client.wait()


def test_ctrl_c_ends_it_without_a_traceback(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        events = [str(line["event"]) for line in server.log_lines()]
        (worker,) = [int(event.rpartition(" ")[2]) for event in events if event.startswith("Booting worker")]
        for process in (worker, server.process.pid):  # a terminal tells both
            os.kill(process, signal.SIGINT)
        assert server.process.wait(30) == 0
    assert server.log_lines(), "all of it is JSON"


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="This machine has no IPv6, so [::] was not tested.")
def test_on_the_address_that_it_binds_it_serves_ipv6_and_ipv4(tmp_path: Path) -> None:
    with serving(tmp_path, host="[::]") as server:
        for address in ("127.0.0.1", "[::1]"):
            assert requests.get(f"http://{address}:{server.port}/healthz", timeout=60).text == "ok\n"


def test_with_wrong_settings_it_does_not_start_and_says_why_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "settings.yaml").write_text("defaults:\n  hots: example.org\n")
    ended = subprocess.run(
        [*GUNICORN, "--bind", "127.0.0.1:0"],
        cwd=REPOSITORY,
        env={**os.environ, "INGRESS_MANAGER_SETTINGS": str(tmp_path / "settings.yaml")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 2
    (told,) = [line for line in map(json.loads, ended.stderr.splitlines()) if line["level"] == "error"]
    assert told["sentence"] == (
        f"settings file {tmp_path / 'settings.yaml'}: line 2: defaults.hots is not a setting; did you mean host?"
    )
    assert "Traceback" not in ended.stderr
