"""Measures the time and memory that the core and the hook take to answer usual and worst-case requests.

A machine may slow down for seconds at a time. So two operations are compared by timing them alternately, many times,
and taking the median of the ratios.
"""

import itertools
import json
import time
import tracemalloc
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from statistics import median
from typing import Any

from flask import Flask, Response, request
from werkzeug.test import create_environ

from bench import Section, at_most
from devcluster.build import Progress
from devcluster.sync_requests import Object, as_created, service
from devcluster.sync_requests import sync_request as request_of
from hooks.app import create_app
from hooks.sync import answer
from ingress_manager.core.settings import Settings

RECORDED = Path(__file__).with_name("request.json")
"""A request recorded from Metacontroller 4.17.2. It contains a Service applied with kubectl, and its Ingress."""

DEFAULTS = Settings()
NOW = time.time()
TURNS = 41

GROWTH = 10
"""How many times as long 100 routes may take as 10. Growth must be linear, or one Service could delay others."""

MADE, NEW = 1.3, 1.7
"""How many times as long an answer may take as json.loads and json.dumps on the same data, for existing and new
Ingresses. msgspec decodes faster than json, and a decision may take a bit more than the time saved. A request for a new
Ingress is shorter, but needs the same decision."""

HOOK = 4.0
"""How many times as long a sync call may take as one with a constant answer, both in Flask without a server. The ratio
is about 3.2, due to the decision, body limits and metrics. With a server it is 1.3, which would hide regressions."""

WORST = 1.0
"""How many times as long any answer may take as json.loads on the largest request. Any user can cause it, so no
annotation may cost more than decoding the request."""

WORST_MEMORY = 16
"""The bound on the memory for an answer, in megabytes, in addition to the request. Usage is the same on every machine.
The container has 256 MiB."""


def core_section(progress: Progress) -> Section:
    """Return the figures for the core and the hook."""
    progress("timing the core")
    some, many = (answering(sync_request({"ingress/routes": lines(count, "path: /{}")})) for count in (10, 100))
    growth = median(seconds(many, 5) / seconds(some, 5) for _ in range(TURNS))
    figures = [at_most("time for 100 routes / time for 10", growth, GROWTH)]
    for name, body, most in (("observed, as usual", RECORDED.read_bytes(), MADE), ("new", sync_request(), NEW)):
        plain, bare = answering(body), bare_json(body)
        taken = [(seconds(plain, 500), seconds(bare, 500)) for _ in range(TURNS)]
        microseconds, ratio = 1e6 * median(took for took, _ in taken), median(took / json for took, json in taken)
        figures.append((f"a plain Service whose Ingress is {name}: CPU", f"{microseconds:.1f} µs", ""))
        figures.append(at_most("its time / that of json.loads + json.dumps (aim 1.2)", ratio, most))
    hook, plain = sync_call(create_app()), sync_call(constant())
    ratio = median(seconds(hook, 100) / seconds(plain, 100) for _ in range(TURNS))
    figures.append(at_most("time of a sync call / time of one to a hook with a constant answer", ratio, HOOK))
    worst = dict(worst_requests())
    largest = max(worst.values(), key=len)
    for name, body in worst.items():
        progress(f"the worst inputs: {name}")
        ratio = median(
            seconds(lambda body=body: answer(body, DEFAULTS, NOW), 1) / seconds(lambda: json.loads(largest), 1)  # type: ignore[misc]
            for _ in range(5)
        )
        figures.append(at_most(f"{name}: its time / that of json.loads of the largest request", ratio, WORST))
        figures.append(at_most(f"{name}: memory", megabytes(body), WORST_MEMORY, "{:.1f} MB"))
    return "The core and the hook", figures


def sync_request(annotations: dict[str, str] | None = None) -> bytes:
    """Return the recorded request without its Ingress, as for a new Service. `annotations` are added to the Service."""
    recorded = json.loads(RECORDED.read_bytes())
    recorded["attachments"] = {kind: {} for kind in recorded["attachments"]}
    recorded["object"]["metadata"]["annotations"] |= annotations or {}
    return encoded(recorded)


def seconds(work: Callable[[], Any], runs: int) -> float:
    """Return the mean CPU time of `runs` calls of `work`."""
    started = time.process_time()
    for _ in range(runs):
        work()
    return (time.process_time() - started) / runs


def answering(body: bytes) -> Callable[[], Any]:
    """Check that the hook accepts `body`, and return a function that answers it. Raises ValueError if it is refused."""
    first = answer(body, DEFAULTS, NOW)
    if first.status != 200:
        raise ValueError(f"the benchmark's request is refused: {first.body.decode()}")
    return lambda: answer(body, DEFAULTS, NOW)


def bare_json(body: bytes) -> Callable[[], Any]:
    """Return a function that decodes `body` and encodes the hook's answer to it, both with the standard library."""
    response = json.loads(answer(body, DEFAULTS, NOW).body)
    return lambda: (json.loads(body), json.dumps(response))


def constant() -> Flask:
    """Return a minimal hook that reads each request and always gives the same answer."""
    app, body = Flask(__name__, static_folder=None), answer(RECORDED.read_bytes(), DEFAULTS, NOW).body
    app.post("/sync")(lambda: Response(request.get_data(cache=False) and body, content_type="application/json"))
    return app


def sync_call(app: Flask) -> Callable[[], Any]:
    """Return a function that posts the recorded request to the app's /sync, without a server."""
    body = RECORDED.read_bytes()
    environ = create_environ("/sync", method="POST", data=body)
    return lambda: list(app({**environ, "wsgi.input": BytesIO(body)}, lambda *_: lambda _: None))


def megabytes(body: bytes, settings: Settings = DEFAULTS) -> float:
    """Return the peak memory that answering a request takes."""
    tracemalloc.start()
    try:
        answer(body, settings, NOW)
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


VALUE = 250_000
"""Bytes in a large annotation value. The limit, 262,144, leaves room for other annotations."""

ROUTES = 32 * 1024
"""The maximum length of ingress/routes, in characters."""

HTTP = {"ingress/http": "true"}
COPIED = "nginx.ingress.kubernetes.io/proxy-read-timeout"


def worst_requests() -> Iterator[tuple[str, bytes]]:
    """Yield (description, body) for each worst-case request that Metacontroller can send to /sync.

    The API server accepts Services with up to 3 MiB of JSON, 262,144 bytes of annotations, and any number of labels.
    """
    for name, annotations in worst_annotations():
        yield name, encoded(request_of(service(HTTP | annotations)))
    ports = [{"name": f"p{number}", "protocol": "TCP", "port": number} for number in range(1001, 41_001)]
    by_name = {"ingress/routes": lines(100, "{{path: /{0}, port: q{0}}}")}
    yield "40,000 ports, and 100 routes that name others", encoded(request_of(service(HTTP | by_name, ports=ports)))
    labelled = service(HTTP)
    labelled["metadata"]["labels"] = {f"l{number}": "" for number in range(110_000)}
    yield "110,000 labels", encoded(request_of(labelled))
    parent = service(HTTP | {"ingress/oops": ""})
    backend = {"service": {"name": "shop", "port": {"number": 80}}}
    paths = [{"path": "/", "pathType": "Prefix", "backend": backend}]
    rules = [{"host": f"h{number}.example.com", "http": {"paths": paths}} for number in range(15_000)]
    metadata = {"name": "shop", "namespace": "team-a"}
    made = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata, "spec": {}}
    edited = as_created(made, parent) | {"spec": {"rules": rules}}
    yield "a mistake, and an observed Ingress with 15,000 hosts", encoded(request_of(parent, attached=[edited]))


def worst_annotations() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (description, annotations) for each set of annotations that is slow to parse or to check."""
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
    """Return a YAML list of `count` items. Each is `form` formatted with the item's number, from 0."""
    return "".join(f"- {form.format(number)}\n" for number in range(count))


def encoded(request: Object) -> bytes:
    """Return a request as compact JSON in UTF-8, as Go encodes it."""
    return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()
