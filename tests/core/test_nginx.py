"""What the hook accepts, nginx accepts: many Services in one configuration, as ingress-nginx writes it.

A configuration that nginx refuses is loaded for nobody: one Service would hold up every tenant's changes.

The configuration is that of ingress-nginx 1.15.1 (internal/ingress/ and nginx.tmpl), as far as Services decide what is
in it. Values are written as they are, also those that ingress-nginx would leave out: so the hook is held to more.
"""

# ruff: noqa: SIM905 - dozens of values, one a line, are not easier to read

import itertools
import json
import os
import random
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from devcluster.sync_requests import Object, body, service, sync_request
from hooks.sync import answer
from ingress_manager.core.settings import parse

FOLDERS = " ".join(f"{name}_temp_path {name};" for name in ("client_body", "fastcgi", "proxy", "scgi", "uwsgi"))
"""nginx would create these folders, even in a test, where it was built to have them."""

BOOLEANS = ["true", "false"]
SWITCH = ["on", "off"]
SECONDS = ["0", "60", "000060", "3600", "999999"]
RATES = ["1", "10", "999999"]

KNOWN: dict[str, tuple[list[str], str]] = {
    "ssl-redirect": (BOOLEANS, 'set $ssl_redirect "{}"'),
    "force-ssl-redirect": (BOOLEANS, 'set $force_ssl_redirect "{}"'),
    "proxy-connect-timeout": (SECONDS, "proxy_connect_timeout {0}s; grpc_connect_timeout {0}s"),
    "proxy-send-timeout": (SECONDS, "proxy_send_timeout {0}s; grpc_send_timeout {0}s"),
    "proxy-read-timeout": (SECONDS, "proxy_read_timeout {0}s; grpc_read_timeout {0}s"),
    "proxy-http-version": (["1.0", "1.1"], "proxy_http_version {}"),
    "proxy-buffer-size": (["1", "4096", "128k", "999999K", "999M"], "proxy_buffer_size {0}; proxy_buffers 4 {0}"),
    "proxy-body-size": (["0", "1", "1024k", "8m", "8M", "000008m", "999999g"], "client_max_body_size {}"),
    "proxy-buffering": (SWITCH, "proxy_buffering {}"),
    "proxy-request-buffering": (SWITCH, "proxy_request_buffering {}"),
    "proxy-next-upstream-tries": (["0", "3", "999"], "proxy_next_upstream_tries {}"),
    "backend-protocol": (["HTTP", "HTTPS", "GRPC", "GRPCS"], ""),
    "limit-rps": (RATES, ""),
    "limit-rpm": (RATES, ""),
    "limit-connections": (["1", "100", "9999"], ""),
}
"""The annotations that a Service's owner may be let set and that reach nginx.conf; right values, the extremes, too; and
the directive, where it is one by itself. F5's controller writes the same directives for the nginx.org/… keys."""

PREFIX = "nginx.ingress.kubernetes.io/"
NEARLY_RIGHT = [
    *"-1 +1 00 1.5 1e3 0x10 65535 65536 10000 1000000 2147483648 9223372036854775 9223372036854776".split(),
    *"9223372036854775807 9223372036854775808 1844674407370955163 99999999999999999999 9999999999g".split(),
    *"b 1b 1t 1h 60s 4g ٣ On ON yes t T True TRUE http fcgi AUTO_HTTP 1; 1} 1# $x ' \" \\ {}".split(),
    *("", " ", "8 m", " 8m", "8m ", " 60", "60 ", "60\n", "\n60", " on", "on\n", "HTTP ", "9" * 5000),
]
"""Values that are right for some annotations, or for none. The hook decides which of them reach nginx."""

TYPES = PREFIXES, EXACT, SPECIFIC = "Prefix", "Exact", "ImplementationSpecific"
LIMITS = {"copyAnnotations": {PREFIX + name: "any" for name in KNOWN}, "pathTypes": TYPES}
POLICY = parse(json.dumps({"limits": LIMITS}))
"""Settings that allow as much as an administrator can without writing a value down."""


@pytest.fixture(scope="module")
def nginx() -> str:
    """Return the nginx that checks, or skip the test, saying how to get one."""
    if found := shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin"):
        return found
    pytest.skip("NOT CHECKED WITH NGINX: there is none on PATH. Debian's package nginx-light has it.")


def complaints(ingresses: Iterable[Object], nginx: str, folder: Path) -> str:
    """Return what nginx says against one configuration for all `ingresses`, oldest first; "" when it takes it."""
    servers: dict[str, dict[tuple[str, bool], Object]] = {}
    for ingress in ingresses:
        for rule in ingress["spec"]["rules"]:
            locations = servers.setdefault(rule["host"], {("/", False): ingress})
            for path in rule["http"]["paths"]:
                # The older Ingress has a location, if both state it in the same way.
                locations.setdefault((path["path"], path["pathType"] == EXACT), ingress)
    used = {each["metadata"]["name"]: each for locations in servers.values() for each in locations.values()}
    bucket = 1 << (16 + max(map(len, servers)) + 9).bit_length()
    (folder / "nginx.conf").write_text(f"""
pid nginx.pid;
events {{}}
http {{
    access_log off;
    {FOLDERS}
    server_names_hash_max_size {1 << sum(map(len, servers)).bit_length()};
    server_names_hash_bucket_size {bucket};
    variables_hash_bucket_size 256;
    upstream upstream_balancer {{ server 0.0.0.1; }}
    {"".join(itertools.chain.from_iterable(zones(each) for each in used.values()))}
    {"".join(server(host, locations) for host, locations in servers.items())}
}}
""")
    # -e: until nginx has read where its log is, it would open the one that it was built for.
    command = [nginx, "-t", "-q", "-e", "stderr", "-p", ".", "-c", "nginx.conf"]
    tested = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return (tested.stderr or f"status {tested.returncode}") if tested.returncode else ""


def server(host: str, locations: dict[tuple[str, bool], Object]) -> str:
    """Return the server of a host: a prefix ends in a slash, and is an exact location, too, unless there is one."""
    if host.startswith("*."):
        host = r"~^(?<subdomain>[\w-]+)" + host[1:].replace(".", r"\.") + "$"
    written = []
    for (path, exact), ingress in locations.items():
        lines = "".join(f"    {line};\n" for line in directives(ingress))
        if not exact:
            written.append(f'location "{path.removesuffix("/")}/" {{\n{lines}}}\n')
        if exact or (path != "/" and (path, True) not in locations):
            written.append(f'location = "{path}" {{\n{lines}}}\n')
    # A socket in the folder: even a test opens what it is to listen at, and a port may be taken.
    return f"server {{\nserver_name {json.dumps(host)};\nlisten unix:nginx.sock;\n{''.join(written)}}}\n"


def values_of(ingress: Object) -> dict[str, str]:
    """Return the annotations that ingress-nginx reads, without its domain."""
    annotations = ingress["metadata"].get("annotations", {})
    return {key.removeprefix(PREFIX): value for key, value in annotations.items() if key.startswith(PREFIX)}


def directives(ingress: Object) -> Iterator[str]:
    """Yield the directives of a location, as far as annotations decide them."""
    values = values_of(ingress)
    yield f'set $ingress_name "{ingress["metadata"]["name"]}"'
    yield from (KNOWN[name][1].format(value) for name, value in values.items() if KNOWN[name][1])
    for unit, limit in limits(values):
        burst = (limit * 5 + 2**63) % 2**64 - 2**63  # Go's int wraps
        yield f"limit_req zone={ingress['metadata']['name']}_rp{unit} burst={burst} nodelay"
    if "limit-connections" in values:
        yield f"limit_conn {ingress['metadata']['name']}_conn {values['limit-connections']}"
    protocol = values.get("backend-protocol", "HTTP").lower()
    yield f"{'grpc' if 'grpc' in protocol else 'proxy'}_pass {protocol}://upstream_balancer"


def limits(values: dict[str, str]) -> Iterator[tuple[str, int]]:
    """Yield the unit of time and the number of each limit of requests."""
    yield from ((unit, int(values[f"limit-rp{unit}"])) for unit in "sm" if f"limit-rp{unit}" in values)


def zones(ingress: Object) -> Iterator[str]:
    """Yield what the limits of an Ingress need in the http block, once each."""
    name, values = ingress["metadata"]["name"], values_of(ingress)
    for unit, limit in limits(values):
        yield f"limit_req_zone $binary_remote_addr zone={name}_rp{unit}:5m rate={limit}r/{unit};\n"
    if "limit-connections" in values:
        yield f"limit_conn_zone $binary_remote_addr zone={name}_conn:5m;\n"


def ingresses_of(services: Iterable[Object]) -> list[Object]:
    """Return the Ingresses of the Services that the hook doesn't refuse."""
    answers = [answer(body(sync_request(each)), POLICY) for each in services]
    return [made for given in answers if given.status == 200 for made in json.loads(given.body)["attachments"]]


def named(name: str, annotations: dict[str, str]) -> Object:
    """Return an annotated Service of another name than all others."""
    made = service({"ingress/http": "true"} | annotations)
    made["metadata"]["name"] = name
    return made


CHARACTERS = [*"abzABZ019-_", *"!&,=:@", *".~", "%20", "%22", "%24", "%3B", "%7B", "%C3%A9"]


def made_up_services(twins: bool, shared: bool) -> Iterator[Object]:
    """Yield 600 Services, the same ones each time: right ones, apart from what is asked for.

    With `twins`, a Service can have routes that are one to nginx. With `shared`, Services share hosts, where only
    prefixes are safe: the hook sees one Service at a time, so it can't refuse a location that another one has, too.
    """
    chance = random.Random(20)  # noqa: S311 - nothing is kept secret with it
    for number in range(600):
        own = f"s{number}.example.com"
        longest = f"{'a' * 63}.{'b-c' * 21}.{'d' * 63}.{'e' * (57 - len(own))}.{own}"
        hosts = [f"shared-{few}.example.com" for few in range(5)] if shared else [own, f"*.{own}", longest]
        routes, seen = [], set()
        for _ in range(chance.randint(1, 6)):
            characters = "ab/" if twins or shared else [*CHARACTERS, "/"]
            path = "/" + "".join(chance.choices(characters, k=chance.randint(0, 9))).strip("/").replace("//", "/")
            path += chance.choice(["", "/"]) if path != "/" else ""
            types = (PREFIXES,) if shared else TYPES[:2] if {".", "~"} & set(path) else TYPES
            route = {"host": chance.choice(hosts), "path": path, "pathType": chance.choice(types)}
            location = (route["host"], path.rstrip("/"), route["pathType"] == EXACT)
            if twins or location not in seen:
                routes.append(route)
            seen.add(location)
        copied = {
            PREFIX + name: chance.choice(KNOWN[name][0]) for name in chance.sample(list(KNOWN), chance.randint(0, 3))
        }
        # The longest name of a Service makes the longest names in the configuration.
        yield named(f"s{number}".ljust(chance.choice([0, 0, 63]), "x"), {"ingress/routes": json.dumps(routes)} | copied)


@pytest.mark.parametrize(("twins", "shared"), [(False, False), (True, False), (False, True)])
def test_nginx_takes_hundreds_of_made_up_services(twins: bool, shared: bool, nginx: str, tmp_path: Path) -> None:
    ingresses = ingresses_of(made_up_services(twins, shared))
    assert len(ingresses) >= 300, "hardly any is accepted, so hardly anything is checked"
    assert complaints(ingresses, nginx, tmp_path) == ""


def test_nginx_takes_every_value_that_the_hook_accepts(nginx: str, tmp_path: Path) -> None:
    pairs = [(PREFIX + name, value) for name, (right, _) in KNOWN.items() for value in [*right, *NEARLY_RIGHT]]
    ingresses = ingresses_of(
        named(f"s{number}", {key: value, "ingress/host": f"s{number}.example.com"})
        for number, (key, value) in enumerate(pairs)
    )
    accepted = set(itertools.chain.from_iterable(made["metadata"]["annotations"].items() for made in ingresses))
    assert accepted >= {(PREFIX + name, value) for name, (right, _) in KNOWN.items() for value in right}
    assert complaints(ingresses, nginx, tmp_path) == ""


@pytest.mark.parametrize(
    ("routes", "annotation", "says"),
    [
        ([["Prefix /"]], ("proxy-read-timeout", "-1"), '"proxy_read_timeout" directive invalid value'),
        ([["Prefix /"]], ("limit-connections", "65536"), "connection limit must be less 65536"),
        ([["Prefix /"]], ("limit-rps", "1844674407370955163"), 'invalid burst value "burst=-'),
        ([["Prefix /a", "Prefix /a/"]], None, 'duplicate location "/a/"'),
        ([["Prefix /a"], ["Prefix /a/"]], None, 'duplicate location "/a/"'),
    ],
)
def test_nginx_refuses_what_the_hook_must_not_let_through(
    routes: list[list[str]], annotation: tuple[str, str] | None, says: str, nginx: str, tmp_path: Path
) -> None:
    """So the configuration that is written here shows a mistake. The last are two Services, each of which is right."""
    annotations = {PREFIX + annotation[0]: annotation[1]} if annotation else {}
    made = [
        {
            "metadata": {"name": f"s{number}", "annotations": annotations},
            "spec": {"rules": [{"host": "example.com", "http": {"paths": paths}}]},
        }
        for number, each in enumerate(routes)
        for paths in [[dict(zip(("pathType", "path"), route.split(), strict=True)) for route in each]]
    ]
    assert says in complaints(made, nginx, tmp_path)
