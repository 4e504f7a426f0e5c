"""The 404 page: what is shown to whom, and what no request can do to it. test_served.py asks the program."""

import re
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from not_found.app import HEADERS, HTML, PROBES_PORT, create_app

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
application = cache(create_app)


def ask(host: str = "shop.example.com", path: str = "/cart", accept: str = "", method: str = "GET", **more: Any) -> Any:
    """Return the status, the headers and the body that the application answers. Its input can't be read."""
    started: list[Any] = []
    environ = {"REQUEST_METHOD": method, "PATH_INFO": path, "SERVER_PORT": "8080", "HTTP_HOST": host}
    body = b"".join(application()(environ | {"HTTP_ACCEPT": accept} | more, lambda *given: started.extend(given)))
    return started[0], dict(started[1]), body.decode()


def test_a_browser_gets_a_page_that_is_small_and_loads_and_runs_nothing_more() -> None:
    status, headers, body = ask(accept=BROWSER)
    assert status == "404 Not Found"
    assert headers == HEADERS | {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body))}
    assert not re.search(r"url\(|@import|://|<(script|style|link|img|iframe|form)|\son\w+=", body)
    assert len(body) < 1024


@pytest.mark.parametrize("accept", ["*/*", "", "application/json, text/plain, */*", ",;,=;q=,,"])
def test_all_others_get_a_line_by_every_method(accept: str) -> None:
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
"""What a header or a path can be in WSGI: one character for each byte."""


@given(host=SENT, path=SENT)
def test_whatever_is_asked_for_only_the_address_differs_and_it_is_text(host: str, path: str) -> None:
    before, after = HTML.split("{}")
    body = ask(host, path, BROWSER)[2]
    assert body.startswith(before)
    assert body.endswith(after)
    shown = body.removeprefix(before).removesuffix(after)
    assert shown.isprintable()
    assert not set(shown) & set("<>\"'")


def test_what_a_proxy_or_a_client_adds_is_neither_believed_nor_shown() -> None:
    names = ("X_FORWARDED_HOST", "X_FORWARDED_PREFIX", "X_ORIGINAL_URI", "FORWARDED", "COOKIE", "USER_AGENT")
    added: dict[str, Any] = {f"HTTP_{name}": "/evil" for name in names} | {"HTTP_X_FORWARDED_PORT": str(PROBES_PORT)}
    assert ask(**added, QUERY_STRING="token=secret") == ask()


def test_the_other_port_answers_probes_and_tells_the_metrics() -> None:
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
