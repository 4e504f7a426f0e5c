"""HTTP/1.1 through the gateway: what a backend and a visitor send each other arrives as it was sent, and at once."""

import contextlib
import hashlib
import http.client
import itertools
import queue
import socket
import threading
import time
from collections.abc import Iterator
from typing import BinaryIO

import pytest

from tests.e2e.site import TIMEOUT, Exchange, Site, serve
from tests.e2e.traffic import Place

MEGABYTE = 1 << 20
BLOCK = hashlib.shake_256(b"a large body").digest(MEGABYTE)
"""A piece of a large body: nothing that could be compressed."""


@pytest.fixture(scope="module")
def site(place: Place) -> Iterator[Site]:
    """Yield a host that all tests of this module share; each has paths of its own."""
    with place.service("site") as service, serve(place, service) as running:
        yield running


@pytest.fixture
def megabytes(pytestconfig: pytest.Config) -> int:
    """Return how large a large body is."""
    return 100 if pytestconfig.getoption("--thorough") else 30


def test_a_head_request_is_answered_with_the_headers_alone(site: Site) -> None:
    methods = []

    def answer(exchange: Exchange) -> None:
        methods.append(exchange.command)
        exchange.start(200, Content_Length=12345, ETag='"1"')

    site.on("/head", answer)
    with site.visitor() as visitor:
        for _ in range(2):
            reply = visitor.ask("HEAD", "/head")
            assert (reply.status, reply.body, reply.headers["Content-Length"]) == (200, b"", "12345")
            assert reply.headers["ETag"] == '"1"'
    assert methods == ["HEAD", "HEAD"]


@pytest.mark.parametrize("status", [204, 304])
def test_an_answer_without_a_body_is_followed_by_the_next_on_the_same_connection(site: Site, status: int) -> None:
    site.on(f"/{status}", lambda exchange: exchange.start(status, ETag='"1"'))
    with site.visitor() as visitor:
        for _ in range(2):
            reply = visitor.ask("GET", f"/{status}", If_None_Match='"1"')
            assert (reply.status, reply.body, reply.headers["ETag"]) == (status, b"", '"1"')
            assert "Transfer-Encoding" not in reply.headers


def test_a_chunked_answer_arrives_piece_by_piece_and_with_its_trailer(site: Site) -> None:
    received = queue.Queue[bytes]()

    def answer(exchange: Exchange) -> None:
        exchange.start(200, Transfer_Encoding="chunked", Trailer="X-Sum")
        for piece in (b"one", b"two"):
            exchange.chunk(piece)
            assert received.get(timeout=TIMEOUT) == piece
        exchange.wfile.write(b"0\r\nX-Sum: 6\r\n\r\n")

    site.on("/chunked", answer)
    with site.visitor() as visitor:
        visitor.sock.sendall(f"GET /chunked HTTP/1.1\r\nHost: {site.host}\r\n\r\n".encode())
        with visitor.sock.makefile("rb") as stream:
            assert b"Transfer-Encoding: chunked\r\n" in lines(stream)
            for piece in (b"one", b"two"):
                assert (stream.readline(), stream.readline()) == (b"3\r\n", piece + b"\r\n")
                received.put(piece)
            assert stream.readline() == b"0\r\n"
            assert lines(stream) == [b"X-Sum: 6\r\n"]


def lines(stream: BinaryIO) -> list[bytes]:
    """Return the lines up to an empty one."""
    return list(itertools.takewhile(lambda line: line != b"\r\n", stream))


def test_events_arrive_one_by_one(site: Site) -> None:
    """Each is sent only when the visitor has received the one before: held back, none would follow."""
    received = queue.Queue[bytes]()

    def answer(exchange: Exchange) -> None:
        exchange.start(200, Content_Type="text/event-stream", Cache_Control="no-cache", Connection="close")
        for number in range(5):
            exchange.wfile.write(b"data: %d\n\n" % number)
            assert received.get(timeout=TIMEOUT) == b"data: %d\n" % number

    site.on("/events", answer)
    with site.visitor() as visitor:
        visitor.send_request("GET", "/events", Accept="text/event-stream")
        response = visitor.getresponse()
        assert response.headers["Content-Type"] == "text/event-stream"
        for number in range(5):
            line = response.readline()
            assert (line, response.readline()) == (b"data: %d\n" % number, b"\n")
            received.put(line)
        assert response.read() == b""


def test_the_backend_gets_a_body_while_it_is_still_being_sent(site: Site) -> None:
    arrived = queue.Queue[bytes]()

    def answer(exchange: Exchange) -> None:
        for piece in exchange.body():
            arrived.put(piece)
        exchange.answer(body=b"all")

    def body() -> Iterator[bytes]:
        for piece in (b"one", b"two"):
            yield piece
            assert arrived.get(timeout=TIMEOUT) == piece

    site.on("/upload-in-pieces", answer)
    assert site.ask("POST", "/upload-in-pieces", body()).body == b"all"


def test_a_large_body_arrives_whole_and_is_not_kept_in_memory(site: Site, megabytes: int) -> None:
    """Up and down. Traefik's memory may grow, by what its garbage collector leaves, but not by a body's size."""
    sent = hashlib.sha256(BLOCK * megabytes).hexdigest()

    def up(exchange: Exchange) -> None:
        seen = hashlib.sha256()
        for piece in exchange.body():
            seen.update(piece)
        exchange.answer(body=seen.hexdigest().encode())

    def down(exchange: Exchange) -> None:
        exchange.start(200, Content_Length=megabytes * MEGABYTE)
        for _ in range(megabytes):
            exchange.wfile.write(BLOCK)

    site.on("/up", up)
    site.on("/down", down)
    before = memory(site)
    with site.visitor() as visitor:
        blocks = itertools.repeat(BLOCK, megabytes)
        visitor.send_request("PUT", "/up", blocks, Content_Length=str(megabytes * MEGABYTE))
        assert visitor.getresponse().read().decode() == sent
        after_upload = memory(site)
        visitor.send_request("GET", "/down")
        response, seen = visitor.getresponse(), hashlib.sha256()
        while piece := response.read(MEGABYTE):
            seen.update(piece)
    assert seen.hexdigest() == sent
    assert max(after_upload, memory(site)) - before < megabytes * MEGABYTE / 2


def memory(site: Site) -> int:
    """Return the bytes that both Traefiks take."""
    return sum(traefik.pss_bytes() for traefik in site.place.gateway.traefiks)


def test_headers_of_60_kib_arrive_and_of_more_than_64_kib_are_refused_with_431(site: Site) -> None:
    site.on("/headers", lambda exchange: exchange.answer(body=str(len(exchange.headers["X-Long"])).encode()))
    assert site.ask("GET", "/headers", X_Long="x" * 60 * 1024).body == str(60 * 1024).encode()
    with site.visitor() as visitor:
        head = f"GET /headers HTTP/1.1\r\nHost: {site.host}\r\nX-Long: {'x' * 72 * 1024}\r\n\r\n"
        visitor.sock.sendall(head.encode())
        assert answer_on(visitor.sock)[0] == 431


def test_a_backend_that_expects_the_body_lets_the_visitor_send_it(site: Site) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        exchange.answer(body=b"".join(exchange.body()))

    site.on("/continue", answer)
    with site.visitor() as visitor:
        visitor.sock.sendall(expecting(site, "/continue"))
        assert visitor.sock.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        visitor.sock.sendall(b"hello")
        assert answer_on(visitor.sock) == (200, b"hello")


def test_a_backend_that_refuses_a_body_spares_the_visitor_from_sending_it(site: Site) -> None:
    site.on("/refused", lambda exchange: exchange.answer(413, b"too large", Connection="close"))
    with site.visitor() as visitor:
        visitor.sock.sendall(expecting(site, "/refused"))
        assert visitor.sock.recv(1000).startswith(b"HTTP/1.1 413 ")


def expecting(site: Site, path: str) -> bytes:
    lines = (f"PUT {path} HTTP/1.1", f"Host: {site.host}", "Content-Length: 5", "Expect: 100-continue", "", "")
    return "\r\n".join(lines).encode()


def test_connections_are_kept_open_on_both_sides(site: Site) -> None:
    connections = set()

    def answer(exchange: Exchange) -> None:
        connections.add(exchange.client_address)
        exchange.answer()

    site.on("/kept", answer)
    with site.visitor() as visitor:
        own = visitor.sock
        for _ in range(20):
            assert visitor.ask("GET", "/kept").status == 200
        assert visitor.sock is own
    assert len(connections) == 1


def test_slow_visitors_are_not_cut_off_and_hold_up_nobody(site: Site, pytestconfig: pytest.Config) -> None:
    """Twenty who send their headers a byte at a time, twenty their body, and twenty who read nothing at first."""
    pauses, pause = (12, 1.0) if pytestconfig.getoption("--thorough") else (4, 0.25)
    large = BLOCK * 8
    site.on("/slow", lambda exchange: exchange.answer(body=b"".join(exchange.body())))
    site.on("/large", lambda exchange: exchange.answer(body=large))
    site.on("/fast", Exchange.answer)
    with contextlib.ExitStack() as exits:

        def visitors(*lines: str) -> list[socket.socket]:
            opened = [exits.enter_context(site.visitor()).sock for _ in range(20)]
            for each in opened:
                each.sendall("\r\n".join(lines).encode())
            return opened

        heads = visitors("GET /slow HTTP/1.1", f"Host: {site.host}", "X-Slow: ")
        bodies = visitors("PUT /slow HTTP/1.1", f"Host: {site.host}", f"Content-Length: {pauses}", "", "")
        readers = visitors("GET /large HTTP/1.1", f"Host: {site.host}", "", "")
        for _ in range(pauses):
            for each in heads + bodies:
                each.sendall(b"x")
            assert [site.ask("GET", "/fast").status for _ in range(10)] == [200] * 10
            time.sleep(pause)
        for each in heads:
            each.sendall(b"\r\n\r\n")
        for some, body in ((heads, b""), (bodies, b"x" * pauses), (readers, large)):
            assert [answer_on(each) == (200, body) for each in some] == [True] * 20


def answer_on(connection: socket.socket) -> tuple[int, bytes]:
    """Return the status and the body of the answer to what has been sent by hand."""
    with http.client.HTTPResponse(connection) as response:
        response.begin()
        return response.status, response.read()


@pytest.mark.parametrize("begun", [True, False], ids=["in the middle of the answer", "before it"])
def test_a_backend_notices_that_its_visitor_has_left(site: Site, begun: bool) -> None:
    asked, left = threading.Event(), queue.Queue[bool]()

    def answer(exchange: Exchange) -> None:
        if begun:
            exchange.start(200, Transfer_Encoding="chunked")
            exchange.chunk(b"first")
        asked.set()
        left.put(exchange.visitor_has_left())

    site.on("/left", answer)
    with site.visitor() as visitor:
        visitor.send_request("GET", "/left")
        assert asked.wait(TIMEOUT)
        if begun:
            assert visitor.getresponse().read(5) == b"first"
    assert left.get(timeout=TIMEOUT)


def test_a_backend_notices_that_its_visitor_has_left_in_the_middle_of_a_body(site: Site) -> None:
    began, ended = threading.Event(), queue.Queue[int]()

    def answer(exchange: Exchange) -> None:
        size = 0
        for piece in exchange.body():
            began.set()
            size += len(piece)
        ended.put(size)

    site.on("/left-while-sending", answer)
    head = f"PUT /left-while-sending HTTP/1.1\r\nHost: {site.host}\r\nContent-Length: 9\r\n\r\n"
    with site.visitor() as visitor:
        visitor.sock.sendall(head.encode() + b"xx")
        assert began.wait(TIMEOUT)
    assert ended.get(timeout=TIMEOUT) == 2


def test_a_backend_that_closes_without_an_answer_is_a_502(site: Site) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.close_connection = True

    site.on("/closes", answer)
    reply = site.ask("POST", "/closes", b"x")
    assert (reply.status, reply.body) == (502, b"Bad Gateway")


@pytest.mark.parametrize("chunked", [False, True])
def test_an_answer_that_breaks_off_is_seen_to_be_incomplete(site: Site, chunked: bool) -> None:
    def answer(exchange: Exchange) -> None:
        if chunked:
            exchange.start(200, Transfer_Encoding="chunked")
            exchange.chunk(b"half")
        else:
            exchange.start(200, Content_Length=8)
            exchange.wfile.write(b"half")
        exchange.close_connection = True

    site.on(f"/breaks-off-{chunked}", answer)
    # Either a part of it has arrived, or nothing has.
    with pytest.raises((http.client.IncompleteRead, http.client.RemoteDisconnected)):
        site.ask("GET", f"/breaks-off-{chunked}")


def test_a_backend_that_is_down_is_a_502_and_comes_back(place: Place) -> None:
    with place.service("down") as service:
        host = place.host("down")
        answer = place.until("a 502", lambda answer: answer.status == 502, host)
        assert answer.body == "Bad Gateway"
        with serve(place, service):
            assert place.gateway.ask(host).status == 200
        place.until("a 502", lambda answer: answer.status == 502, host)
