"""The 404 page as it is served: gunicorn with the committed configuration, over real sockets."""

import contextlib
import re
from collections.abc import Iterator
from itertools import repeat

import pytest
import requests

from devcluster.gateway import answers
from tests.hooks.test_server import Server, serving
from tests.manifests.objects import container

MEBIBYTE = b" " * 1024 * 1024
_, *OPTIONS, APPLICATION = container("gateway", "not-found")["command"]
"""The Deployment's command. (Below, it gets other ports than its own.)"""


def serving_pages() -> contextlib.AbstractContextManager[Server]:
    options = [*OPTIONS, "--bind=127.0.0.1:PROBES", APPLICATION.replace("()", "(PROBES)")]
    return serving(*options, is_ready=lambda server: answers(server.probes, "/healthz"))


@pytest.fixture(scope="module")
def pages() -> Iterator[Server]:
    with serving_pages() as running:
        yield running


def probed(pages: Server, path: str) -> str:
    return requests.get(f"http://127.0.0.1:{pages.probes}{path}", timeout=60).text


def resident(pages: Server) -> float:
    """Return how many MiB the process takes."""
    found = re.findall(r"^process_resident_memory_bytes (\S+)$", probed(pages, "/metrics"), re.MULTILINE)
    return float(found[0]) / 1024**2


@pytest.mark.parametrize("target", ["/cart?a=b", "http://other.example/cart?a=b", "/cart#b"])
def test_a_page_is_served_without_what_may_be_a_secret(pages: Server, target: str) -> None:
    sent = f"GET {target} HTTP/1.1\r\nHost: shop.example.com\r\nAccept: text/html\r\nConnection: close\r\n\r\n"
    answered = pages.answer_to(sent.encode())
    assert answered.startswith(b"HTTP/1.1 404 Not Found\r\nServer: gunicorn\r\n"), "without a version"
    assert b"<code>shop.example.com/cart</code>" in answered


@pytest.mark.parametrize("path", ["/healthz", "/metrics", "//metrics", "/%6detrics"])
def test_no_request_to_the_port_of_the_pages_reaches_the_probes(pages: Server, path: str) -> None:
    other = f"127.0.0.1:{pages.probes}"
    url = f"http://{other}{path}"
    for target, host in ((path, other), (url, other), (path, "localhost"), (url, "a")):
        sent = f"GET {target} HTTP/1.1\r\nHost: {host}\r\nX-Forwarded-Port: 8081\r\nConnection: close\r\n\r\n"
        assert pages.answer_to(sent.encode()).startswith(b"HTTP/1.1 404 Not Found\r\n")


def test_a_hundred_mebibytes_are_answered_and_not_kept(pages: Server) -> None:
    before = resident(pages)
    for sent in (iter(repeat(MEBIBYTE, 100)), MEBIBYTE * 100):
        assert requests.post(f"{pages.url}/upload", data=sent, timeout=60).status_code == 404
    assert resident(pages) < before + 10


def test_visitors_that_hang_do_not_hold_up_the_probes(pages: Server) -> None:
    with contextlib.ExitStack() as exits:
        for _ in range(500):
            exits.enter_context(pages.connect()).sendall(b"GET / HTTP/1.1\r\nHo")
        assert probed(pages, "/healthz") == "ok\n"


def test_nothing_is_logged_for_a_visitor_and_it_stops() -> None:
    with serving_pages() as pages:
        assert requests.get(f"{pages.url}/cart", timeout=60).status_code == 404
        pages.process.terminate()
        pages.check_ended()
        lines = pages.log_lines()
    assert "Handling signal: term" in {line["event"] for line in lines}
    assert not [line for line in lines if line["level"] != "info" or "cart" in str(line)]
