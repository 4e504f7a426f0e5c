"""What the hook accepts, nginx accepts: many Services in one configuration, as ingress-nginx writes it.

A configuration that nginx refuses is loaded for nobody: one Service would hold up every tenant's changes.
"""

# ruff: noqa: SIM905 - dozens of values, one a line, are not easier to read

import itertools
import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from devcluster.sync_requests import Object, body, service, sync_request
from hooks.sync import answer
from ingress_manager.core.settings import parse
from tests.core.nginx import PREFIX, complaints
from tools.debian import NGINX, Program, find

BOOLEANS = ["true", "false"]
SWITCH = ["on", "off"]
SECONDS = ["0", "60", "000060", "3600", "999999"]
SIZES = ["0", "1", "1024k", "8m", "8M", "000008m", "999999g"]
RATES = ["1", "10", "999999"]

RIGHT = {
    "ssl-redirect": BOOLEANS,
    "force-ssl-redirect": BOOLEANS,
    "proxy-connect-timeout": SECONDS,
    "proxy-send-timeout": SECONDS,
    "proxy-read-timeout": SECONDS,
    "proxy-body-size": SIZES,
    "proxy-buffering": SWITCH,
    "proxy-request-buffering": SWITCH,
    "proxy-next-upstream-tries": ["0", "3", "999"],
    "backend-protocol": ["HTTP", "HTTPS", "GRPC", "GRPCS"],
    "limit-rps": RATES,
    "limit-rpm": RATES,
    "limit-connections": ["1", "100", "9999"],
}
"""The annotations that a Service's owner may be let set and that reach nginx.conf, and right values: the extremes, too.
F5's controller writes the same directives for the nginx.org/… keys."""

NEARLY_RIGHT = [
    *"-1 +1 00 1.5 1e3 0x10 65535 65536 10000 1000000 2147483648 9223372036854775 9223372036854776".split(),
    *"9223372036854775807 9223372036854775808 1844674407370955163 99999999999999999999 9999999999g".split(),
    *"b 1b 1t 1h 60s 4g ٣ On ON yes t T True TRUE http fcgi AUTO_HTTP 1; 1} 1# $x ' \" \\ {}".split(),
    *("", " ", "8 m", " 8m", "8m ", " 60", "60 ", "60\n", "\n60", " on", "on\n", "HTTP ", "9" * 5000),
]
"""Values that are right for some annotations, or for none. The hook decides which of them reach nginx."""

TYPES = PREFIXES, EXACT, SPECIFIC = "Prefix", "Exact", "ImplementationSpecific"

POLICY = parse(json.dumps({"copyAnnotations": {PREFIX + name: "any" for name in RIGHT}, "pathTypes": TYPES}))
"""Settings that allow as much as an administrator can without writing a value down."""


@pytest.fixture(scope="module")
def nginx() -> Program:
    """Return the nginx that checks, or skip the test, saying how to get one."""
    if found := find(NGINX):
        return found
    pytest.skip("NOT CHECKED WITH NGINX: there is none on PATH or in .build/. `make test-all` gets Debian's.")


def ingresses_of(services: Iterable[Object]) -> list[Object]:
    """Return the Ingresses of the Services that the hook doesn't refuse."""
    answers = [answer(body(sync_request(each)), POLICY) for each in services]
    return [made for given in answers if given.status == 200 for made in json.loads(given.body)["attachments"]]


def named(name: str, annotations: dict[str, str]) -> Object:
    """Return an annotated Service of another name than all others."""
    made = service({"ingress/http": "true"} | annotations)
    made["metadata"]["name"] = name
    return made


# Services made up at random: the seed is fixed, so they are the same each time.

CHARACTERS = [*"abzABZ019-_", *"!&,=:@", *".~", "%20", "%22", "%24", "%3B", "%7B", "%C3%A9"]
OF_PATTERNS = set(".~")
"""Characters that a path can have, but perhaps not one that is ImplementationSpecific."""


def made_up_services(count: int, *, twins: bool = False, shared: bool = False) -> Iterator[Object]:
    """Yield so many Services: right ones, apart from what is asked for.

    With `twins`, a Service can have routes that are one to nginx. With `shared`, Services share hosts, where only
    prefixes are safe: see TWO_SERVICES.
    """
    chance = random.Random(20)  # noqa: S311 - nothing is kept secret with it
    for number in range(count):
        hosts = [f"shared-{few}.example.com" for few in range(5)] if shared else own_hosts(number, chance)
        routes, seen = [], set()
        for _ in range(chance.randint(1, 6)):
            host, path = chance.choice(hosts), made_up_path(chance, few=twins or shared)
            path_type = PREFIXES if shared else chance.choice(TYPES[:2] if OF_PATTERNS & set(path) else TYPES)
            location = (host, path.rstrip("/"), path_type == EXACT)
            if twins or location not in seen:
                routes.append({"host": host, "path": path, "pathType": path_type})
            seen.add(location)
        copied = {
            PREFIX + name: chance.choice(RIGHT[name]) for name in chance.sample(list(RIGHT), chance.randint(0, 3))
        }
        name = f"s{number}"
        # The longest name of a Service makes the longest names in the configuration.
        yield named(name.ljust(chance.choice([0, 0, 63]), "x"), {"ingress/routes": json.dumps(routes)} | copied)


def own_hosts(number: int, chance: random.Random) -> list[str]:
    """Return hosts that only one Service has: short, with a wildcard, of any length, and of 250 characters."""
    own = f"s{number}.example.com"
    label = "".join(chance.choices("abcxyz0189", k=chance.randint(1, 63)))
    return [own, f"*.{own}", f"{label}.{own}", f"{'a' * 63}.{'b-c' * 21}.{'d' * 63}.{'e' * (57 - len(own))}.{own}"]


def made_up_path(chance: random.Random, *, few: bool) -> str:
    """Return a path of up to three segments: one of few, or of any characters that a path may have."""
    segments = [
        chance.choice("ab") if few else "".join(chance.choices(CHARACTERS, k=chance.randint(1, 9)))
        for _ in range(chance.randint(0, 3))
    ]
    return "/" + "".join(f"{segment}/" for segment in segments)[: chance.choice([None, -1])]


@pytest.mark.parametrize(
    "asked_for",
    [
        pytest.param({}, id="right"),
        pytest.param({"twins": True}, id="routes that are one"),
        pytest.param({"shared": True}, id="shared hosts"),
    ],
)
def test_nginx_takes_hundreds_of_made_up_services(asked_for: dict[str, bool], nginx: Program, tmp_path: Path) -> None:
    ingresses = ingresses_of(made_up_services(600, **asked_for))
    assert len(ingresses) >= 500, "hardly any is accepted, so hardly anything is checked"
    assert complaints(ingresses, nginx, tmp_path) == ""


@pytest.mark.parametrize("values", [pytest.param([], id="right"), pytest.param(NEARLY_RIGHT, id="any")])
def test_nginx_takes_every_value_that_the_hook_accepts(values: list[str], nginx: Program, tmp_path: Path) -> None:
    pairs = [(PREFIX + name, value) for name, right in RIGHT.items() for value in [*right, *values]]
    ingresses = ingresses_of(
        named(f"s{number}", {key: value, "ingress/host": f"s{number}.example.com"})
        for number, (key, value) in enumerate(pairs)
    )
    accepted = set(itertools.chain.from_iterable(made["metadata"]["annotations"].items() for made in ingresses))
    assert accepted >= {(PREFIX + name, value) for name, right in RIGHT.items() for value in right}
    assert complaints(ingresses, nginx, tmp_path) == ""


# What is known to be wrong.


class Known(NamedTuple):
    """Services whose Ingresses nginx refuses, if they are written as it is stated here."""

    routes: list[list[tuple[str, str]]]
    """The path and path type of each route of each Service, the oldest first. They share a host."""

    says: str
    """What nginx says."""

    annotations: dict[str, str]

    def __str__(self) -> str:
        routes = " + ".join(", ".join(map(" ".join, each)) for each in self.routes)
        return " ".join([routes, *map(": ".join, self.annotations.items())])


def wrong(name: str, value: str, says: str) -> Known:
    """Return a Service with one wrong value."""
    return Known([[("/", PREFIXES)]], says, {PREFIX + name: value})


def duplicate(location: str, *routes: list[tuple[str, str]]) -> Known:
    """Return Services with these routes, which are written as one location."""
    return Known(list(routes), f'duplicate location "{location}"', {})


VALUES = [
    wrong("proxy-read-timeout", "-1", '"proxy_read_timeout" directive invalid value'),
    wrong("proxy-read-timeout", "9223372036854775807", '"proxy_read_timeout" directive invalid value'),
    wrong("proxy-send-timeout", "-1", '"proxy_send_timeout" directive invalid value'),
    wrong("proxy-connect-timeout", "9223372036854776", '"proxy_connect_timeout" directive invalid value'),
    wrong("proxy-body-size", "99999999999999999999", '"client_max_body_size" directive invalid value'),
    wrong("proxy-body-size", "9999999999g", '"client_max_body_size" directive invalid value'),
    wrong("proxy-next-upstream-tries", "-1", '"proxy_next_upstream_tries" directive invalid number'),
    wrong("limit-connections", "65536", "connection limit must be less 65536"),
    wrong("limit-rps", "1844674407370955163", 'invalid burst value "burst=-'),
    wrong("limit-rpm", "1844674407370955163", 'invalid burst value "burst=-'),
]
"""Values that ingress-nginx writes unchecked. The burst that it writes is five times the rate, and wraps."""

ONE_SERVICE = [
    duplicate("/a/", [("/a", PREFIXES), ("/a/", PREFIXES)]),
    duplicate("/a/", [("/a", PREFIXES), ("/a/", SPECIFIC)]),
    duplicate("/a/", [("/a", EXACT), ("/a", PREFIXES), ("/a", SPECIFIC)]),
]
"""Routes of one Service that are one location to nginx."""

SPELLINGS = [duplicate("/a/", [("/a", PREFIXES)], [("/a/", PREFIXES)])]
"""One prefix in two Services: harmless when the hook writes it in one way, because the older Ingress then has it."""

TWO_SERVICES = [
    duplicate("/", [("/", EXACT)], [("/", EXACT)]),
    duplicate("/a/", [("/a", EXACT), ("/a", PREFIXES)], [("/a", PREFIXES)]),
    duplicate("/a", [("/a", PREFIXES), ("/a", EXACT)], [("/a", EXACT)]),
    duplicate("/a/", [("/a", PREFIXES)], [("/a/", SPECIFIC)]),
]
"""Two Services that are right, each by itself; one owner can have both. The hook sees one Service at a time, so it
can't refuse the other. ingress-nginx's admission webhook does, where it is installed (checkOverlap in
controller/controller.go). Without it, only an administrator who allows no path type but Prefix is safe."""


def as_stated(known: Known) -> list[Object]:
    """Return the Ingresses with these paths and values, past the hook."""
    backend = {"service": {"port": {"number": 80}}}
    return [
        {
            "metadata": {"name": f"s{number}", "namespace": "team-a", "annotations": known.annotations},
            "spec": {
                "rules": [
                    {
                        "host": "example.com",
                        "http": {"paths": [{"path": at, "pathType": how, "backend": backend} for at, how in routes]},
                    }
                ]
            },
        }
        for number, routes in enumerate(known.routes)
    ]


@pytest.mark.parametrize("known", [*VALUES, *ONE_SERVICE, *SPELLINGS, *TWO_SERVICES], ids=str)
def test_nginx_refuses_what_is_known_to_be_wrong(known: Known, nginx: Program, tmp_path: Path) -> None:
    assert known.says in complaints(as_stated(known), nginx, tmp_path)


@pytest.mark.parametrize("known", [*VALUES, *ONE_SERVICE, *SPELLINGS], ids=str)
def test_the_hook_lets_nothing_through_that_is_known_to_be_wrong(known: Known, nginx: Program, tmp_path: Path) -> None:
    asking = [
        named(
            f"s{number}",
            {"ingress/routes": json.dumps([{"path": at, "pathType": how} for at, how in routes])} | known.annotations,
        )
        for number, routes in enumerate(known.routes)
    ]
    # One that is right comes last, so that there is something to check where all others are refused.
    assert complaints(ingresses_of([*asking, named("right", {"ingress/path": "/right"})]), nginx, tmp_path) == ""
