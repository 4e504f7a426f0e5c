"""The 404 page: what is shown to whom, and what no request can do to it. test_served.py asks the program."""

import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from hooks import gunicorn_conf, logs
from not_found import conf
from not_found.app import PROBES_PORT, Wsgi, create_app
from not_found.page import LONGEST_HOST, LONGEST_PATH, POLICY, page

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8"


def test_a_browser_gets_a_page_that_is_small_and_loads_and_runs_nothing_more() -> None:
    made = page("shop.example.com", "/cart", BROWSER)
    assert made.headers == {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Length": str(len(made.body)),
        "Content-Security-Policy": POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
        "Vary": "Accept",
    }
    assert not re.search(r"url\(|@import|://|<(script|link|img|iframe|form)|\son\w+=", made.body.decode())
    assert len(made.body) < 4096


@pytest.mark.parametrize("accept", ["*/*", "", "application/json, text/plain, */*", "image/*,*/*;q=0.8", ",;,=;q=,,"])
def test_all_others_get_a_line(accept: str) -> None:
    made = page("shop.example.com", "/cart", accept)
    assert (made.format, made.body) == ("text", b"404: There is no page here: shop.example.com/cart\n")
    assert made.headers["Content-Type"] == "text/plain; charset=utf-8"


def address_in(body: bytes) -> str:
    """Return the address that a page in HTML shows. Raises ParseError unless the page is well-formed."""
    shown = ET.fromstring(body.decode()).find(".//code[@id='address']")  # noqa: S314 - the page is our own
    assert shown is not None
    assert not list(shown), "the address is text alone"
    return shown.text or ""


@pytest.mark.parametrize(
    ("reason", "host", "target", "shown"),
    [
        ("a port belongs to the host", "shop.example.com:8443", "/", "shop.example.com:8443/"),
        ("HTTP/1.0 has no host", "", "/cart", "/cart"),
        ("a query may hold a secret", "a", "/b?token=secret", "a/b"),
        ("so may what follows a #", "a", "/b#secret", "a/b"),
        ("an absolute target has a host of its own; the header counts", "a", "http://b.example/c?d", "a/c"),
        ("OPTIONS *", "a", "*", "a"),
        ("bytes are encoded", "a", "/b\xc3\xbccher", "a/b%C3%BCcher"),
        ("markup is text", "<b>&\"'", "/<script>alert(1)</script>", "<b>&\"'/<script>alert(1)</script>"),
        ("a line's end", "a\r\nb", "/%0D%0Ac", "a%0D%0Ab/%0D%0Ac"),
        ("a long host is cut", "h" * 300, "/", "h" * 253 + "…/"),
        ("a long path is cut", "a", "/" + "p" * 8000, "a/" + "p" * 199 + "…"),
    ],
)
def test_the_address_is_shown_as_text(reason: str, host: str, target: str, shown: str) -> None:
    assert address_in(page(host, target, BROWSER).body) == shown, reason
    assert page(host, target, "*/*").body.decode() == f"404: There is no page here: {shown}\n", reason


SENT = st.text(st.characters(max_codepoint=255))
"""What a header or a target can be in WSGI: one character for each byte."""


@given(host=SENT, path=SENT, accept=SENT)
def test_whatever_is_asked_for_only_the_address_differs(host: str, path: str, accept: str) -> None:
    made = page(host, "/" + path, BROWSER)
    shown = address_in(made.body)
    assert shown.isprintable()
    assert len(shown) <= LONGEST_HOST + LONGEST_PATH + 2
    others = re.compile(r'(?<=<code id="address" dir="ltr">).*(?=</code>)')
    ordinary = page("shop.example.com", "/cart", BROWSER).body.decode()
    assert others.sub("", made.body.decode()) == others.sub("", ordinary)
    assert all(value.isascii() and value.isprintable() for value in page(host, path, accept).headers.values())


# The shell.


def ask(app: Wsgi, method: str = "GET", target: str = "/", port: int = 8080, **more: Any) -> tuple[str, Any, bytes]:
    """Return the status, the headers and the body that the application answers. Its input can't be read."""
    started: list[Any] = []
    environ = {
        "REQUEST_METHOD": method,
        "RAW_URI": target,
        "PATH_INFO": target,
        "SERVER_PORT": str(port),
        "HTTP_HOST": "shop.example.com",
    }
    body = b"".join(app(environ | more, lambda *given: started.extend(given)))
    status, headers = started
    return status, dict(headers), body


@pytest.fixture
def app() -> Wsgi:
    return create_app()


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS", "PROPFIND", "x"])
def test_every_method_is_answered_alike_and_no_body_is_read(app: Wsgi, method: str) -> None:
    expected = page("shop.example.com", "/cart", "")
    assert ask(app, method, "/cart") == ("404 Not Found", expected.headers, expected.body)
    assert ask(app, "HEAD", "/cart") == ("404 Not Found", expected.headers, b"")


def test_what_a_proxy_or_a_client_adds_is_neither_believed_nor_shown(app: Wsgi) -> None:
    names = ("X_FORWARDED_HOST", "X_FORWARDED_PREFIX", "X_ORIGINAL_URI", "FORWARDED", "COOKIE", "USER_AGENT")
    added: dict[str, Any] = {f"HTTP_{name}": "/evil" for name in names} | {"HTTP_X_FORWARDED_PORT": str(PROBES_PORT)}
    assert ask(app, **added) == ask(app)


def test_the_other_port_answers_probes_and_tells_the_metrics(app: Wsgi) -> None:
    text = {"Content-Type": "text/plain; charset=utf-8"}
    assert ask(app, target="/healthz", port=8081) == ("200 OK", text | {"Content-Length": "3"}, b"ok\n")
    assert ask(app, target="/", port=8081)[::2] == ("404 Not Found", b"there are /healthz and /metrics\n")
    status, headers, body = ask(app, target="/metrics", port=8081)
    assert (status, headers["Content-Type"]) == ("200 OK", "text/plain; version=0.0.4; charset=utf-8")
    assert b"ingress_manager_build_info" in body


def test_pages_are_counted_by_method_and_format_alone(app: Wsgi) -> None:
    def metrics() -> str:
        return ask(app, target="/metrics", port=PROBES_PORT)[2].decode()

    lines = metrics().count("\n")
    ask(app, HTTP_ACCEPT=BROWSER)
    ask(app, "HEAD")
    for number in range(100):
        ask(app, f"M{number}", f"/{number}", HTTP_HOST=f"h{number}", HTTP_ACCEPT=f"a/{number}")
    assert metrics().count("\n") == lines, "they don't grow with what is asked for"
    [family] = [
        each for each in text_string_to_metric_families(metrics()) if each.name == "ingress_manager_not_found_pages"
    ]
    counted = {
        (each.labels["method"], each.labels["format"]): each.value
        for each in family.samples
        if each.value and each.name.endswith("_total")
    }
    assert counted == {("GET", "html"): 1, ("HEAD", "text"): 1, ("other", "text"): 100}


def test_it_is_served_as_the_hook_is_except_for_its_ports_and_its_start() -> None:
    # gunicorn takes the names that are its settings, and no others.
    names = {name for name in vars(gunicorn_conf) if not name.startswith("_")}
    differs = {name for name in names if getattr(conf, name) is not getattr(gunicorn_conf, name)}
    assert differs == {"bind", "on_starting"}
    assert conf.bind == gunicorn_conf.addresses(gunicorn_conf.PORT) + gunicorn_conf.addresses(PROBES_PORT)


def test_before_it_starts_it_makes_room_for_the_connections_of_both_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    room: list[int] = []
    monkeypatch.setattr(logs, "log_everything", lambda: None)
    monkeypatch.setattr(conf, "allow_open_files", room.append)
    conf.on_starting(None)
    assert room == [2500]
