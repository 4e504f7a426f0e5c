"""The 404 page's shell: WSGI in, WSGI out (PEP 3333).

| port   | request      | answer                                                                |
|--------|--------------|-----------------------------------------------------------------------|
| pages  | any          | 404: `page.page`; every host, path and method is a visitor's          |
| probes | GET /healthz | 200: the process answers                                              |
| probes | GET /metrics | the metrics, in Prometheus' text format                               |
| probes | any other    | 404                                                                   |

A gRPC client gets the same page: it takes a 404 for UNIMPLEMENTED, and a status of 200 would be wrong to all others.
"""

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, Counter, generate_latest

from hooks import logs
from hooks.metrics import registry_of
from ingress_manager import __version__
from not_found.page import page

PROBES_PORT = 8081
METHODS = ("GET", "HEAD", "POST", "other")
"""Those that are counted. There can be any number of them."""

Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
"""A WSGI application."""


def create_app(probes_port: int = PROBES_PORT) -> Wsgi:
    """Return the WSGI application. What comes in by `probes_port` is from the cluster; all else is from visitors."""
    registry = registry_of(__version__)
    what = "404 pages that were answered, by method and format."
    pages = Counter("ingress_manager_not_found_pages", what, ["method", "format"], registry=registry)
    # Each counter is there from the start; there are no others.
    counters = {(method, format_): pages.labels(method, format_) for method in METHODS for format_ in ("html", "text")}

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        method = environ["REQUEST_METHOD"]
        # The port of the socket. No header can change it, as it can the host.
        if environ["SERVER_PORT"] == str(probes_port):
            status, headers, body = probe(environ["PATH_INFO"], registry)
        else:
            # No X-Forwarded-… is looked at: any client can send one. A body isn't read: the worker throws it away.
            found = page(environ.get("HTTP_HOST", ""), environ["RAW_URI"], environ.get("HTTP_ACCEPT", ""))
            counters[method if method in METHODS else "other", found.format].inc()
            status, headers, body = 404, found.headers, found.body
        start_response(f"{status} {HTTPStatus(status).phrase}", list(headers.items()))
        return [] if method == "HEAD" else [body]

    logs.make_logger().info("started", version=__version__, probes_port=probes_port)
    return application


def probe(path: str, registry: CollectorRegistry) -> tuple[int, dict[str, str], bytes]:
    """Return the status, the headers and the body for a request from the cluster."""
    status, type_, body = 404, "text/plain; charset=utf-8", b"there are /healthz and /metrics\n"
    if path == "/healthz":
        status, body = 200, b"ok\n"
    elif path == "/metrics":
        status, type_, body = 200, CONTENT_TYPE_PLAIN_0_0_4, generate_latest(registry)
    return status, {"Content-Type": type_, "Content-Length": str(len(body))}, body
