"""`ingress-manager compare`: whether two controllers answer alike, for every host and path of some Ingresses."""

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

AT_ONCE = 16
"""Concurrent requests: few enough for controllers in use."""

TIMEOUT = 10.0
"""Seconds that an address may be silent."""

COMPARED = ("Location", "Set-Cookie", "WWW-Authenticate", "Strict-Transport-Security")
STATUS = "status"

ANY_NAME = "any-name"
"""The label that replaces a wildcard's *, and is put before example.com for a rule without a host."""

_ADDRESS = re.compile(r"\[?(?P<name>[^\s,\[\]]+?)\]?(?::(?P<http>\d{1,5}),(?P<https>\d{1,5}))?")

_PLAIN = re.compile(r"(?:[^\\^$.|?*+()\[\]{}]|\\.|\.(?![*+?{]))*")
"""The literal beginning of a regular expression."""


class Address(NamedTuple):
    name: str
    http: int
    https: int


class Request(NamedTuple):
    """A GET request, without the address that it is sent to."""

    scheme: str
    host: str
    path: str


Answer = dict[str, str]
"""The status and what else is compared, "" for a missing header; or only why there is no answer, as the status."""


def address_in(_context: click.Context, _option: click.Parameter, value: str) -> Address:
    """Return the address in a text. Raises click.BadParameter."""
    match = _ADDRESS.fullmatch(value)
    # With a single colon, it is neither a name nor IPv6: a port is missing.
    if not match or match["name"].count(":") == 1:
        example = "203.0.113.10, or with a port for http and one for https 203.0.113.10:8080,8443"
        raise click.BadParameter(f"{quoted(value)} is no address, such as {example}")
    return Address(match["name"], int(match["http"] or 80), int(match["https"] or 443))


@click.command(short_help="Ask an old and a new controller for every URL, and print what differs.")
@click.option("--old", metavar="ADDRESS", required=True, callback=address_in, help="Where the old controller listens.")
@click.option("--new", metavar="ADDRESS", required=True, callback=address_in, help="Where the new one does.")
@click.option("--class", "ingress_class", metavar="NAME", default="nginx", show_default=True, help="Whose Ingresses.")
@with_source(*ALL_OBJECTS)
@click.pass_context
def compare(context: click.Context, source: Source, old: Address, new: Address, ingress_class: str) -> None:
    """Ask two controllers for each host and path of the Ingresses of a class, and print what differs.

    `compare` asks by http and by https, GET alone, and compares the status, Location, the names of cookies, and the
    headers WWW-Authenticate and Strict-Transport-Security, and whether a browser would trust the certificate. It
    follows no redirect, and asks for no host that only an annotation names, such as server-alias. Behind an address,
    there may be a port for http and one for https.

    Exit status: 0 if all is answered alike, 1 if something differs, or if what is in a file can't be read, 2 for wrong
    use, if a file can't be opened, if kubectl has failed, or if there was nothing to ask.

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
        note(f"There is no Ingress of the class {ingress_class} in what was read.")
        context.exit(2)
    note(f"… asking for {counted(len(requests), 'URL')}, twice")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda request: answer_differences(ask(old, request), ask(new, request)), requests))
    for (request, name), sentences in zip(requests.items(), answers, strict=True):
        for sentence in sentences:
            click.echo(one_line(f"{name} {request.scheme}://{request.host}{request.path} {sentence}"))
    differ = sum(map(bool, answers))
    click.echo(f"{counted(len(requests), 'request')}, {differ:,} differ")
    context.exit(1 if differ else 0)


def requests_of(spec: IngressSpec) -> Iterator[Request]:
    """Yield the requests that an Ingress answers, some perhaps twice."""
    places = [(host, path.path) for host, path in spec.paths()]
    places += [(rule.host, "/") for rule in spec.rules or () if not rule.http]
    places += [("", "/")] if spec.default_backend else []
    for host, path in places:
        name = host.replace("*", ANY_NAME, 1) if host else f"{ANY_NAME}.example.com"
        for scheme in ("http", "https"):
            yield Request(scheme, name, quote(plain_part(path) or "/", safe="/%:@!$&'()*+,;=~"))


def plain_part(path: str) -> str:
    """Return the longest literal beginning of a path that may be a regular expression; all of it, if it isn't one."""
    match = _PLAIN.match(path)
    end = match.end() if match else 0
    # An optional or repeated character isn't part of it.
    end -= path[end : end + 1] in {"?", "*", "{"}
    return re.sub(r"\\(.)", r"\1", path[:end])


def ask(address: Address, request: Request, *, verified: bool = True) -> Answer:
    """Return how the controller at an address answers, and whether a browser would trust its certificate."""
    try:
        with closing(HTTPConnection(address.name, getattr(address, request.scheme), timeout=TIMEOUT)) as connection:
            connection.connect()
            if request.scheme == "https":
                connection.sock = tls(verified=verified).wrap_socket(connection.sock, server_hostname=request.host)
            connection.request("GET", request.path, headers={"Host": request.host, "User-Agent": "ingress-manager"})
            answer = connection.getresponse()
    except ssl.SSLCertVerificationError:  # it is accepted: the old controller may have one, too
        return ask(address, request, verified=False)
    except TimeoutError:
        return {STATUS: f"no answer in {TIMEOUT:.0f} seconds"}
    except (OSError, HTTPException, ValueError) as error:
        return {STATUS: f"no answer ({error})"}
    facts = {name: comparable(name, answer.headers.get_all(name, [])) for name in COMPARED}
    return {STATUS: str(answer.status), **facts, "certificate": "trusted" if verified else "not trusted"}


@cache
def tls(*, verified: bool) -> ssl.SSLContext:
    return ssl.create_default_context() if verified else ssl._create_unverified_context()  # noqa: S323


def comparable(name: str, values: Sequence[str]) -> str:
    """Return the part that is the same in all answers: the names of cookies and of a query's parameters."""
    if name == "Set-Cookie":
        values = sorted(value.partition("=")[0].strip() for value in values)
    elif name == "WWW-Authenticate":
        values = [value.partition(" ")[0] for value in values]
    elif name == "Location":
        values = [re.sub(r"(?<==)[^&#]+", "…", value) for value in values]
    return ", ".join(values)


def answer_differences(old: Answer, new: Answer) -> list[str]:
    """Return a sentence for each difference. A missing answer is always reported."""
    if len(old) == 1 or len(new) == 1 or old[STATUS] != new[STATUS]:
        return [f"{old[STATUS]} → {new[STATUS]}"]
    pairs = {name: (value, new[name]) for name, value in old.items() if value != new[name]}
    return [f"{name}: {' → '.join(quoted(text) if text else 'none' for text in pair)}" for name, pair in pairs.items()]
