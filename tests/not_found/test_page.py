"""The 404 page: its content for each client, and its resistance to hostile requests."""

import contextlib
import re
from collections.abc import Iterator
from functools import cache
from itertools import repeat
from typing import Any

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from devcluster.gateway import answers
from not_found.app import HEADERS, HTML, PROBES_PORT, create_app
from tests.hooks.test_server import Server, serving
from tests.manifests.objects import container

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
application = cache(create_app)


def ask(host: str = "shop.example.com", path: str = "/cart", accept: str = "", method: str = "GET", **more: Any) -> Any:
    """Return the application's status, headers and body. Fails if the application reads the request's body."""
    started: list[Any] = []
    environ = {"REQUEST_METHOD": method, "PATH_INFO": path, "SERVER_PORT": "8080", "HTTP_HOST": host}
    body = b"".join(application()(environ | {"HTTP_ACCEPT": accept} | more, lambda *given: started.extend(given)))
    return started[0], dict(started[1]), body.decode()


def test_a_browser_gets_a_small_page_that_loads_and_runs_nothing_more() -> None:
    status, headers, body = ask(accept=BROWSER)
    assert status == "404 Not Found"
    assert headers == HEADERS | {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body))}
    assert not re.search(r"url\(|@import|://|<(script|style|link|img|iframe|form)|\son\w+=", body)
    assert len(body) < 1024


@pytest.mark.parametrize("accept", ["*/*", "", "application/json, text/plain, */*", ",;,=;q=,,"])
def test_all_other_clients_get_one_line_for_every_method(accept: str) -> None:
    line = "404: There is no page here: shop.example.com/cart\n"
    for method in ("GET", "POST", "OPTIONS", "x"):
        status, headers, body = ask(accept=accept, method=method)
        assert (status, body) == ("404 Not Found", line)
        assert headers.items() >= {"Content-Type": "text/plain; charset=utf-8"}.items()
        assert ask(accept=accept, method="HEAD") == (status, headers, "")


@pytest.mark.parametrize(
    ("host", "path", "shown"),
    [
        ("shop.example.com:8443", "/", "shop.example.com:8443/"),
        ("", "/cart", "/cart"),
        ("a", "/b\xc3\xbccher", "a/b%C3%BCcher"),
        ("a\r\nb", "/\r\nc", "a%0D%0Ab/%0D%0Ac"),
    ],
)
def test_the_address_is_shown_in_ascii(host: str, path: str, shown: str) -> None:
    assert ask(host, path)[2] == f"404: There is no page here: {shown}\n"


SENT = st.text(st.characters(max_codepoint=255))
"""Any header or path in WSGI: one character for each byte."""


@given(host=SENT, path=SENT)
def test_whatever_is_requested_only_the_address_differs_and_is_escaped(host: str, path: str) -> None:
    before, after = HTML.split("{}")
    body = ask(host, path, BROWSER)[2]
    assert body.startswith(before)
    assert body.endswith(after)
    shown = body.removeprefix(before).removesuffix(after)
    assert shown.isprintable()
    assert not set(shown) & set("<>\"'")


def test_headers_added_by_proxies_or_clients_are_neither_trusted_nor_shown() -> None:
    names = ("X_FORWARDED_HOST", "X_FORWARDED_PREFIX", "X_ORIGINAL_URI", "FORWARDED", "COOKIE", "USER_AGENT")
    added: dict[str, Any] = {f"HTTP_{name}": "/evil" for name in names} | {"HTTP_X_FORWARDED_PORT": str(PROBES_PORT)}
    assert ask(**added, QUERY_STRING="token=secret") == ask()


def test_the_other_port_serves_probes_and_metrics() -> None:
    probes = {"SERVER_PORT": str(PROBES_PORT)}
    assert ask(path="/healthz", **probes)[::2] == ("200 OK", "ok\n")
    assert ask(path="/", **probes) == ask(path="/")

    def counted() -> float:
        status, _, body = ask(path="/metrics", **probes)
        assert status == "200 OK"
        assert "ingress_manager_build_info" in body
        return float(re.findall(r"^ingress_manager_not_found_pages_total (\S+)$", body, re.MULTILINE)[0])

    before = counted()
    ask()
    assert counted() == before + 1


# In production form: gunicorn with the committed configuration, over real sockets.

MEBIBYTE = b" " * 1024 * 1024
_, *OPTIONS, APPLICATION = container("gateway", "not-found")["command"]
"""The command of the Deployment. The tests below replace its ports."""


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
    """Return the process's resident memory in MiB."""
    found = re.findall(r"^process_resident_memory_bytes (\S+)$", probed(pages, "/metrics"), re.MULTILINE)
    return float(found[0]) / 1024**2


@pytest.mark.parametrize("target", ["/cart?a=b", "http://other.example/cart?a=b", "/cart#b"])
def test_a_page_shows_no_potential_secret(pages: Server, target: str) -> None:
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


def test_a_hundred_mebibytes_are_answered_but_not_kept(pages: Server) -> None:
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
