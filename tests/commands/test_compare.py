"""`ingress-manager compare`: it requests every URL from two controllers, and lists the differences by Ingress."""

import contextlib
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from werkzeug.serving import make_server

from ingress_manager.commands import compare
from ingress_manager.commands.printing import as_yaml
from tests import dumps
from tests.commands.commands import run

SILENT = 0
"""The status of a request that is never answered."""

Said = tuple[int, dict[str, str]]


class Controller:
    """An HTTP and an HTTPS server; `says` holds the answers by URL, with 404 for all others."""

    def __init__(self, exits: contextlib.ExitStack, certificate: trustme.LeafCert) -> None:
        self.says: dict[str, Said] = {}
        self.asked: list[str] = []
        self.ended = threading.Event()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate.configure_cert(context)
        servers = [make_server("127.0.0.1", 0, self.answer, threaded=True, ssl_context=tls) for tls in (None, context)]
        for server in servers:
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            for end in (server.server_close, thread.join, server.shutdown, self.ended.set):
                exits.callback(end)
        self.address = "127.0.0.1:{},{}".format(*(server.port for server in servers))

    def answer(self, environ: dict[str, Any], start: Any) -> list[bytes]:
        url = f"{environ['wsgi.url_scheme']}://{environ['HTTP_HOST']}{environ['RAW_URI']}"
        self.asked.append(url)
        status, headers = self.says.get(url, (404, {}))
        if status == SILENT:
            self.ended.wait()
        start(f"{status} -", [(name, value) for name, values in headers.items() for value in values.split("|")])
        return []


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def controllers(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Controller]]:
    """An old and a new controller. Only the old one's certificate, for *.example.com, is trusted."""
    authority.cert_pem.write_to_path(tmp_path / "trusted.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "trusted.pem"))
    compare.tls.cache_clear()
    certificates = (authority.issue_cert("*.example.com"), trustme.CA().issue_cert("*.example.com"))
    with contextlib.ExitStack() as exits:
        yield [Controller(exits, certificate) for certificate in certificates]
    compare.tls.cache_clear()


def ingress(name: str, host: str, *paths: str, **fields: Any) -> Any:
    rules = {host: {f"ImplementationSpecific {path}": 80 for path in paths}}
    [made] = dumps.objects([{"Ingress": {"name": name, "rules": rules} | fields}])
    return made


def asked_with(controllers: list[Controller], *objects: Any, options: tuple[str, ...] = ()) -> Any:
    old, new = controllers
    text = "---\n".join(map(as_yaml, objects))
    return run("compare", "--old", old.address, "--new", new.address, "-f", "-", *options, stdin=text)


def test_every_difference_is_reported_with_its_ingress_and_url(controllers: list[Controller]) -> None:
    old, new = controllers
    old.says = {
        "http://a.example.com/": (308, {"Location": "https://a.example.com/?state=1"}),
        "https://a.example.com/": (200, {"Strict-Transport-Security": "max-age=1"}),
        "http://a.example.com/b": (200, {"Set-Cookie": "route=1; Path=/|b=2", "Date": "yesterday"}),
        "https://a.example.com/b": (401, {"WWW-Authenticate": 'Digest nonce="1"'}),
    }
    new.says = {
        "http://a.example.com/": (308, {"Location": "https://a.example.com/?state=2"}),
        "https://a.example.com/": (200, {}),
        "http://a.example.com/b": (200, {"Set-Cookie": "b=3", "Date": "today"}),
        "https://a.example.com/b": (401, {"WWW-Authenticate": 'Digest nonce="2"'}),
    }
    ended = asked_with(controllers, ingress("a", "a.example.com", "/", "/b"), ingress("b", "b.example.com", "/"))
    assert ended.status == 1
    assert ended.out == (
        'team-a/a https://a.example.com/ Strict-Transport-Security: "max-age=1" → none\n'
        'team-a/a https://a.example.com/ certificate: "trusted" → "not trusted"\n'
        'team-a/a http://a.example.com/b Set-Cookie: "b, route" → "b"\n'
        'team-a/a https://a.example.com/b certificate: "trusted" → "not trusted"\n'
        'team-a/b https://b.example.com/ certificate: "trusted" → "not trusted"\n'
        "6 requests, 4 differ\n"
    )


def test_missing_answers_are_reported(controllers: list[Controller], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "TIMEOUT", 0.5)
    for controller in controllers:
        controller.says["http://a.example.com/"] = (SILENT, {})
    ended = asked_with(controllers, ingress("a", "a.example.com", "/"), ingress("b", "a\nb", "/"))
    assert ended.status == 1
    assert "team-a/a http://a.example.com/ no answer in 0 seconds → no answer in 0 seconds\n" in ended.out
    assert "team-a/b http://a\\nb/ no answer (" in ended.out


def test_every_host_and_path_of_an_ingress_is_requested(controllers: list[Controller]) -> None:
    old, _ = controllers
    asked = {
        "a.example.com /x/y%20z": ingress("a", "a.example.com", "/x/y z"),
        "any-name.b.example.com /": ingress("b", "", then={"spec": {"rules": [{"host": "*.b.example.com"}]}}),
        "any-name.example.com /": ingress("c", "", rules={}, default=80),
        "d.example.com /api": ingress("d", "d.example.com", "/api(/|$)(.*)"),
    }
    for places, its in asked.items():
        old.asked.clear()
        asked_with([old, old], its)
        assert {*old.asked} == {f"{scheme}://{places.replace(' ', '')}" for scheme in ("http", "https")}


def test_a_regular_expression_is_requested_by_its_literal_prefix() -> None:
    plain = {"/shop": "/shop", "/index.html": "/index.html", "/a/.*": "/a/", "/api(/|$)(.*)": "/api"}
    plain |= {r"/a\.b/?$": "/a.b", "/ab*": "/a", "/ab+": "/ab", "/v[0-9]+/x": "/v", r"/a\.?b": "/a", "?a": ""}
    assert {path: compare.plain_part(path) for path in plain} == plain


def test_only_ingresses_of_the_class_are_requested(controllers: list[Controller]) -> None:
    old, _ = controllers
    internal = ingress("a", "a.example.com", "/", **{"class": "internal"})
    old_class = {"kubernetes.io/ingress.class": "nginx"}
    by_annotation = ingress("b", "b.example.com", "/", **{"class": None}, annotations=old_class)
    asked_with([old, old], internal, by_annotation)
    assert {*old.asked} == {"http://b.example.com/", "https://b.example.com/"}
    old.asked.clear()
    asked_with([old, old], internal, by_annotation, options=("--class", "internal"))
    assert {*old.asked} == {"http://a.example.com/", "https://a.example.com/"}
    ended = asked_with([old, old], internal)
    assert (ended.status, ended.err) == (2, "No Ingress has the class nginx, so there is nothing to request.\n")


def test_an_invalid_address_is_a_usage_error() -> None:
    for wrong in ("a b", "127.0.0.1:80"):
        ended = run("compare", "--old", wrong, "--new", "127.0.0.1", "-f", "-", stdin="")
        message = f'"{wrong}" is not an address such as 203.0.113.10 or, with the ports for HTTP and HTTPS'
        assert (ended.status, message in " ".join(ended.err.split())) == (2, True)
