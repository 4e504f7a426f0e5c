"""Services that the API server takes, and that cost a hook the most if it is written carelessly.

The API server takes an object of up to 3 MiB as JSON; annotations of 262,144 bytes in all, with their keys; and any
number of labels and ports.
"""

import itertools
import json
from collections.abc import Iterator

from devcluster.sync_requests import Object, as_created, service, sync_request

VALUE = 250_000
"""Bytes: the length of a value that leaves some room for other annotations."""

ROUTES = 32 * 1024
"""Characters: the most that ingress/routes may have."""

HTTP = {"ingress/http": "true"}
COPIED = "nginx.ingress.kubernetes.io/proxy-read-timeout"


def worst_requests() -> Iterator[tuple[str, bytes]]:
    """Yield what is bad about a request, and the body that Metacontroller sends to /sync."""
    for name, annotations in worst_annotations():
        yield name, encoded(sync_request(service(HTTP | annotations)))
    ports = [{"name": f"p{number}", "protocol": "TCP", "port": number} for number in range(1001, 41_001)]
    by_name = {"ingress/routes": lines(100, "{{path: /{0}, port: q{0}}}")}
    yield "40,000 ports, and 100 routes that name others", encoded(sync_request(service(HTTP | by_name, ports=ports)))
    labelled = service(HTTP)
    labelled["metadata"]["labels"] = {f"l{number}": "" for number in range(110_000)}
    yield "110,000 labels", encoded(sync_request(labelled))
    parent = service(HTTP | {"ingress/oops": ""})
    backend = {"service": {"name": "shop", "port": {"number": 80}}}
    paths = [{"path": "/", "pathType": "Prefix", "backend": backend}]
    rules = [{"host": f"h{number}.example.com", "http": {"paths": paths}} for number in range(15_000)]
    metadata = {"name": "shop", "namespace": "team-a"}
    made = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata, "spec": {}}
    edited = as_created(made, parent) | {"spec": {"rules": rules}}
    yield "a mistake, and an observed Ingress with 15,000 hosts", encoded(sync_request(parent, attached=[edited]))


def worst_annotations() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield annotations that take long to read, or to look at."""
    yield "250 KB of commas as hosts", {"ingress/host": "," * VALUE}
    yield "a copied annotation of 250 KB", {COPIED: "\x01" * VALUE}
    yield "12,000 unknown annotations of ours, nearly known", {f"ingress/path-typ{n}": "" for n in range(12_000)}
    hosts = ",".join(f"h{number}.example.com" for number in range(100))
    yield "100 hosts, and 100 routes", {"ingress/host": hosts, "ingress/routes": lines(100, "{{path: /{0}}}")}
    routes = HTTP | {"ingress/routes": lines(100, "{{host: h{0}.example.com, path: /{0}, port: '80'}}")}
    entrances = itertools.product(range(7), routes.items())
    yield "8 entrances with 100 routes each", routes | {f"e{number}.{key}": text for number, (key, text) in entrances}
    yield "routes: lists in lists", {"ingress/routes": "[" * ROUTES}
    yield "routes: an alias repeated", {"ingress/routes": "- &a {}\n" + "- *a\n" * (ROUTES // 5 - 2)}
    yield "routes: paths of nested repetition", {"ingress/routes": lines(100, f"path: /{'(a+)+' * 60}{{}}")}


def lines(count: int, form: str) -> str:
    """Return a YAML list with so many items; `form` is given the number of each."""
    return "".join(f"- {form.format(number)}\n" for number in range(count))


def encoded(request: Object) -> bytes:
    """Return a request as JSON without spaces, in UTF-8, as Go writes it."""
    return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()
