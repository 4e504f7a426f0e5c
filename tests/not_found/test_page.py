"""The 404 page: what is shown, in which language and format, and what no request can do to it.

tests/not_found holds the page in every language and format; `make cases` writes it. tests/not_found/test_served.py asks
the program, and tests/not_found/test_browser.py looks at it.
"""

import json
import re
from collections.abc import Iterator
from itertools import product
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from hooks import gunicorn_conf, logs
from not_found import conf
from not_found.app import PROBES_PORT, Wsgi, create_app
from not_found.negotiation import Format, preferred_format, preferred_language
from not_found.page import CONTENT_TYPES, LONGEST_HOST, LONGEST_PATH, POLICY, STYLE, Page, page
from not_found.texts import LANGUAGES, Texts
from tools import cases

HTML = "text/html"
CHROMIUM = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8"

# ----------------------------------------------------------------------------------------------------------- the page


def test_the_pages_are_what_their_files_say_and_there_is_one_for_every_language_and_format() -> None:
    for path, text in cases.pages().items():
        assert path.read_text(encoding="utf-8") == text, "`make cases` writes it"
    assert {path for path in cases.PAGES.iterdir() if path.suffix[1:] in cases.SUFFIXES} == set(cases.pages())
    assert len(cases.pages()) == len(LANGUAGES) * len(Format)


def test_a_browser_runs_and_loads_nothing_more_and_the_page_is_small() -> None:
    for path in cases.PAGES.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"url\(|@import|://|<(script|link|img|iframe|form)|\son\w+=", text), path.name
        assert len(text.encode()) < 4096


def test_every_header_is_stated() -> None:
    made = page("shop.example.com", "/cart", CHROMIUM, "de")
    assert made == Page(
        Format.HTML,
        "de",
        {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Language": "de",
            "Content-Length": str(len(made.body)),
            "Content-Security-Policy": POLICY,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
            "Vary": "Accept, Accept-Language",
        },
        (cases.PAGES / "de.html").read_bytes(),
    )


def test_problem_details_have_the_members_of_rfc_9457() -> None:
    made = page("shop.example.com", "/cart", "application/problem+json", "en")
    assert made.headers["Content-Type"] == "application/problem+json"
    assert json.loads(made.body) == {
        "type": "about:blank",
        "title": "Not Found",
        "status": 404,
        "detail": "Nothing is served at this address: shop.example.com/cart",
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_there_in_every_language(language: str) -> None:
    texts, english = LANGUAGES[language], LANGUAGES["en"]
    for field in Texts._fields:
        text = getattr(texts, field)
        assert text.strip() == text != ""
        assert language == "en" or text != getattr(english, field), field
        # What is code is the same in every language.
        assert re.findall("`.+?`", text) == re.findall("`.+?`", getattr(english, field))


@pytest.mark.parametrize(("target", "linked"), [("/", False), ("/?a", False), ("*", False), ("/a", True), ("//", True)])
def test_who_is_at_the_start_gets_no_link_to_it(target: str, linked: bool) -> None:
    assert ('<a href="/">' in page("a", target, HTML, "en").body.decode()) == linked
    assert ("start page: /" in page("a", target, "text/plain", "en").body.decode()) == linked


# --------------------------------------------------------------------------------------------- what was asked for


def address_in(body: bytes) -> str:
    """Return the address that a page in HTML shows. Raises ParseError unless the page is well-formed."""
    shown = ET.fromstring(body.decode()).find(".//p[@id='address']")  # noqa: S314 - the page is our own
    assert shown is not None
    assert not list(shown), "the address is text alone"
    return shown.text or ""


@pytest.mark.parametrize(
    ("reason", "host", "target", "shown"),
    [
        ("host and path", "shop.example.com", "/cart", "shop.example.com/cart"),
        ("a port belongs to the host", "shop.example.com:8443", "/", "shop.example.com:8443/"),
        ("HTTP/1.0 has no host", "", "/cart", "/cart"),
        ("a query may hold a secret", "a", "/b?token=secret", "a/b"),
        ("so may what follows a #", "a", "/b#secret", "a/b"),
        ("an absolute target has a host of its own; the header counts", "a", "http://b.example/c?d", "a/c"),
        ("an absolute target without a path", "a", "http://b.example", "a"),
        ("OPTIONS *", "a", "*", "a"),
        ("CONNECT", "a", "b:443", "a"),
        ("letters are readable", "a", "/b%C3%BCcher/%E4%B8%AD", "a/bücher/中"),
        ("also in lower case", "a", "/b%c3%bccher", "a/bücher"),
        ("also when they came as bytes", "a", "/b\xc3\xbccher", "a/bücher"),
        ("a slash is told from an encoded one", "a", "/b%2Fc%20d", "a/b%2Fc%20d"),
        ("what is no UTF-8 stays", "a", "/b%FCcher\xff", "a/b%FCcher%FF"),
        (
            "a name in punycode stays, so that no letter passes for another",
            "xn--80ak6aa92e.com",
            "/",
            "xn--80ak6aa92e.com/",
        ),
        ("markup is text", "<b>&\"'", "/<script>alert(1)</script>", "<b>&\"'/<script>alert(1)</script>"),
        ("an entity isn't decoded", "a", "/&lt;b&gt;", "a/&lt;b&gt;"),
        ("a character that turns text around is encoded", "a", "/%E2%80%AEcod.exe", "a/%E2%80%AEcod.exe"),
        ("so is one without a width", "a", "/x%E2%80%8By", "a/x%E2%80%8By"),
        ("so is one that is blank", "a", "/x%E3%85%A4y", "a/x%E3%85%A4y"),
        ("so is a line's end", "a\r\nb", "/%0D%0Ac", "a%0D%0Ab/%0D%0Ac"),
        ("a long host is cut", "h" * 300, "/", "h" * 253 + "…/"),
        ("a long path is cut", "a", "/" + "p" * 8000, "a/" + "p" * 199 + "…"),
    ],
)
def test_the_address_is_shown_as_people_read_it(reason: str, host: str, target: str, shown: str) -> None:
    assert address_in(page(host, target, HTML, "en").body) == shown, reason
    assert f"\n  {shown}\n" in page(host, target, "text/plain", "en").body.decode(), reason
    assert json.loads(page(host, target, "application/json", "en").body)["detail"].endswith(f": {shown}"), reason


SENT = st.text(st.characters(max_codepoint=255)) | st.binary().map(
    lambda sent: "".join(f"%{byte:02x}" for byte in sent)
)
"""What a header or a target can be in WSGI: one character for each byte."""


@given(host=SENT, path=SENT, accept=SENT, language=SENT)
def test_whatever_is_asked_for_only_the_address_differs(host: str, path: str, accept: str, language: str) -> None:
    made = page(host, "/" + path, HTML, "en")
    shown = address_in(made.body)
    assert shown.isprintable()
    assert len(shown) <= LONGEST_HOST + LONGEST_PATH + 2
    ordinary = re.compile(r'(?<=<p id="address" dir="ltr">).*(?=</p>)')
    link = f'<li><a href="/">{LANGUAGES["en"].start}</a></li>\n'
    expected, rest = (
        ordinary.sub("", text).replace(link, "")
        for text in ((cases.PAGES / "en.html").read_text(encoding="utf-8"), made.body.decode())
    )
    assert rest == expected
    negotiated = page(host, path, accept, language)
    assert (negotiated.language, negotiated.headers["Content-Type"]) in set(product(LANGUAGES, CONTENT_TYPES.values()))
    assert all(value.isascii() and value.isprintable() for value in negotiated.headers.values())


# ------------------------------------------------------------------------------------------------------------ colours


def luminance(colour: str) -> float:
    """Return the relative luminance of #rgb or #rrggbb (WCAG 2.2)."""
    digits = colour if len(colour) == 6 else "".join(digit * 2 for digit in colour)
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def palettes() -> Iterator[dict[str, str]]:
    """Yield the colours of the light and of the dark page, by name."""
    for rule in re.findall(r":root \{(.*?)\}", STYLE):
        yield dict(re.findall(r"--(\w+): #(\w+)", rule))


def test_text_stands_out_in_the_light_and_in_the_dark() -> None:
    light, dark = palettes()
    assert light.keys() == dark.keys()
    assert luminance(light["back"]) > 0.9
    assert luminance(dark["back"]) < 0.1
    for palette in (light, dark):
        for front, back in product(("text", "soft", "link"), ("back", "box")):
            brighter, darker = sorted((luminance(palette[front]), luminance(palette[back])), reverse=True)
            assert (brighter + 0.05) / (darker + 0.05) >= 4.5, (front, back)


# ------------------------------------------------------------------------------------------------------- negotiation


@pytest.mark.parametrize(
    ("client", "accept", "format_"),
    [
        ("Chromium", CHROMIUM, Format.HTML),
        ("Firefox", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", Format.HTML),
        ("lynx", "text/html, text/plain, text/sgml, text/css, application/xhtml+xml, */*;q=0.01", Format.HTML),
        ("curl, wget and fetch", "*/*", Format.TEXT),
        ("gRPC, and whoever sends no such header", "", Format.TEXT),
        ("axios", "application/json, text/plain, */*", Format.JSON),
        ("kubectl", "application/json", Format.JSON),
        ("an API's client", "application/problem+json;q=0.9, application/json;q=0.8", Format.JSON),
        ("an image in a page", "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8", Format.TEXT),
        ("any text", "text/*", Format.TEXT),
        ("any application's", "application/*", Format.JSON),
        ("a weight decides", "text/html;q=0.5, application/json;q=0.6, text/plain;q=0.4", Format.JSON),
        ("a weight of 0 is a no, and the most precise range decides", "*/*, text/plain;q=0", Format.HTML),
        ("a no to all", "*/*;q=0", Format.TEXT),
        ("none that there is", "image/png", Format.TEXT),
        ("letters of any case", "Text/HTML;Q=1.0", Format.HTML),
        ("a parameter that isn't a weight", "text/html;level=1;q=0.9, text/plain;q=0.8", Format.HTML),
        ("a weight that is no weight", "text/html;q=x, text/html;q=-1, text/html;q=2, text/html;q=nan", Format.TEXT),
        ("nonsense", ",;,=;q=,,", Format.TEXT),
        ("a header without an end", "a/b," * 100_000 + "text/html", Format.TEXT),
    ],
)
def test_each_client_gets_the_format_that_it_can_use(client: str, accept: str, format_: Format) -> None:
    assert preferred_format(accept) == format_, client


@pytest.mark.parametrize(
    ("reason", "accept_language", "language"),
    [
        ("a browser in German", "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7", "de"),
        ("Austria's German is German", "de-AT", "de"),
        ("a browser in Chinese", "zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("by script", "zh-Hans-CN", "zh"),
        ("who reads the traditional script gets Chinese, too, as asked for", "zh-TW,zh;q=0.9,en;q=0.8", "zh"),
        ("the first of those that there are", "fr-FR,fr;q=0.9,de;q=0.8,en;q=0.7", "de"),
        ("a weight decides, not the order", "en;q=0.5,de;q=0.7", "de"),
        ("the first of those that are wanted alike", "de, en", "de"),
        ("none that there is", "fr, pt-BR", "en"),
        ("any", "*", "en"),
        ("no header", "", "en"),
        ("a no", "de;q=0, zh;q=0.1", "zh"),
        ("a longer word isn't the language", "deutsch", "en"),
        ("letters of any case", "DE-at", "de"),
        ("nonsense", "-,--,;q=1,-de", "en"),
    ],
)
def test_each_person_gets_a_language_that_they_read(reason: str, accept_language: str, language: str) -> None:
    assert preferred_language(accept_language, LANGUAGES) == language, reason


# --------------------------------------------------------------------------------------------------------- the shell


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


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "PROPFIND", "x"])
def test_every_method_is_answered_alike_and_no_body_is_read(app: Wsgi, method: str) -> None:
    expected = page("shop.example.com", "/cart", "", "")
    assert ask(app, method, "/cart") == ("404 Not Found", expected.headers, expected.body)


def test_head_is_answered_as_get_without_the_body(app: Wsgi) -> None:
    status, headers, body = ask(app, "GET", "/cart", HTTP_ACCEPT=HTML)
    assert int(headers["Content-Length"]) == len(body)
    assert ask(app, "HEAD", "/cart", HTTP_ACCEPT=HTML) == (status, headers, b"")


def test_what_a_proxy_or_a_client_adds_is_neither_believed_nor_shown(app: Wsgi) -> None:
    added: dict[str, Any] = {
        "HTTP_X_FORWARDED_HOST": "evil.example",
        "HTTP_X_FORWARDED_PREFIX": "/evil",
        "HTTP_X_FORWARDED_PORT": str(PROBES_PORT),
        "HTTP_X_FORWARDED_FOR": "192.0.2.1",
        "HTTP_X_ORIGINAL_URI": "/evil",
        "HTTP_FORWARDED": "host=evil.example",
        "HTTP_COOKIE": "evil=1",
        "HTTP_USER_AGENT": "evil",
        "SERVER_NAME": "10.1.2.3",
        "SCRIPT_NAME": "/evil",
        "REMOTE_ADDR": "192.0.2.1",
    }
    assert ask(app, **added) == ask(app)


def test_the_other_port_answers_probes_and_tells_the_metrics(app: Wsgi) -> None:
    text = {"Content-Type": "text/plain; charset=utf-8"}
    assert ask(app, target="/healthz", port=8081) == ("200 OK", text | {"Content-Length": "3"}, b"ok\n")
    assert ask(app, "HEAD", "/healthz", 8081) == ("200 OK", text | {"Content-Length": "3"}, b"")
    assert ask(app, target="/", port=8081)[::2] == ("404 Not Found", b"there are /healthz and /metrics\n")
    status, headers, body = ask(app, target="/metrics", port=8081)
    assert (status, headers["Content-Type"]) == ("200 OK", "text/plain; version=0.0.4; charset=utf-8")
    assert b"ingress_manager_build_info" in body


def samples(app: Wsgi) -> dict[tuple[str, ...], float]:
    """Return the number of pages that were answered by their labels, without what is 0."""
    text = ask(app, target="/metrics", port=PROBES_PORT)[2].decode()
    [family] = [each for each in text_string_to_metric_families(text) if each.name == "ingress_manager_not_found_pages"]
    return {tuple(sample.labels.values()): sample.value for sample in family.samples if sample.value}


def test_pages_are_counted_by_method_format_and_language_alone(app: Wsgi) -> None:
    ask(app, HTTP_ACCEPT=CHROMIUM, HTTP_ACCEPT_LANGUAGE="de")
    ask(app, HTTP_ACCEPT=CHROMIUM, HTTP_ACCEPT_LANGUAGE="de-AT")
    ask(app, "HEAD")
    ask(app, "POST", HTTP_ACCEPT="application/json", HTTP_ACCEPT_LANGUAGE="zh")
    ask(app, "BREW")
    ask(app, "other")
    lines = [ask(app, target="/metrics", port=PROBES_PORT)[2].count(b"\n")]
    for number in range(1000):
        more: dict[str, Any] = {
            "HTTP_HOST": f"h{number}",
            "HTTP_ACCEPT": f"a/{number}",
            "HTTP_ACCEPT_LANGUAGE": f"x-{number}",
        }
        ask(app, f"M{number}", f"/{number}", **more)
    lines.append(ask(app, target="/metrics", port=PROBES_PORT)[2].count(b"\n"))
    assert lines[0] == lines[1], "they don't grow with what is asked for"
    assert samples(app) == {
        ("html", "de", "GET"): 2,
        ("text", "en", "HEAD"): 1,
        ("json", "zh", "POST"): 1,
        ("text", "en", "other"): 1002,
    }


# ------------------------------------------------------------------------------------------------------ configuration


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
