"""The hook as it is served: gunicorn with the committed configuration, over real sockets."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests

from tests.metacontroller import body, service, sync_request

OPTED_IN = body(sync_request(service({"ingress/http": "true"})))
GUNICORN = [sys.executable, "-m", "gunicorn", "--config", "python:hooks.gunicorn_conf", "hooks.app:create_app()"]
REPOSITORY = Path(__file__).parent.parent


@dataclass
class Server:
    process: subprocess.Popen[bytes]
    port: int
    home: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer_to(self, sent: bytes) -> bytes:
        """Return what comes back for the raw bytes `sent`, until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            connection.sendall(sent)
            received = b""
            while chunk := connection.recv(65536):
                received += chunk
            return received


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """Yield the running hook, with a HOME of its own; it is stopped, and must stop, at the end."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    log = (tmp_path / "log").open("wb")
    process = subprocess.Popen(
        [*GUNICORN, "--bind", f"127.0.0.1:{port}"],
        cwd=REPOSITORY,
        env={**os.environ, "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)},
        stdout=log,
        stderr=log,
    )
    started = Server(process, port, tmp_path)
    try:
        until_ready(started)
        yield started
    finally:
        process.terminate()
        process.wait(30)
        log.close()


def until_ready(server: Server) -> None:
    for _ in range(300):
        try:
            requests.get(server.url + "/readyz", timeout=5).raise_for_status()
        except requests.ConnectionError:
            assert server.process.poll() is None, (server.home / "log").read_text()
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the hook did not become ready in 30 s")


def test_a_connection_serves_many_requests(server: Server) -> None:
    """Metacontroller's Go client keeps connections open."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.connect()
    opened = connection.sock
    for _ in range(3):
        connection.request("POST", "/sync", OPTED_IN)
        with connection.getresponse() as response:
            assert response.status == 200
            assert json.loads(response.read())["attachments"]
        assert connection.sock is opened
    connection.close()


@pytest.mark.parametrize(
    ("reason", "sent"),
    [
        ("a chunk without a size", b"Transfer-Encoding: chunked\r\n\r\nZZ\r\nxx\r\n0\r\n\r\n"),
        ("a chunk of negative size", b"Transfer-Encoding: chunked\r\n\r\n-5\r\nxx\r\n0\r\n\r\n"),
        ("a length that is none", b"Content-Length: x\r\n\r\n"),
        ("a negative length", b"Content-Length: -1\r\n\r\n"),
        ("two lengths", b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nx"),
        ("both a length and chunks", b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("an encoding that is none", b"Transfer-Encoding: nonsense\r\n\r\n"),
        ("a header without a name", b": x\r\n\r\n"),
        ("no body at all", b"\r\n"),
    ],
)
def test_bytes_that_are_no_request_are_never_answered_500_for_what_is_in_them(
    server: Server, reason: str, sent: bytes
) -> None:
    answer = server.answer_to(b"POST /sync HTTP/1.1\r\nHost: hook\r\nConnection: close\r\n" + sent)
    status = int(answer.split(b" ", 2)[1])
    assert 400 <= status < 500 or status == 501, (reason, answer)
    until_ready(server)


def test_no_header_can_move_the_routes(server: Server) -> None:
    """Of a proxy on loopback gunicorn would take SCRIPT_NAME from the headers, and answer 500 when it doesn't fit."""
    answer = server.answer_to(b"GET /healthz HTTP/1.1\r\nHost: hook\r\nConnection: close\r\nSCRIPT_NAME: /x\r\n\r\n")
    assert int(answer.split(b" ", 2)[1]) < 500


def test_a_large_body_is_refused_without_being_read_whole(server: Server) -> None:
    answer = server.answer_to(
        b"POST /sync HTTP/1.1\r\nHost: hook\r\nConnection: close\r\nContent-Length: 999999999\r\n\r\nx"
    )
    assert answer.startswith(b"HTTP/1.1 413 ")


def test_a_large_body_in_chunks_is_refused(server: Server) -> None:
    mebibyte = b" " * 1024 * 1024
    response = requests.post(server.url + "/sync", data=iter([mebibyte] * 9), timeout=30)
    assert response.status_code == 413


def test_it_stops_gracefully_an_answer_under_way_is_still_given(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(f"POST /sync HTTP/1.1\r\nHost: hook\r\nContent-Length: {len(OPTED_IN)}\r\n\r\n".encode())
        connection.sendall(OPTED_IN[:10])
        time.sleep(0.3)  # until the worker reads the body
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        connection.sendall(OPTED_IN[10:])
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")
    assert server.process.wait(20) == 0


def test_it_leaves_no_socket_in_home(server: Server) -> None:
    assert [path.name for path in server.home.rglob("*")] == ["log"]


def test_with_wrong_settings_it_does_not_start_and_says_why_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "settings.yaml").write_text("hots: example.org\n")
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
    assert f"settings file {tmp_path / 'settings.yaml'}: " in ended.stderr
    assert "hots is not a setting; did you mean host?" in ended.stderr
    assert "Traceback" not in ended.stderr
