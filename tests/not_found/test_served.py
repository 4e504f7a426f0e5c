"""The 404 page as it is served: gunicorn with the committed configuration, over real sockets."""

import contextlib
import re
from collections.abc import Iterator
from itertools import repeat
from typing import NamedTuple

import pytest
import requests

from devcluster.gateway import answers
from tests.hooks.test_server import Server, free_port, serving
from tests.manifests.objects import container

MEBIBYTE = b" " * 1024 * 1024
_, *OPTIONS, APPLICATION = container("gateway", "not-found")["command"]
"""The Deployment's command. (Below, it gets other ports than its own.)"""


class Pages(NamedTuple):
    """A program that serves the 404 page."""

    server: Server
    probes: str
    """The URL of its other port."""


@contextlib.contextmanager
def serving_pages() -> Iterator[Pages]:
    """Start the 404 page; it ends with the context."""
    port = free_port()
    options = [*OPTIONS, f"--bind=127.0.0.1:{port}", APPLICATION.replace("()", f"({port})")]
    with serving(*options, is_ready=lambda _: answers(port, "/healthz")) as server:
        yield Pages(server, f"http://127.0.0.1:{port}")


@pytest.fixture(scope="module")
def pages() -> Iterator[Pages]:
    """Yield a 404 page that the tests share."""
    with serving_pages() as running:
        yield running


def resident(pages: Pages) -> float:
    """Return how many MiB the process takes."""
    metrics = requests.get(f"{pages.probes}/metrics", timeout=60).text
    return float(re.findall(r"^process_resident_memory_bytes (\S+)$", metrics, re.MULTILINE)[0]) / 1024**2


@pytest.mark.parametrize("target", ["/cart?a=b", "http://other.example/cart?a=b", "/cart#b"])
def test_a_page_is_served_without_what_may_be_a_secret(pages: Pages, target: str) -> None:
    sent = f"GET {target} HTTP/1.1\r\nHost: shop.example.com\r\nAccept: text/html\r\nConnection: close\r\n\r\n"
    answered = pages.server.answer_to(sent.encode())
    assert answered.startswith(b"HTTP/1.1 404 Not Found\r\nServer: gunicorn\r\n"), "without a version"
    assert b"<code>shop.example.com/cart</code>" in answered


@pytest.mark.parametrize("path", ["/healthz", "/metrics", "//metrics", "/%6detrics"])
def test_no_request_to_the_port_of_the_pages_reaches_the_probes(pages: Pages, path: str) -> None:
    other = pages.probes.removeprefix("http://")
    for target, host in ((path, other), (pages.probes + path, other), (path, "localhost"), (pages.probes + path, "a")):
        sent = f"GET {target} HTTP/1.1\r\nHost: {host}\r\nX-Forwarded-Port: 8081\r\nConnection: close\r\n\r\n"
        assert pages.server.answer_to(sent.encode()).startswith(b"HTTP/1.1 404 Not Found\r\n")


def test_a_hundred_mebibytes_are_answered_and_not_kept(pages: Pages) -> None:
    before = resident(pages)
    for sent in (iter(repeat(MEBIBYTE, 100)), MEBIBYTE * 100):
        assert requests.post(f"{pages.server.url}/upload", data=sent, timeout=60).status_code == 404
    assert resident(pages) < before + 10


def test_visitors_that_hang_do_not_hold_up_the_probes(pages: Pages) -> None:
    with contextlib.ExitStack() as exits:
        for _ in range(500):
            exits.enter_context(pages.server.connect()).sendall(b"GET / HTTP/1.1\r\nHo")
        assert requests.get(f"{pages.probes}/healthz", timeout=60).text == "ok\n"


def test_nothing_is_logged_for_a_visitor_and_it_stops() -> None:
    with serving_pages() as pages:
        assert requests.get(f"{pages.server.url}/cart", timeout=60).status_code == 404
        pages.server.process.terminate()
        pages.server.check_ended()
        lines = pages.server.log_lines()
    assert "started" in {line["event"] for line in lines}
    assert not [line for line in lines if line["level"] != "info" or "cart" in str(line)]
