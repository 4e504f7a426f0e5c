"""The worst inputs: Services that the API server takes, and that cost a hook the most if it is written carelessly; and
the largest settings.

The API server takes an object of up to 3 MiB as JSON, which etcd then has to take as protobuf (1.5 MiB); annotations of
262,144 bytes in all, keys included; labels without a limit of their own; and any number of ports, each of another
number or protocol. An API server 1.36.3 without our admission policies has taken each of these Services. With them, it
denies those with 40,000 ports: to look at the depth of their managedFields would cost too much. `python -m bench` times
an answer to each; the tests set it a limit.
"""

import itertools
import json
import string
from collections.abc import Iterator
from typing import Any

from devcluster.sync_requests import Object, as_created, service, sync_request
from ingress_manager.core.annotations import TABLE

ANNOTATION_BYTES = 256 * 1024
VALUE = 250_000
"""Bytes: the length of a value that leaves some room for other annotations."""

ROUTES = 32 * 1024
"""Characters: the most that ingress/routes may have. What is longer is refused before it is read as YAML."""

PORTS = range(1001, 41_001)
"""Numbers: as many as fit into 3 MiB with the fields that the API server adds. Without 80, which would be chosen."""

LABELS = 110_000
"""Labels, beside 4,000 ports. etcd would take 140,000 of them, but the API server already needs seconds for so many."""

PROFILES, NAMESPACES = 1000, 10_000
"""Of the largest settings. A ConfigMap takes 1 MiB, of which they are two thirds."""

HTTP = {"ingress/http": "true"}

FILLERS = {
    "a control character": "\x01",
    "a letter": "a",
    "a comma": ",",
    "a percent sign": "%",
    "a path type": "Prefix",
    "a host and a comma": "a.b,",
}
"""What a long value is made of."""

COPIED = "nginx.ingress.kubernetes.io/proxy-read-timeout"
"""The key of an annotation that is copied by default."""


def largest_settings() -> str:
    """Return settings with many profiles and many namespaces. All profiles are allowed, by their names."""
    profiles = [f"profile-{number}" for number in range(PROFILES)]
    leads_to = "{{outputs: [httproute], class: class-{0}, gateway: {{name: gateway-{0}, namespace: infrastructure}}}}"
    return "".join(
        (
            f"limits: {{profiles: [{', '.join(profiles)}]}}\nprofiles:\n",
            *(f"  {name}: {leads_to.format(number)}\n" for number, name in enumerate(profiles)),
            "namespaces:\n",
            *(f"  team-{number}: {{limits: {{hosts: ['*.t{number}.example.com']}}}}\n" for number in range(NAMESPACES)),
        )
    )


def worst_requests_for_profiles() -> Iterator[tuple[str, bytes]]:
    """Yield what is bad about a request where the largest settings hold, and the body that is sent to /sync."""
    routes = list(observed_httproutes(parent="gateway-of-before"))
    for name, profile, attached in (
        ("the last of 1,000 profiles", f"profile-{PROFILES - 1}", []),
        ("none of 1,000 profiles, but nearly", f"profile-{'1' * 56}", []),
        ("one of 1,000 profiles, and 100 observed HTTPRoutes of another Gateway", "profile-500", routes),
    ):
        yield name, encoded(sync_request(service(HTTP | {"ingress/profile": profile}), attached=attached))


def worst_requests() -> Iterator[tuple[str, bytes]]:
    """Yield what is bad about a request, and the body that Metacontroller sends to /sync."""
    for name, parent in worst_services():
        yield name, encoded(sync_request(parent))
    for name, parent, observed in observed_ingresses():
        yield name, encoded(sync_request(parent, attached=observed))


def worst_services() -> Iterator[tuple[str, Object]]:
    """Yield what is bad about a Service, and the Service as the API server stores it."""
    for name, annotations in (*long_values(), *many_hosts(), *many_annotations()):
        yield name, service({**HTTP, **annotations})
    for name, text in routes():
        yield f"ingress/routes: {name}", service({**HTTP, "ingress/routes": text})
    for name, annotations in many_entrances():
        yield name, service(annotations)
    yield from many_ports()
    yield from unused_fields()


def long_values() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield annotations whose values are as long as they may be."""
    for annotation, (what, filler) in itertools.product(TABLE, FILLERS.items()):
        yield f"{annotation.key}: 250 KB of {what}", {annotation.key: filler * (VALUE // len(filler))}
    each = {annotation.key: "\x01" * (VALUE // len(TABLE)) for annotation in TABLE}
    yield "every annotation: 250 KB of a control character in all", each
    yield "a copied annotation: 250 KB of a control character", {COPIED: "\x01" * VALUE}
    yield "a copied annotation: 250 KB of a digit", {COPIED: "1" * VALUE}
    yield "a copied annotation: 250 KB that Go escapes", {COPIED: "<" * VALUE}


def many_hosts() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield annotations with many hosts, which each route without a host of its own is multiplied with."""
    hosts = ",".join(f"h{number}.example.com" for number in range(100))
    longest = ",".join(f"h{number:02}{'.a' * 125}" for number in range(100))
    yield "100 hosts times 100 routes", {"ingress/host": hosts, "ingress/routes": one_line_each(100, "path: /{}")}
    long_paths = one_line_each(100, f"path: /{{}}/{'a' * 300}")
    yield "100 longest hosts times 100 long routes", {"ingress/host": longest, "ingress/routes": long_paths}
    same = one_line_each(100, "path: /")
    yield "100 hosts times 100 routes of one path", {"ingress/host": hosts, "ingress/routes": same}
    unknown = one_line_each(100, "{{path: /{0}, port: p{0}}}")
    yield "100 hosts times 100 routes of unknown ports", {"ingress/host": hosts, "ingress/routes": unknown}
    longest_path = f"/{'a' * 1023}"
    own_hosts = one_line_each(100, "host: h{}.example.com")
    yield "100 routes of the longest path", {"ingress/path": longest_path, "ingress/routes": own_hosts}
    yield "50,000 different hosts", {"ingress/host": ",".join(itertools.islice(names(), 50_000))}
    yield "100 hosts, the last of them wrong", {"ingress/host": f"{hosts[:-6]},{'a' * 200_000}"}


def many_entrances() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the annotations of Services with as many entrances as they may have, or as fit."""
    routes = one_line_each(100, "{{host: h{0}.example.com, path: /{0}, pathType: Exact, port: '80'}}")
    with_routes = HTTP | {"ingress/routes": routes}
    yield "8 entrances with 100 routes each", of_each(with_routes)
    hosts = "a{0}.example.com, b{0}.example.com, c{0}.example.com"
    certificates = {"ingress/certificates": one_line_each(100, f"{{{{hosts: [{hosts}], secret: s{{0}}}}}}")}
    yield "8 entrances with 100 routes and 100 certificates each", of_each(with_routes | certificates)
    hosts = ",".join(f"h{number}.example.com" for number in range(100))
    many_hosts = {"ingress/certificates": one_line_each(9, f"hosts: [{hosts}]")}
    yield "8 entrances with 9 certificates of 100 hosts each", of_each(HTTP | many_hosts)
    unknown = {f"ingress/{'path-type-' * 5}{number}": "" for number in range(100)}
    yield "8 entrances with 100 unknown annotations each", of_each(HTTP | unknown)
    fit = ANNOTATION_BYTES // len("12345.ingress/httpfalse")
    for http in ("true", "false"):
        yield f'entrances with http "{http}"', {f"{number:05}.ingress/http": http for number in range(fit)}
    without = {f"{number:05}.ingress/host": "a" for number in range(fit - 1)}
    yield "entrances without http, but for one", without | {"a.ingress/http": "true"}


def of_each(annotations: dict[str, str]) -> dict[str, str]:
    """Return the annotations for the Service itself, and again for each of eight other entrances."""
    return annotations | {f"e{number}.{key}": value for number in range(8) for key, value in annotations.items()}


def many_annotations() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield as many annotations as fit."""
    yield "tiny annotations", filled("")
    yield "annotations that look meant for a controller", filled("nginx.org/")
    wrong = ANNOTATION_BYTES // len("a.b/12345;") - 10
    yield "annotations with a domain and a wrong value", {f"a.b/{number}": ";" for number in range(wrong)}
    yield "annotations that a controller reads, some copied", {COPIED: "60"} | filled("nginx.ingress.kubernetes.io/")
    yield "unknown annotations of ours", filled("ingress/")
    yield "unknown annotations of ours, nearly known", filled("ingress/path-typ-")


def routes() -> Iterator[tuple[str, str]]:
    """Yield texts of ingress/routes that take long to read as YAML, or to look at."""
    yield "one key repeated", longest("- {", "a,", "}")
    yield "different keys", f"- {{{','.join(itertools.islice(names(), 8000))}}}"
    yield "tiny scalars in a list", longest("[", "a,", "a]")
    yield "empty routes", longest("[", "{},", "{}]")
    yield "100 empty routes", one_line_each(100, "{{}}")
    unknown = ", ".join(itertools.islice(names(), 60))
    yield "100 routes with 60 unknown fields each", "".join(f"- {{{unknown}}}\n" for _ in range(100))
    yield "100 routes with a long unknown field each", one_line_each(100, f"{'pathType' * 38}{{}}: a")
    yield "100 routes with a long unknown path type each", one_line_each(100, f"pathType: {'Prefix' * 50}{{}}")
    yield "lists in lists, as YAML's flow", "[" * ROUTES
    yield "keys in keys", longest("", "? ", "a")
    yield "a long path", longest("- path: /", "a", "")
    yield "100 long paths of nested repetition", one_line_each(100, f"path: /{'(a+)+' * 60}{{}}")
    yield "a long path of escapes", longest('- path: "/', "\\x01", '"')
    yield "blank lines", longest("- path: /", "\n", "")
    yield "an alias repeated", longest("- &a {}\n", "- *a\n", "")
    yield "different anchors", "".join(f"- &{name} a\n" for name in itertools.islice(names(), 3500))
    yield "tags", longest("", "- !a a\n", "")
    directives = "".join(f"%TAG !{name}! a\n" for name in itertools.islice(names(), 2200))
    yield "directives", f"{directives}--- []"
    yield "control characters", "\x01" * ROUTES


def many_ports() -> Iterator[tuple[str, Object]]:
    """Yield Services with as many ports as fit, and routes that have each of them looked at."""
    ports = [port(number) for number in PORTS]
    yield "40,000 ports, none to be preferred", service(dict(HTTP), ports=ports)
    for what, form in (
        ("the last port by name", "{{path: /{}, port: p41000}}"),
        ("different ports by name", "{{path: /{0}, port: p40{0:03}}}"),
        ("different unknown ports", "{{path: /{0}, port: q{0}}}"),
        ("no port", "{{path: /{0}}}"),
    ):
        annotations = HTTP | {"ingress/routes": one_line_each(100, form)}
        yield f"40,000 ports, and 100 routes that name {what}", service(annotations, ports=ports)
    http = [port(number, appProtocol="http") for number in PORTS[:30_000]]
    yield "30,000 ports with appProtocol http", service(dict(HTTP), ports=http)
    udp = [port(number, protocol="UDP") for number in PORTS]
    unknown = HTTP | {"ingress/routes": one_line_each(100, "{{path: /{0}, port: p{0}}}")}
    yield "40,000 UDP ports, and 100 routes that name some", service(unknown, ports=udp)
    long_port = HTTP | {"ingress/port": "1" * 100_000}
    yield "40,000 ports, and 100 KB of digits to name one", service(long_port, ports=ports)


def unused_fields() -> Iterator[tuple[str, Object]]:
    """Yield Services that are large in a field which decides nothing."""
    few = [port(number) for number in PORTS[:4000]]
    labels = dict.fromkeys(itertools.islice(names(), LABELS), "")
    labelled = service(dict(HTTP), ports=few)
    labelled["metadata"]["labels"] = labels
    yield "110,000 labels and 4,000 ports", labelled
    owned = service(dict(HTTP))
    owned["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": f"a{number}", "uid": f"{number:036}"}
        for number in range(12_000)
    ]
    yield "12,000 owners", owned


def observed_ingresses() -> Iterator[tuple[str, Object, list[Object]]]:
    """Yield Services whose observed Ingresses are large, since others may write to those."""
    parent = service(dict(HTTP))
    path = {"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "shop", "port": {"number": 80}}}}
    small = as_created(
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "Ingress",
            "metadata": {"name": "shop", "namespace": "team-a"},
            "spec": {"rules": [{"host": "example.com", "http": {"paths": [path]}}]},
        },
        parent,
    )
    metadata = small["metadata"]
    paths = [{**path, "path": f"/{number}"} for number in range(20_000)]
    many_paths = {**small, "spec": {"rules": [{"host": "example.com", "http": {"paths": paths}}]}}
    yield "an observed Ingress with 20,000 paths", parent, [many_paths]
    mistaken = service(HTTP | {"ingress/oops": ""})
    yield "a mistake, and an observed Ingress with 20,000 paths", mistaken, [many_paths]
    rules = [{"host": f"h{number}.example.com", "http": {"paths": [path]}} for number in range(15_000)]
    yield "a mistake, and an observed Ingress with 15,000 hosts", mistaken, [{**small, "spec": {"rules": rules}}]
    applied = filled("", ANNOTATION_BYTES // 6)
    copied = as_created({**small, "metadata": {"name": "shop", "namespace": "team-a", "annotations": applied}}, parent)
    yield "a mistake, and an observed Ingress whose annotations were all copied", mistaken, [copied]
    annotations = metadata["annotations"] | filled("", ANNOTATION_BYTES - 2000)
    annotated = {**small, "metadata": metadata | {"annotations": annotations}}
    yield "an observed Ingress with tiny annotations", parent, [annotated]
    addresses = [{"hostname": f"{name}.example.com"} for name in itertools.islice(names(), 60_000)]
    with_addresses = {**small, "status": {"loadBalancer": {"ingress": addresses}}}
    yield "an observed Ingress with 60,000 addresses", parent, [with_addresses]
    several = [{**small, "metadata": metadata | {"name": f"i{number}"}} for number in range(5000)]
    yield "5,000 observed Ingresses", parent, several
    for reason, annotations in (("", HTTP), ("a mistake, and ", HTTP | {"ingress/oops": ""})):
        yield f"{reason}100 observed HTTPRoutes with 100 paths", service(dict(annotations)), list(observed_httproutes())


def observed_httproutes(parent: str = "web") -> Iterator[Object]:
    """Yield HTTPRoutes with as many hosts and paths as they can have, at the Gateway `parent`."""
    matches = [{"path": {"type": "Exact", "value": f"/{number}"}} for number in range(50)]
    hosts = [f"h{number}.example.com" for number in range(16)]
    ref = {"namespace": "infrastructure", "name": parent, "sectionName": "http"}
    spec = {"parentRefs": [ref], "hostnames": hosts, "rules": 2 * [{"matches": matches}]}
    for number in range(100):
        metadata = {"name": f"shop.{number}", "namespace": "team-a"}
        made = {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": metadata, "spec": spec}
        yield as_created(made, service(dict(HTTP)))


def port(number: int, **fields: Any) -> Object:
    """Return a port with the fields that the API server adds."""
    return {"name": f"p{number}", "protocol": "TCP", "port": number, "targetPort": number} | fields


def names() -> Iterator[str]:
    """Yield different names, the shortest first; each is valid as a label, and as the last part of an annotation."""
    for length in itertools.count(1):
        yield from map("".join, itertools.product(string.ascii_lowercase + string.digits, repeat=length))


def filled(prefix: str, most: int = ANNOTATION_BYTES - 100) -> dict[str, str]:
    """Return annotations without a value whose keys begin with `prefix`, of `most` bytes in all."""
    made: dict[str, str] = {}
    for name in names():
        if (most := most - len(prefix) - len(name)) < 0:
            return made
        made[prefix + name] = ""
    raise AssertionError("there are names enough")


def longest(first: str, repeated: str, last: str) -> str:
    """Return `first`, `repeated` as often as ingress/routes has room for, and `last`."""
    return first + repeated * ((ROUTES - len(first) - len(last)) // len(repeated)) + last


def one_line_each(count: int, form: str) -> str:
    """Return a YAML list with so many items; `form` is given the number of each."""
    return "".join(f"- {form.format(number)}\n" for number in range(count))


def encoded(request: Object) -> bytes:
    """Return `request` as JSON without spaces, in UTF-8, as Go writes it."""
    return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()
