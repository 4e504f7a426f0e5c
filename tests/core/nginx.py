"""What ingress-nginx would write into nginx.conf for Ingresses, and what `nginx -t` says about it.

ingress-nginx writes one configuration for all Ingresses of its class. One line that nginx refuses keeps every later
change of every tenant from being loaded, so it is all of them together that have to be right.

Rewritten from ingress-nginx 1.15.1, with its default ConfigMap: what takes part in whether nginx accepts an Ingress.
Each function names what it is rewritten from, in internal/ingress/ or in rootfs/etc/nginx/template/nginx.tmpl.
Left out is what is Lua, and what no annotation that may be copied changes.
"""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from devcluster.sync_requests import Object
from tools.debian import NGINX_FOLDERS, Program

PREFIX = "nginx.ingress.kubernetes.io/"


class Location(NamedTuple):
    """A location of a server, as the controller collects them before it writes any."""

    path: str
    path_type: str
    ingress: Object
    port: str
    is_default: bool = False
    """Whether it only stands for the default backend, with which every server begins."""


def complaints(ingresses: Sequence[Object], nginx: Program, folder: Path) -> str:
    """Return what nginx says against one configuration for all `ingresses`, oldest first; "" when it takes it.

    `folder` is where it may write. A test of a configuration starts no server.
    """
    (folder / "nginx.conf").write_text(configuration(ingresses), encoding="utf-8")
    # -e: until nginx has read where its log is, it would open the one that it was built for.
    tested = nginx.run("-t", "-q", "-e", "stderr", "-p", ".", "-c", "nginx.conf", folder=folder)
    return (tested.stderr or f"status {tested.returncode}") if tested.returncode else ""


def configuration(ingresses: Sequence[Object]) -> str:
    """Return nginx.conf: the `http` block of nginx.tmpl, and a test's own folders and socket in place of its own."""
    servers = {host: list(with_exact(locations)) for host, locations in servers_of(ingresses).items()}
    size, bucket = hash_sizes(servers)
    zones = "".join(limit_zones([location.ingress for locations in servers.values() for location in locations]))
    return f"""
pid nginx.pid;
events {{}}
http {{
    access_log off;
    {NGINX_FOLDERS}
    server_names_hash_max_size {size};
    server_names_hash_bucket_size {bucket};
    map_hash_bucket_size 64;
    variables_hash_bucket_size 256;
    variables_hash_max_size 2048;
    upstream upstream_balancer {{ server 0.0.0.1; }}
    {zones}
    {"".join(server(host, locations) for host, locations in servers.items())}
}}
"""


def servers_of(ingresses: Sequence[Object]) -> dict[str, list[Location]]:
    """Return the locations of each host: createServers and getBackendServers in controller/controller.go."""
    servers: dict[str, list[Location]] = {}
    for ingress in ingresses:
        for rule in ingress["spec"]["rules"]:
            locations = servers.setdefault(rule["host"], [Location("/", "Prefix", ingress, "", is_default=True)])
            for path in rule["http"]["paths"]:
                # SetDefaultNGINXPathType in k8s/main.go
                path_type = "Exact" if path["pathType"] == "Exact" else "Prefix"
                port = str(path["backend"]["service"]["port"]["number"])
                add(Location(path["path"], path_type, ingress, port), locations)
    return servers


def add(new: Location, locations: list[Location]) -> None:
    """Add a location, unless an older Ingress has it: the loop over server.Locations in getBackendServers.

    The loop ends at the first location of the same path. If that one is of another type, the new one is added without
    a look at the others.
    """
    at = next((at for at, location in enumerate(locations) if location.path == new.path), None)
    if at is None or locations[at].path_type != new.path_type:
        locations.append(new)
    elif locations[at].is_default:
        locations[at] = new


def with_exact(locations: list[Location]) -> Iterator[Location]:
    """Yield the locations that are written: updateServerLocations in controller/location.go.

    A prefix ends in a slash, and is an exact location, too, unless there is one of the same path.
    """
    exact = {location.path for location in locations if location.path_type == "Exact"}
    for location in locations:
        if location.path == "/" or location.path_type != "Prefix":
            yield location
        else:
            yield location._replace(path=location.path.removesuffix("/") + "/")
            if location.path not in exact:
                yield location._replace(path_type="Exact")


def hash_sizes(hosts: Mapping[str, object]) -> tuple[int, int]:
    """Return the greatest size of the hash of server names, and of a bucket: OnUpdate in controller/nginx.go."""
    longest = max(map(len, hosts))
    aligned = (longest + 2 + 7) // 8 * 8
    return max(1024, next_power_of_2(sum(map(len, hosts)))), next_power_of_2(16 + aligned)


def next_power_of_2(number: int) -> int:
    """Return the least power of two that is not less: nextPowerOf2 in controller/nginx.go."""
    return 1 << (number - 1).bit_length()


def server(host: str, locations: list[Location]) -> str:
    """Return the server of a host: `range $server` and the template SERVER in nginx.tmpl."""
    name = quote(server_name(host))
    # A socket in the folder: even a test opens what it is to listen at, and a port may be taken.
    return f"server {{\nserver_name {name};\nlisten unix:nginx.sock;\n{''.join(map(written, locations))}}}\n"


def server_name(host: str) -> str:
    """Return the name or the regular expression of a server: buildServerName in controller/template/template.go."""
    if not host.startswith("*"):
        return host
    return r"~^(?<subdomain>[\w-]+)\." + host.removeprefix("*.").replace(".", r"\.") + "$"


def written(location: Location) -> str:
    """Return a location as it is written: `location {{ $path }}` in nginx.tmpl, buildLocation in template.go."""
    path = re.sub(r'([\\"])', r"\\\1", location.path)  # sanitizeQuotedRegex
    equals = "= " if location.path_type == "Exact" else ""
    return f'location {equals}"{path}" {{\n{"".join(f"    {line};{chr(10)}" for line in directives(location))}}}\n'


def directives(location: Location) -> Iterator[str]:
    """Yield the directives of a location, in the order of nginx.tmpl; the defaults are those of controller/config."""
    metadata = location.ingress["metadata"]
    annotations = metadata.get("annotations", {})
    name = metadata["name"]
    # getIngressInformation in template.go
    for variable, value in (
        ("namespace", metadata["namespace"]),
        ("ingress_name", name),
        ("service_name", "" if location.is_default else name),
        ("service_port", location.port),
        ("location_path", location.path.replace("$", "${literal_dollar}")),
    ):
        yield f"set ${variable} {quote(value)}"
    # locationConfigForLua in template.go; annotations/rewrite
    yield f'set $force_ssl_redirect "{boolean(annotations, "force-ssl-redirect", "false")}"'
    yield f'set $ssl_redirect "{boolean(annotations, "ssl-redirect", "true")}"'
    yield f"set $proxy_upstream_name {quote('-'.join((metadata['namespace'], name, location.port)))}"
    yield from limits(location.ingress)
    protocol = option(annotations, "backend-protocol", PROTOCOLS, "HTTP")
    yield from proxy(annotations, is_grpc=protocol in {"GRPC", "GRPCS"})
    # buildProxyPass in template.go
    yield f"{PROTOCOLS[protocol.upper()]}upstream_balancer"
    yield "proxy_redirect off"


def proxy(annotations: Mapping[str, str], *, is_grpc: bool) -> Iterator[str]:
    """Yield what annotations/proxy has read, as nginx.tmpl writes it."""
    body_size = size(annotations, "proxy-body-size", "1m")
    if re.fullmatch(r"[0-9]+[kKmMgG]?", body_size.strip()):  # isValidByteSize in template.go
        yield f"client_max_body_size {body_size}"
    timeouts = [
        f"{what}_timeout {integer(annotations, f'proxy-{what}-timeout', default)}s"
        for what, default in (("connect", 5), ("send", 60), ("read", 60))
    ]
    yield from (f"proxy_{timeout}" for timeout in timeouts)
    yield f"proxy_buffering {option(annotations, 'proxy-buffering', SWITCH, 'off')}"
    yield "proxy_buffer_size 4k"
    yield "proxy_buffers 4 4k"
    yield "proxy_max_temp_file_size 1024m"
    yield f"proxy_request_buffering {option(annotations, 'proxy-request-buffering', SWITCH, 'on')}"
    yield "proxy_http_version 1.1"
    yield "proxy_next_upstream error timeout"
    yield f"proxy_next_upstream_tries {integer(annotations, 'proxy-next-upstream-tries', 3)}"
    if is_grpc:
        yield from (f"grpc_{timeout}" for timeout in timeouts)


SWITCH = ("on", "off")
PROTOCOLS = {
    "HTTP": "proxy_pass http://",
    "HTTPS": "proxy_pass https://",
    "AUTO_HTTP": "proxy_pass $scheme://",
    "GRPC": "grpc_pass grpc://",
    "GRPCS": "grpc_pass grpcs://",
    "FCGI": "fastcgi_pass ",
}
"""What annotations/backendprotocol accepts, and the directive of buildProxyPass."""


def limits(ingress: Object) -> Iterator[str]:
    """Yield the limits of an Ingress's locations: buildRateLimit in template.go."""
    zone, _, connections, of_time = limits_of(ingress)
    if connections > 0:
        yield f"limit_conn {zone}_conn {connections}"
    for unit, limit in of_time.items():
        if limit > 0:
            burst = (limit * 5 + 2**63) % 2**64 - 2**63  # Go's int wraps
            yield f"limit_req zone={zone}_rp{unit} burst={burst} nodelay"


def limit_zones(ingresses: Sequence[Object]) -> Iterator[str]:
    """Yield the zones that the limits need, once each: filterRateLimits and buildRateLimitZones in template.go."""
    for zone, number, connections, of_time in {
        limits_of(ingress)[0]: limits_of(ingress) for ingress in ingresses
    }.values():
        if connections or any(of_time.values()):
            yield f"geo $remote_addr $allowlist_{number} {{ default 0; }}\n"
            yield f'map $allowlist_{number} $limit_{number} {{ 0 $binary_remote_addr; 1 ""; }}\n'
        if connections > 0:
            yield f"limit_conn_zone $limit_{number} zone={zone}_conn:5m;\n"
        for unit, limit in of_time.items():
            if limit > 0:
                yield f"limit_req_zone $limit_{number} zone={zone}_rp{unit}:5m rate={limit}r/{unit};\n"


def limits_of(ingress: Object) -> tuple[str, str, int, dict[str, int]]:
    """Return the name of an Ingress's zones, its ID, and its limits: Parse in annotations/ratelimit/main.go.

    The limits are those of connections, and of requests in each unit of time.
    """
    metadata = ingress["metadata"]
    annotations = metadata.get("annotations", {})
    uid = metadata.get("uid", "11111111-2222-3333-4444-555555555555")  # what an API server would have added
    zone = f"{metadata['namespace']}_{metadata['name']}_{uid}"
    number = base64.urlsafe_b64encode(zone.encode()).decode().rstrip("=")
    of_time = {unit: integer(annotations, f"limit-rp{unit}", 0) for unit in "sm"}
    return zone, number, integer(annotations, "limit-connections", 0), of_time


# How the value of an annotation is read: annotations/parser/main.go and validators.go. What is invalid is left out.


def integer(annotations: Mapping[str, str], name: str, default: int) -> int:
    """Return what GetIntAnnotation returns: Go's strconv.Atoi takes a sign, zeros in front, and 64 bits."""
    value = annotations.get(PREFIX + name, "")
    valid = re.fullmatch(r"[+-]?[0-9]{1,99}", value) and -(2**63) <= int(value) < 2**63
    return int(value) if valid else default


def boolean(annotations: Mapping[str, str], name: str, default: str) -> str:
    """Return what GetBoolAnnotation returns, written as text: Go's strconv.ParseBool takes twelve spellings."""
    value = annotations.get(PREFIX + name)
    if value in {"1", "t", "T", "true", "TRUE", "True"}:
        return "true"
    return "false" if value in {"0", "f", "F", "false", "FALSE", "False"} else default


def option(annotations: Mapping[str, str], name: str, options: Iterable[str], default: str) -> str:
    """Return a value that ValidateOptions takes: without blanks around it; small letters, too, for capitals."""
    value = annotations.get(PREFIX + name, "").strip()
    return value if {value, value.upper()} & set(options) else default


def size(annotations: Mapping[str, str], name: str, default: str) -> str:
    """Return a value that SizeRegex takes. Blanks inside are removed for that only: the value itself keeps them."""
    value = annotations.get(PREFIX + name, "")
    valid = re.fullmatch(r"[0-9]+[bkmg]?", value.replace(" ", ""), re.IGNORECASE)
    return value.strip() if valid else default


def quote(text: str) -> str:
    """Return a text in double quotes, as Go's %q writes what is ASCII: quote in template.go."""
    return json.dumps(text)
