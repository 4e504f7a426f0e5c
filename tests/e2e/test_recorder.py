"""The backend of the gateway's tests sees what is wrong: else they could not fail."""

import contextlib
import socket
from collections.abc import Iterator

import pytest

from devcluster.api import Object
from tests.e2e.recorder import Arrived, Recorder, Unreadable
from tests.hooks.test_server import free_port

LOOPBACK = "127.0.0.1"
HEAD = b"POST /a HTTP/1.1\r\nHost: b\r\n"


@pytest.fixture
def service() -> Object:
    return {"metadata": {"name": "shop"}, "spec": {"clusterIP": LOOPBACK, "ports": [{"port": free_port()}]}}


@pytest.fixture
def recorder(service: Object) -> Iterator[Recorder]:
    with Recorder([service]) as running:
        yield running


def send(service: Object, sent: bytes) -> bytes:
    """Send bytes and nothing more, and return what comes back."""
    address = (LOOPBACK, service["spec"]["ports"][0]["port"])
    with contextlib.closing(socket.create_connection(address, timeout=10)) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
        return received


def test_requests_are_recorded_as_they_are(recorder: Recorder, service: Object) -> None:
    [port] = [each["port"] for each in service["spec"]["ports"]]
    with_chunks = b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-T: e\r\n\r\n"
    answered = send(service, HEAD + b"x: y\r\nContent-Length: 2\r\n\r\nab" + HEAD + with_chunks + HEAD + b"\r\n")
    assert answered.count(f"Answered-By: shop:{port}\r\n".encode()) == 3
    host = ("Host", "b")
    assert recorder.taken() == [
        Arrived("shop", port, "POST", "/a", (host, ("x", "y"), ("Content-Length", "2")), b"ab"),
        Arrived("shop", port, "POST", "/a", (host, ("Transfer-Encoding", "chunked")), b"abc", trailers=(("X-T", "e"),)),
        Arrived("shop", port, "POST", "/a", (host,), b""),
    ]
    assert recorder.taken() == []


@pytest.mark.parametrize("body", [b"Content-Length: 3\r\n\r\nab", b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"])
def test_a_body_that_is_cut_off_is_recorded_as_such(recorder: Recorder, service: Object, body: bytes) -> None:
    assert send(service, HEAD + body) == b""
    [arrived] = recorder.taken()
    assert isinstance(arrived, Arrived)
    assert (arrived.body, arrived.whole) == (b"ab", False)


@pytest.mark.parametrize(
    ("reason", "sent"),
    [
        ("a length and chunks", HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("two lengths", HEAD + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n"),
        ("a length with a sign", HEAD + b"Content-Length: +1\r\n\r\na"),
        ("an unknown encoding", HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
        ("a chunk of another size", HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n"),
        ("an extension of a chunk", HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;a=b\r\na\r\n0\r\n\r\n"),
        ("a bare LF", HEAD + b"a: b\nc: d\r\n\r\n"),
        ("a bare CR", HEAD + b"a: b\rc: d\r\n\r\n"),
        ("a NUL", HEAD + b"a: b\0\r\n\r\n"),
        ("a header that goes on in the next line", HEAD + b"a: b\r\n c\r\n\r\n"),
        ("a space before the colon", HEAD + b"a : b\r\n\r\n"),
        ("a space in the target", b"GET /a /b HTTP/1.1\r\nHost: b\r\n\r\n"),
        ("half of a head", HEAD),
        ("a request that nobody sent, behind another", HEAD + b"Content-Length: 1\r\n\r\nabc\r\n\r\n"),
        ("another protocol", HEAD + b"Upgrade: h2c\r\nHTTP2-Settings: a\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ],
)
def test_what_can_be_read_in_two_ways_is_recorded_as_unreadable(
    recorder: Recorder, service: Object, reason: str, sent: bytes
) -> None:
    send(service, sent)
    assert isinstance(recorder.taken()[-1], Unreadable), reason
