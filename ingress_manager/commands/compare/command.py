"""`ingress-manager compare`: the shell."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import click

from ingress_manager.commands.compare.answers import Address, ask, differences
from ingress_manager.commands.compare.requests import Request, requests_of
from ingress_manager.commands.printing.console import note, show, waiting
from ingress_manager.commands.printing.messages import counted
from ingress_manager.commands.reading.kinds import INGRESS, INGRESSES, RESOURCES
from ingress_manager.commands.reading.options import ALL_OBJECTS, Source, with_source
from ingress_manager.commands.view.ingresses import class_of
from ingress_manager.commands.view.typed import as_spec
from ingress_manager.core.text import quoted

AT_ONCE = 16
"""Requests that wait for an answer: few enough for controllers in use."""

NOTHING_ASKED = 2

_ADDRESS = re.compile(r"\[?(?P<name>[^\s,\[\]]+?)\]?(?::(?P<http>\d{1,5}),(?P<https>\d{1,5}))?")


def address_in(_context: click.Context, _option: click.Parameter, value: str) -> Address:
    """Return the address in a text. Raises click.BadParameter."""
    found = _ADDRESS.fullmatch(value)
    # With a single colon, it is neither a name nor of IPv6: a port is missing.
    if not found or found["name"].count(":") == 1:
        right = "203.0.113.10, or with a port for http and one for https 203.0.113.10:8080,8443"
        raise click.BadParameter(f"{quoted(value)} is no address, such as {right}")
    return Address(found["name"], int(found["http"] or 80), int(found["https"] or 443))


@click.command(short_help="Ask an old and a new controller for every URL, and print what differs.")
@click.option("--old", metavar="ADDRESS", required=True, callback=address_in, help="Where the old controller listens.")
@click.option(
    "--new",
    metavar="ADDRESS",
    required=True,
    callback=address_in,
    help="Where the new one does. Either may end in two ports, for http and for https: 203.0.113.20:8080,8443.",
)
@click.option("--class", "ingress_class", metavar="NAME", default="nginx", show_default=True, help="Whose Ingresses.")
@with_source(*ALL_OBJECTS)
@click.pass_context
def compare(context: click.Context, source: Source, old: Address, new: Address, ingress_class: str) -> None:
    """Ask two controllers for each host and path of the Ingresses of a class, and print what differs.

    `compare` asks by http and by https, GET alone, and compares the status, Location, the names of cookies, and the
    headers WWW-Authenticate, Strict-Transport-Security and those of CORS, and whether a browser would trust the
    certificate. It follows no redirect.

    Exit status: 0 if all is answered alike, 1 if something differs or can't be read, 2 for wrong use, if kubectl has
    failed, or if there was nothing to ask.

    \b
    Examples:
      ingress-manager compare --old 203.0.113.10 --new 203.0.113.20 --all-namespaces
      ingress-manager compare --old 203.0.113.10 --new 127.0.0.1:30080,30443 -n team-a
      ingress-manager compare --old 203.0.113.10 --new 203.0.113.20 -f ingresses.yaml --class internal
    """  # noqa: D301 - \b keeps click from joining lines
    manifests = source.read(RESOURCES[INGRESS])
    wrong = 0
    asked: dict[str, list[Request]] = {}
    for item in manifests.of_kind(INGRESSES):
        spec = as_spec(item)
        if isinstance(spec, list):
            wrong += show(spec)
        elif class_of(item, spec) == ingress_class:
            asked[item.full_name] = list(dict.fromkeys(requests_of(spec, item.annotations)))
    requests = list(dict.fromkeys(request for each in asked.values() for request in each))
    if not requests and not wrong:
        note(f"There is no Ingress of the class {ingress_class} in what was read.")
        context.exit(NOTHING_ASKED)
    for option, address in (("--old", old), ("--new", new)):
        check(option, address)
    with waiting(f"asking for {counted(len(requests), 'URL')}, twice"):
        found = dict(zip(requests, ask_both(old, new, requests), strict=True))
    for name, its in asked.items():
        for line in lines(name, {request: found[request] for request in its}):
            click.echo(line)
    differ = sum(bool(each) for each in found.values())
    click.echo(f"{counted(len(requests), 'request')}, {differ:,} differ")
    context.exit(1 if wrong or differ else 0)


def check(option: str, address: Address) -> None:
    """Raise click.ClickException when nothing listens there: each request would wait for that."""
    for port in (address.http, address.https):
        try:
            address.connect(port).close()
        except OSError as error:
            raise click.UsageError(
                f"{option}: nothing can be reached at {address.name}, port {port}: {error}"
            ) from error


def ask_both(old: Address, new: Address, requests: Sequence[Request]) -> Iterable[list[str]]:
    """Return, for each request, what differs."""

    def differs(request: Request) -> list[str]:
        return list(differences(ask(old, request), ask(new, request)))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(differs, requests))


def lines(name: str, found: Mapping[Request, Sequence[str]]) -> Iterator[str]:
    """Yield what differs for an Ingress: each difference once, with its URLs below it."""
    urls: dict[str, list[Request]] = {}
    for request, differ in found.items():
        for each in differ:
            urls.setdefault(each, []).append(request)
    if urls:
        yield name
    for difference, requests in urls.items():
        yield f"  {difference}"
        yield from (f"    {request}" for request in requests)
