"""What the hook accepts, nginx accepts: every value that is copied, in one configuration, as ingress-nginx writes it.

A configuration that nginx refuses is loaded for nobody: one Service would hold up every tenant's changes.

The configuration is that of ingress-nginx 1.15.1 (internal/ingress/ and nginx.tmpl), as far as Services decide what is
in it. Values are written as they are, also those that ingress-nginx would leave out: so the hook is held to more.
"""

# ruff: noqa: SIM905 - dozens of values, one a line, are not easier to read

import json
import os
import shutil
import subprocess
from itertools import combinations_with_replacement
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

RATE = "limit_req zone=l{n} burst={burst} nodelay;"

KNOWN: dict[str, tuple[list[str], str]] = {
    "ssl-redirect": (BOOLEANS, 'set $ssl_redirect "{0}";'),
    "force-ssl-redirect": (BOOLEANS, 'set $force_ssl_redirect "{0}";'),
    "proxy-connect-timeout": (SECONDS, "proxy_connect_timeout {0}s; grpc_connect_timeout {0}s;"),
    "proxy-send-timeout": (SECONDS, "proxy_send_timeout {0}s; grpc_send_timeout {0}s;"),
    "proxy-read-timeout": (SECONDS, "proxy_read_timeout {0}s; grpc_read_timeout {0}s;"),
    "proxy-http-version": (["1.0", "1.1"], "proxy_http_version {0};"),
    "proxy-buffer-size": (["1", "4096", "128k", "999999K", "999M"], "proxy_buffer_size {0}; proxy_buffers 4 {0};"),
    "proxy-body-size": (["0", "8M", "000008m", "999999g", "10485760", "9" * 15], "client_max_body_size {0};"),
    "proxy-buffering": (SWITCH, "proxy_buffering {0};"),
    "proxy-request-buffering": (SWITCH, "proxy_request_buffering {0};"),
    "proxy-next-upstream-tries": (["0", "3", "999"], "proxy_next_upstream_tries {0};"),
    "backend-protocol": (["HTTP", "HTTPS", "GRPC", "GRPCS", "AUTO_HTTP", "http", "Https", "auto_http"], ""),
    "limit-rps": (RATES, RATE),
    "limit-rpm": (RATES, RATE),
    "limit-connections": (["1", "100", "9999"], "limit_conn l{n} {0};"),
}
"""The annotations that a Service's owner may be let set and that reach nginx.conf; right values, the extremes, too; and
the directives of a location. F5's controller writes the same directives for the nginx.org/… keys."""

ZONES = {
    "limit-rps": "limit_req_zone $binary_remote_addr zone=l{n}:5m rate={0}r/s;",
    "limit-rpm": "limit_req_zone $binary_remote_addr zone=l{n}:5m rate={0}r/m;",
    "limit-connections": "limit_conn_zone $binary_remote_addr zone=l{n}:5m;",
}
"""What a limit needs in the http block."""

PREFIX = "nginx.ingress.kubernetes.io/"
NEARLY_RIGHT = [
    *"-1 +1 00 1.5 1e3 0x10 65535 65536 10000 1000000 2147483648 9223372036854775 9223372036854776".split(),
    *"9223372036854775807 9223372036854775808 1844674407370955163 99999999999999999999 9999999999g".split(),
    *"b 1b 1t 1h 60s 4g ٣ On ON yes t T True TRUE fcgi FCGI httpſ 1; 1} 1# $x ' \" \\ {}".split(),
    *("", " ", "8 m", " 8m", "8m ", " 60", "60 ", "60\n", "\n60", " on", "on\n", "HTTP ", "9" * 5000),
]
"""Values that are right for some annotations, or for none. The hook decides which of them reach nginx."""

TYPES = "Prefix", "Exact", "ImplementationSpecific"
LIMITS = {"copyAnnotations": {PREFIX + name: "any" for name in KNOWN}, "pathTypes": TYPES}
POLICY = parse(json.dumps({"limits": LIMITS}))
"""Settings that allow as much as an administrator can without writing a value down."""


@pytest.fixture(scope="module")
def nginx() -> str:
    """Return the nginx that checks, or skip the test, saying how to get one."""
    if found := shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin"):
        return found
    pytest.skip("NOT CHECKED WITH NGINX: there is none on PATH. Debian's package nginx-light has it.")


def complaints(written: str, nginx: str, folder: Path) -> str:
    """Return what nginx says against an http block; "" when it takes it."""
    own = "access_log off; server_names_hash_max_size 4096; upstream upstream_balancer { server 0.0.0.1; }"
    (folder / "nginx.conf").write_text(f"pid nginx.pid; events {{}} http {{ {own} {FOLDERS}\n{written}\n}}")
    # -e: until nginx has read where its log is, it would open the one that it was built for.
    command = [nginx, "-t", "-q", "-e", "stderr", "-p", ".", "-c", "nginx.conf"]
    tested = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return (tested.stderr or f"status {tested.returncode}") if tested.returncode else ""


def server(host: str, locations: str) -> str:
    """Return a server. It is at a socket in the folder: even a test opens what it is to listen at."""
    return f"server {{\nserver_name {host};\nlisten unix:nginx.sock;\n{locations}\n}}\n"


def annotated(annotations: list[tuple[str, str]]) -> str:
    """Return an http block with a location for each annotation, by its name and value."""
    zones, locations = "", ""
    for n, (name, value) in enumerate(annotations):
        directives = KNOWN[name][1]
        burst = (int(value) * 5 + 2**63) % 2**64 - 2**63 if "{burst}" in directives else 0  # Go's int wraps
        protocol = value.lower().replace("auto_http", "$scheme") if name == "backend-protocol" else "http"
        served = f"{'grpc' if 'grpc' in protocol else 'proxy'}_pass {protocol}://upstream_balancer"
        zones += ZONES.get(name, "").format(value, n=n)
        locations += f"location /{n}/ {{ {directives.format(value, n=n, burst=burst)} {served}; }}\n"
    return zones + server("example.com", locations)


def locations_of(paths: list[Object]) -> str:
    """Return the locations of paths: a prefix ends in a slash, and is an exact one, too, unless there is one."""
    exact = [each["path"] for each in paths if each["pathType"] == "Exact"]
    written = [f'location = "{path}" {{}}' for path in exact]
    for path in [each["path"] for each in paths if each["pathType"] != "Exact"]:
        written.append(f'location "{path.removesuffix("/")}/" {{}}')
        written += [f'location = "{path}" {{}}'] if path != "/" and path not in exact else []
    return "\n".join(written)


def made(annotations: dict[str, str]) -> list[Object]:
    """Return the Ingress of a Service; none if it is refused."""
    answered = answer(body(sync_request(service({"ingress/http": "true"} | annotations))), POLICY)
    return json.loads(answered.body)["attachments"] if answered.status == 200 else []


def test_nginx_takes_every_value_that_the_hook_accepts(nginx: str, tmp_path: Path) -> None:
    right = [(name, value) for name, (values, _) in KNOWN.items() for value in values]
    tried = right + [(name, value) for name in KNOWN for value in NEARLY_RIGHT]
    ingresses = [(each, made({PREFIX + each[0]: each[1]})) for each in tried]
    accepted = [each for each, made in ingresses if made and made[0]["metadata"]["annotations"][PREFIX + each[0]]]
    assert {*right} <= {*accepted}
    assert complaints(annotated(accepted), nginx, tmp_path) == ""


def test_nginx_takes_every_two_routes_that_the_hook_accepts_in_one_service(nginx: str, tmp_path: Path) -> None:
    ways = [{"path": path, "pathType": each} for path in ("/", "/a", "/a/", "/a/b", "/A", "/%22") for each in TYPES]
    servers: list[str] = []
    for pair in combinations_with_replacement(ways, 2):
        for ingress in made({"ingress/routes": json.dumps(pair)}):
            paths = ingress["spec"]["rules"][0]["http"]["paths"]
            servers.append(server(f"s{len(servers)}", locations_of(paths)))
    assert len(servers) > 100, "hardly any is accepted, so hardly anything is checked"
    assert complaints("".join(servers), nginx, tmp_path) == ""


@pytest.mark.parametrize(
    ("written", "says"),
    [
        (annotated([("limit-rps", "1844674407370955163")]), 'invalid burst value "burst=-'),
        (server("s", locations_of([{"path": path, "pathType": "Prefix"} for path in ("/a", "/a/")])), "duplicate"),
    ],
)
def test_what_the_hook_must_not_let_through_is_seen_here(written: str, says: str, nginx: str, tmp_path: Path) -> None:
    assert says in complaints(written, nginx, tmp_path)
