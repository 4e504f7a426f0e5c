"""Kubernetes' own validation takes every Ingress that the hook makes.

    python -m tests.core.validation [--count N] [--seconds N] [--seed N]

Services are made up at random, near the edges of what the hook accepts, and the hook answers each. Every Ingress goes
to the API server's validation, compiled as it is (devcluster/controlplane/cmd/ingressvalidator), with what
Metacontroller adds to it. One that is rejected is a finding: the Service would never get its Ingress, though the hook
has nothing against it. A search stops soon after its first finding.

tests/core/kubernetes.py is the same validation rewritten: it needs no Go, but it can be wrong.
"""

# ruff: noqa: SIM905 - forty short texts, one a line, are not easier to read

import re
import secrets
import string
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeVar

import click
import msgspec

from devcluster.build import Progress
from devcluster.console import Command, end_on_signals, progress
from devcluster.errors import CommandFailed
from devcluster.programs import VALIDATOR, find_own
from devcluster.sync_requests import Object, as_created, body, service, sync_request
from hooks import sync as metacontroller
from ingress_manager.core import settings

LETTERS, DIGITS = string.ascii_lowercase, string.digits
LABELS = (LETTERS, DIGITS, "0x123abcdef", f"{LETTERS}{DIGITS}-", "a0--")
"""What the labels of hosts and names are made of."""

NUMBER_LIKE = re.compile(r"(.*\.)?([0-9]+|0x[0-9a-f]*)")
"""A host whose last label is a number for some programs, so that the hook takes it for an IP address."""

PATH_CHARACTERS = {
    "Prefix": f"{string.ascii_letters}{DIGITS}/._~!&,=:@-",
    "Exact": f"{string.ascii_letters}{DIGITS}/._~!&,=:@-",
    "ImplementationSpecific": f"{string.ascii_letters}{DIGITS}/_!&,=:@-",
}
"""By path type, the characters that a path may hold."""

ESCAPES = [
    f"%{digits}"
    for number in {*range(0x20, 0x7F), *range(0x80, 0x100)} - {*b"%./\\"}
    for digits in (f"{number:02x}", f"{number:02X}")
]
"""What a path of any type may hold beside them."""

ALMOST_DOTS = ("/...", "/.a", "/a.", "/..a", "/a..")
"""Nearly the segments that a path may not hold."""

PATH_PIECES = {
    path_type: [*5 * characters, *30 * "/", *ESCAPES, *(3 * ALMOST_DOTS if "." in characters else ())]
    for path_type, characters in PATH_CHARACTERS.items()
}
"""By path type, what paths are made of; each piece is there as often as it is wanted."""

KEY_CHARACTERS = f"{string.ascii_letters}{DIGITS}-_."
COPIED = [
    f"{domain}/a{middle * length}z"
    for domain in ("example.org", "kubernetes.io", "a", "0-0.b")
    for middle in KEY_CHARACTERS
    for length in (0, 1, 61)
]
"""Keys of annotations that are copied, with any value."""

POLICY = settings.parse(
    msgspec.json.encode(
        {
            "host": "{service}.{namespace}.example.com",
            "pathTypes": list(PATH_CHARACTERS),
            "copyAnnotations": dict.fromkeys(["example.com/anything", *COPIED], "any"),
        }
    ).decode()
)
ANYTHING = f"{string.printable}\0\x7fü€😀\u2028\u202e"

SPOILERS: tuple[str, ...] = (
    *"// /. /.. /./ /../ / . .. - _ * *. ** , % %2f %2F %5c %2e A ü a 0 0x :80 \\ ? # ; { } $ [ '".split(),
    *" \n\0",
    "",
)
"""What takes the place of a part of a value, so that it is nearly right. What Kubernetes rejects, the hook refuses."""

BATCH = 500
"""Services between two runs of the validator."""

MOST_SHOWN = 5
"""Findings that are printed, and complaints of each: one mistake can spoil every Ingress and each of its paths."""

GO_ESCAPES = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})
"""What Go escapes in JSON though it need not."""

Drawn = TypeVar("Drawn")


class Maker:
    """Makes up Services; with the same seed, the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311 - it keeps no secrets

    def one_in(self, chances: int) -> bool:
        return self.random.randrange(chances) == 0

    def pick(self, values: Sequence[Drawn]) -> Drawn:
        return self.random.choice(values)

    def number(self, most: int, usual: int) -> int:
        """Return a number from 1 to `most`: sometimes the most, sometimes any, else one up to `usual`."""
        if self.one_in(10):
            return most
        return self.random.randint(1, most if self.one_in(10) else min(most, usual))

    def several(self, most: int, draw: Callable[[], Drawn]) -> list[Drawn]:
        """Return up to three different values, and once in a while as many as there may be."""
        count = most if self.one_in(100) else self.random.randint(1, 3)
        made: dict[Drawn, None] = {}
        while len(made) < count:
            made[draw()] = None
        return [*made]

    def text(self, characters: str, length: int) -> str:
        return "".join(self.random.choices(characters, k=length))

    def label(self, length: int) -> str:
        made = re.sub("^-|-$", "0", self.text(self.pick(LABELS), length))
        return f"xn--{made[4:]}" if length > 4 and self.one_in(10) else made

    def labels(self, length: int, longest: int) -> str:
        """Return labels with dots between, of `length` characters in all."""
        made = []
        while length > 0:
            size = min(length, self.number(longest, usual=8))
            if length - size == 1:  # A dot would be left over, and no label after it.
                size += 1 if size < longest else -1
            made.append(self.label(size))
            length -= size + 1
        return ".".join(made)

    def name(self) -> str:
        """Return the name of an IngressClass or a Secret. Kubernetes lets its labels be as long as the name."""
        return self.labels(self.number(253, usual=20), longest=253)

    def host(self, longest: int = 253) -> str:
        wildcard = "*." if self.one_in(8) else ""
        made = self.labels(self.number(longest - len(wildcard), usual=30), longest=63)
        if NUMBER_LIKE.fullmatch(made):
            last = made.rfind(".") + 1
            made = f"{made[:last]}{self.pick(LETTERS)}{made[last + 1 :]}"
        return wildcard + made

    def path(self, path_type: str, longest: int = 1024) -> str:
        length = self.number(longest, usual=20)
        made = f"/{''.join(self.random.choices(PATH_PIECES[path_type], k=length))}"[:length]
        # The last piece can be cut, and two of them can make // or a segment of dots.
        for wrong in (r"%.?$", r"(?<=/)/+", r"(?<=/)\.\.?(?=/|$)"):
            made = re.sub(wrong, lambda found: "a" * len(found[0]), made)
        return made

    def ports(self) -> list[Object]:
        """Return ports of a Service, whose numbers and names differ, as the API server requires."""
        numbers = self.several(20, lambda: self.pick([1, 80, 443, 65535, self.random.randint(1, 65535)]))
        names = self.several(20, lambda: self.label(self.number(63, usual=8)))
        ports: list[Object] = [{"port": number, "protocol": "TCP"} for number in numbers]
        for port, name in zip(ports, names, strict=False):
            port["name"] = name
        return ports

    def one_of(self, ports: list[Object]) -> str:
        """Return how an annotation asks for one of the ports: by its name, if it has one, or by its number."""
        port = self.pick(ports)
        return str(port.get("name", port["port"]) if self.one_in(2) else port["port"])

    def service(self) -> Object:
        """Return a Service that wants an Ingress. The API server takes it; the hook takes most."""
        if self.one_in(200):
            return self.service_with_most_paths()
        ports = self.ports()
        annotations = self.routes(ports) if self.one_in(3) else self.route(ports)
        if self.one_in(4):
            annotations["ingress/class"] = self.name()
        if self.one_in(3):
            annotations["ingress/tls-secret"] = self.name()
        elif self.one_in(3):
            annotations["ingress/tls"] = self.pick(["true", "false"])
        if self.one_in(3):
            annotations |= self.others()
        if self.one_in(4):
            key = self.pick([*annotations])
            annotations[key] = self.spoiled(annotations[key])
        made = service({"ingress/http": "true"} | annotations, ports=ports)
        made["metadata"]["name"] = self.label(self.number(63, usual=8))
        made["metadata"]["namespace"] = self.label(self.number(63, usual=8))
        return made

    def route(self, ports: list[Object]) -> dict[str, str]:
        """Return annotations that ask for one path, at one host or several."""
        path_type = self.pick([*PATH_CHARACTERS])
        made = {"ingress/path": self.path(path_type), "ingress/port": self.one_of(ports)}
        if path_type != "Prefix" or self.one_in(2):
            made["ingress/path-type"] = path_type
        if not self.one_in(5):
            made["ingress/host"] = ",".join(self.several(100, self.host))
        return made

    def routes(self, ports: list[Object]) -> dict[str, str]:
        """Return annotations that ask for several paths: each at a host of its own, or all at the same hosts."""
        short = self.one_in(10)  # so short that 100 routes fit into the annotation
        own_host, own_port = self.one_in(2), self.one_in(2)

        def route() -> tuple[tuple[str, str], ...]:
            path_type = self.pick([*PATH_CHARACTERS])
            fields = [("path", self.path(path_type, 60 if short else 1024)), ("pathType", path_type)]
            if own_host:
                fields.append(("host", self.host(60 if short else 253)))
            if own_port:
                fields.append(("port", self.one_of(ports)))
            return tuple(fields)

        made = {"ingress/routes": as_yaml(map(dict, self.several(100 if short else 10, route)))}
        if not own_host:
            made["ingress/host"] = ",".join(self.several(10, self.host))
        if not own_port:
            made["ingress/port"] = self.one_of(ports)
        return made

    def service_with_most_paths(self) -> Object:
        """Return a Service whose Ingress has 1,000 paths, and is nearly as large as it may be."""
        hosts = [f"h{number}.{self.host(20).removeprefix('*.')}" for number in range(10)]
        routes = [{"path": f"/{number}", "pathType": "Exact"} for number in range(100)]
        made = service({"ingress/http": "true", "ingress/host": ",".join(hosts), "ingress/routes": as_yaml(routes)})
        made["metadata"]["name"] = self.label(2)
        return made

    def others(self) -> dict[str, str]:
        """Return annotations for an ingress controller. All are copied but the last, which contradicts the class."""
        return {
            self.pick(COPIED): self.text(ANYTHING, self.number(1000, usual=20)),
            "example.com/anything": self.text(ANYTHING, 10) * (self.number(10_000, usual=1) if self.one_in(3) else 1),
            "kubernetes.io/ingress.class": self.name(),
        }

    def spoiled(self, value: str) -> str:
        """Return the value with something put into it, or with something else in place of a character or two."""
        start = self.random.randint(0, len(value))
        return value[:start] + self.pick(SPOILERS) + value[start + self.random.randint(0, 2) :]


def as_yaml(routes: Iterable[Any]) -> str:
    """Return the value of ingress/routes. JSON is YAML."""
    return msgspec.json.encode([*routes]).decode()


def ingress_for(parent: Object) -> Object | None:
    """Return the Ingress that the hook makes for a Service; None when it refuses the Service."""
    answer = metacontroller.answer(body(sync_request(parent)), POLICY)
    if answer.status == 422:
        return None
    assert answer.status == 200, answer
    (desired,) = msgspec.json.decode(answer.body, type=dict[str, Any])["attachments"]
    return dict(desired)


def as_sent(desired: Object, parent: Object) -> Object:
    """Return the Ingress as Metacontroller creates it: with its owner, and with a copy of itself as an annotation."""
    sent = as_created(desired, parent)
    copy = msgspec.json.encode(desired).decode().translate(GO_ESCAPES)
    sent["metadata"]["annotations"]["metacontroller.k8s.io/last-applied-configuration"] = copy
    return sent


def complaints(program: Path, objects: Sequence[Object]) -> list[list[str]]:
    """Return what Kubernetes has against each object, if it were to create it. Raises CommandFailed."""
    lines = b"".join(msgspec.json.encode(each) + b"\n" for each in objects)
    ended = subprocess.run([program], input=lines, capture_output=True, timeout=60, check=False)
    if ended.returncode:
        raise CommandFailed(f"the validator: {ended.stderr.decode().strip()}")
    return [msgspec.json.decode(line, type=list[str]) for line in ended.stdout.splitlines()]


class Finding(NamedTuple):
    """A Service whose Ingress Kubernetes rejects, and why."""

    service: Object
    complaints: list[str]

    def __str__(self) -> str:
        reasons = "\n  ".join(self.complaints[:MOST_SHOWN])
        return f"REJECTED is the Ingress of {msgspec.json.encode(self.service).decode()}\n  {reasons}"


@dataclass
class Search:
    """What was done, and what was found."""

    services: int = 0
    refused: int = 0
    """Services that the hook refuses."""

    accepted: int = 0
    """Ingresses that Kubernetes accepts."""

    findings: list[Finding] = field(default_factory=list)

    def go_on(self, program: Path, maker: Maker, count: int) -> None:
        """Make up so many Services, and let Kubernetes validate their Ingresses. Raises CommandFailed."""
        parents = [maker.service() for _ in range(count)]
        made = [(parent, desired) for parent in parents if (desired := ingress_for(parent))]
        answers = complaints(program, [as_sent(desired, parent) for parent, desired in made])
        self.findings += [Finding(parent, found) for (parent, _), found in zip(made, answers, strict=True) if found]
        self.services += len(parents)
        self.accepted += sum(not found for found in answers)
        self.refused += len(parents) - len(made)


def search(program: Path, seed: int, report: Progress, *, count: float, seconds: float) -> Search:
    """Make up so many Services, but stop after so long, or when something is found. Raises CommandFailed."""
    done, maker = Search(), Maker(seed)
    started = reported = time.monotonic()
    while not done.findings and done.services < count and (now := time.monotonic()) - started < seconds:
        if now - reported >= 2:
            report(f"validation: {done.accepted:,} Ingresses accepted in {now - started:.0f} s")
            reported = now
        done.go_on(program, maker, int(min(BATCH, count - done.services)))
    return done


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--count", type=click.IntRange(min=1), metavar="N", help="Stop after so many Services.")
@click.option("--seconds", type=click.IntRange(min=1), metavar="N", help="Stop after so long.")
@click.option("--seed", type=int, metavar="N", help="Make up the same Services as a run that printed this seed.")
def main(count: int | None, seconds: int | None, seed: int | None) -> None:
    """Let Kubernetes' own validation judge the Ingresses of made-up Services: of 10,000, if no option says how many.

    Exit status: 0 when all were accepted, 1 when one was rejected, 2 when the validator is missing.
    """
    if count is None and seconds is None:
        count = 10_000
    if seed is None:
        seed = secrets.randbelow(1_000_000)
    with progress() as report:
        program = find_own(VALIDATOR, report)
        done = search(program.path, seed, report, count=count or float("inf"), seconds=seconds or float("inf"))
    for finding in done.findings[:MOST_SHOWN]:
        click.echo(finding)
    click.echo(
        f"validation: {done.accepted:,} Ingresses accepted by Kubernetes' own validation ({program.version}), "
        f"{len(done.findings) or 'none'} rejected (seed {seed}; the hook refused {done.refused:,} other Services)"
    )
    raise SystemExit(1 if done.findings else 0)


if __name__ == "__main__":
    end_on_signals()
    main(prog_name="python -m tests.core.validation")
