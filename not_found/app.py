"""The 404 page, WSGI in and out (PEP 3333): a page in English for who accepts HTML, a line for all others."""

import re
from collections.abc import Callable, Iterable
from html import escape
from typing import Any

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, Counter, generate_latest

from hooks import logs
from hooks.metrics import registry_of
from ingress_manager import __version__

PROBES_PORT = 8081
LONGEST = 200  # characters of the host, and of the path, that are shown
LINE = "404: There is no page here: {}\n"
HTML = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"/><meta name="viewport" content="width=device-width"/>
<meta name="color-scheme" content="light dark"/><title>404: There is no page here</title></head>
<body><h1>404: There is no page here</h1><p>Nothing is served at <code>{}</code></p>
<p>Is every letter right? Else ask whoever gave you the link.</p>
<p>For the Service's owner: <code>kubectl describe service NAME</code> says what is wrong.</p></body></html>
"""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Vary": "Accept",
}


def create_app(probes_port: int = PROBES_PORT) -> Callable[..., Iterable[bytes]]:
    """Return the WSGI application. What comes in by `probes_port` is from the cluster; all else is from visitors."""
    registry = registry_of(__version__)
    pages = Counter("ingress_manager_not_found_pages", "404 pages that were answered.", registry=registry)

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        status, type_ = "404 Not Found", "text/plain; charset=utf-8"
        body = b"there are /healthz and /metrics\n"
        # The port of the socket: no header can change it. No X-Forwarded-… is looked at, and no body is read.
        if environ["SERVER_PORT"] != str(probes_port):
            pages.inc()
            # The query isn't shown: it may hold a secret.
            address = shown(environ.get("HTTP_HOST", "")) + shown(environ["PATH_INFO"])
            is_html = "text/html" in environ.get("HTTP_ACCEPT", "").lower()
            type_ = f"text/{'html' if is_html else 'plain'}; charset=utf-8"
            body = (HTML.format(escape(address)) if is_html else LINE.format(address)).encode()
        elif environ["PATH_INFO"] == "/healthz":
            status, body = "200 OK", b"ok\n"
        elif environ["PATH_INFO"] == "/metrics":
            status, type_, body = "200 OK", CONTENT_TYPE_PLAIN_0_0_4, generate_latest(registry)
        start_response(status, [("Content-Type", type_), ("Content-Length", str(len(body))), *HEADERS.items()])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]

    logs.make_logger().info("started", version=__version__, probes_port=probes_port)
    return application


def shown(sent: str) -> str:
    """Return a part of an address, which came as bytes (one character each), in ASCII, and cut where it is too long."""
    text = re.sub(r"[^!-~]", lambda found: f"%{ord(found[0]):02X}", sent)
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"
