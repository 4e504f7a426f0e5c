"""The 404 page, as a WSGI application (PEP 3333): HTML for clients that accept it, one line of text for others."""

import re
from collections.abc import Callable, Iterable
from html import escape

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, Counter, generate_latest
from werkzeug.wrappers import Request, Response

from hooks.metrics import make_registry

PROBES_PORT = 8081
NOT_FOUND = "404 Not Found"
HTML = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"/><meta name="viewport" content="width=device-width"/>
<meta name="color-scheme" content="light dark"/><title>404: There is no page here</title></head>
<body><h1>404: There is no page here</h1><p>Nothing is served at <code>{}</code></p>
<p>Check the address for typos, or ask whoever gave you the link.</p>
<p>For the Service's owner: <code>kubectl describe service NAME</code> shows what is wrong.</p></body></html>
"""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


def create_app(probes_port: int = PROBES_PORT) -> Callable[..., Iterable[bytes]]:
    """Return the WSGI application. It serves health checks and metrics only on `probes_port`, inside the cluster."""
    registry = make_registry()
    pages = Counter("ingress_manager_not_found_pages", "404 pages served.", registry=registry)

    @Request.application
    def application(request: Request) -> Response:
        # SERVER_PORT is the socket's port, which no header can change. X-Forwarded-… is ignored, and no body is read.
        is_probe, path = request.environ["SERVER_PORT"] == str(probes_port), request.environ["PATH_INFO"]
        if is_probe and path == "/healthz":
            return Response("ok\n")
        if is_probe and path == "/metrics":
            return Response(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)
        pages.inc()
        # Leave out the query, which may contain a secret. In WSGI, each byte is one character.
        address = re.sub(r"[^!-~]", lambda found: f"%{ord(found[0]):02X}", request.environ.get("HTTP_HOST", "") + path)
        if "text/html" in request.headers.get("Accept", "").lower():
            return Response(HTML.format(escape(address)), NOT_FOUND, HEADERS, mimetype="text/html")
        return Response(f"404: There is no page here: {address}\n", NOT_FOUND, HEADERS)

    return application
