"""`ingress-manager compare`: compare two controllers' responses for each host and path of a class's Ingresses."""

import re
import ssl
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cache
from http.client import HTTPConnection, HTTPException
from typing import NamedTuple
from urllib.parse import quote

import click

from ingress_manager.commands.reading.kubectl import MANAGED_RESOURCES
from ingress_manager.commands.reading.options import ALL_OBJECTS, Source, with_source
from ingress_manager.commands.snapshot.items import INGRESS, of_kind
from ingress_manager.commands.snapshot.objects import IngressSpec, as_spec, class_of
from ingress_manager.commands.terminal import note
from ingress_manager.commands.text import counted
from ingress_manager.core.text import one_line, quoted

MOST_CONCURRENT = 16  # requests: few enough for controllers in production
TIMEOUT = 10.0  # seconds to wait for an address that sends nothing
COMPARED_HEADERS = ("Location", "Set-Cookie", "WWW-Authenticate", "Strict-Transport-Security")
STATUS = "status"

ANY_NAME = "any-name"
"""The DNS label that replaces the * of a wildcard host. Rules without a host are tested as any-name.example.com."""

_ADDRESS = re.compile(r"\[?(?P<name>[^\s,\[\]]+?)\]?(?::(?P<http>\d{1,5}),(?P<https>\d{1,5}))?")

_PLAIN = re.compile(r"(?:[^\\^$.|?*+()\[\]{}]|\\.|\.(?![*+?{]))*(?![?*{])")
"""Matches the literal start of a regular expression. Omits the last character if it is optional, such as b in ab*."""


class Address(NamedTuple):
    name: str
    http: int
    https: int


class Request(NamedTuple):
    scheme: str
    host: str
    path: str


Answer = dict[str, str]
"""A response: STATUS, COMPARED_HEADERS ("" if missing) and "certificate". On failure, only STATUS: the error."""


def address_in(_context: click.Context, _option: click.Parameter, value: str) -> Address:
    match = _ADDRESS.fullmatch(value)
    # A name with a single colon is neither a host nor IPv6: the second port is missing.
    if not match or match["name"].count(":") == 1:
        example = "203.0.113.10 or, with the ports for HTTP and HTTPS, 203.0.113.10:8080,8443"
        raise click.BadParameter(f"{quoted(value)} is not an address such as {example}")
    return Address(match["name"], int(match["http"] or 80), int(match["https"] or 443))


@click.command(short_help="Request every URL from an old and a new controller, and print the differences.")
@click.option("--old", metavar="ADDRESS", required=True, callback=address_in, help="The old controller's address.")
@click.option("--new", metavar="ADDRESS", required=True, callback=address_in, help="The new controller's address.")
@click.option(
    "--class", "ingress_class", metavar="NAME", default="nginx", show_default=True, help="The class of the Ingresses."
)
@with_source(*ALL_OBJECTS)
@click.pass_context
def compare(context: click.Context, source: Source, old: Address, new: Address, ingress_class: str) -> None:
    """Request each host and path of a class's Ingresses from two controllers, and print the differences.

    `compare` sends GET requests over HTTP and HTTPS. It compares the status, the cookie names, the headers Location,
    WWW-Authenticate and Strict-Transport-Security, and whether a browser would trust the certificate. It doesn't
    follow redirects, or request hosts from annotations such as server-alias. An ADDRESS can include the ports for HTTP
    and HTTPS, as in 127.0.0.1:8080,8443.

    Exit status: 0 if all responses match; 1 if any differ, or if a file is invalid; 2 for a usage error, if a file
    can't be opened, if kubectl fails, or if there is nothing to request.

    \b
    Examples:
      ingress-manager compare --old 203.0.113.10 --new 203.0.113.20 --all-namespaces
      ingress-manager compare --old 203.0.113.10 --new 127.0.0.1:8080,8443 -n team-a
      ingress-manager compare --old 203.0.113.10 --new 203.0.113.20 -f ingresses.yaml --class internal
    """  # noqa: D301 - \b keeps click from joining lines
    requests: dict[Request, str] = {}
    for item in of_kind(source.read(MANAGED_RESOURCES[INGRESS]), INGRESS):
        spec = as_spec(item)
        if class_of(item, spec) == ingress_class:
            for request in requests_of(spec):
                requests.setdefault(request, item.full_name)
    if not requests:
        note(f"No Ingress has the class {ingress_class}, so there is nothing to request.")
        context.exit(2)
    note(f"… requesting {counted(len(requests), 'URL')} from both controllers")
    with ThreadPoolExecutor(MOST_CONCURRENT) as pool:
        answers = list(pool.map(lambda request: answer_differences(ask(old, request), ask(new, request)), requests))
    for (request, name), sentences in zip(requests.items(), answers, strict=True):
        for sentence in sentences:
            click.echo(one_line(f"{name} {request.scheme}://{request.host}{request.path} {sentence}"))
    differ = sum(map(bool, answers))
    click.echo(f"{counted(len(requests), 'request')}, {differ:,} differ")
    context.exit(1 if differ else 0)


def requests_of(spec: IngressSpec) -> Iterator[Request]:
    places = [(host, path.path) for host, path in spec.paths()]
    places += [(rule.host, "/") for rule in spec.rules or () if not rule.http]
    places += [("", "/")] if spec.default_backend else []
    for host, path in places:
        name = host.replace("*", ANY_NAME, 1) if host else f"{ANY_NAME}.example.com"
        for scheme in ("http", "https"):
            yield Request(scheme, name, quote(plain_part(path) or "/", safe="/%:@!$&'()*+,;=~"))


def plain_part(path: str) -> str:
    """Return the literal beginning of a path, before any regular expression operator, with escapes removed."""
    match = _PLAIN.match(path)
    return re.sub(r"\\(.)", r"\1", match[0]) if match else ""


def ask(address: Address, request: Request, *, verified: bool = True) -> Answer:
    """Return the response or error. If `verified` is set but the certificate isn't trusted, retry without verifying."""
    try:
        with closing(HTTPConnection(address.name, getattr(address, request.scheme), timeout=TIMEOUT)) as connection:
            connection.connect()
            if request.scheme == "https":
                connection.sock = tls(verified=verified).wrap_socket(connection.sock, server_hostname=request.host)
            connection.request("GET", request.path, headers={"Host": request.host, "User-Agent": "ingress-manager"})
            answer = connection.getresponse()
    except ssl.SSLCertVerificationError:  # not an error: the old controller's certificate may be untrusted
        return ask(address, request, verified=False)
    except TimeoutError:
        return {STATUS: f"no answer in {TIMEOUT:.0f} seconds"}
    except (OSError, HTTPException, ValueError) as error:
        return {STATUS: f"no answer ({error})"}
    facts = {name: comparable(name, answer.headers.get_all(name, [])) for name in COMPARED_HEADERS}
    return {STATUS: str(answer.status), **facts, "certificate": "trusted" if verified else "not trusted"}


@cache
def tls(*, verified: bool) -> ssl.SSLContext:
    return ssl.create_default_context() if verified else ssl._create_unverified_context()  # noqa: S323


def comparable(name: str, values: Sequence[str]) -> str:
    """Return a header's values without the parts that vary between requests, such as cookie values."""
    if name == "Set-Cookie":
        values = sorted(value.partition("=")[0].strip() for value in values)
    elif name == "WWW-Authenticate":
        values = [value.partition(" ")[0] for value in values]
    elif name == "Location":
        values = [re.sub(r"(?<==)[^&#]+", "…", value) for value in values]
    return ", ".join(values)


def answer_differences(old: Answer, new: Answer) -> list[str]:
    """Return the differences as messages. A missing response counts as a difference, even if both are missing."""
    if len(old) == 1 or len(new) == 1 or old[STATUS] != new[STATUS]:
        return [f"{old[STATUS]} → {new[STATUS]}"]
    pairs = {name: (value, new[name]) for name, value in old.items() if value != new[name]}
    return [f"{name}: {' → '.join(quoted(text) if text else 'none' for text in pair)}" for name, pair in pairs.items()]
