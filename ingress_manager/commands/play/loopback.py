"""Serves a page on loopback, to the person who started it. It is no server for a network.

| request                                                 | answer                                     |
|---------------------------------------------------------|--------------------------------------------|
| GET of a file                                           | 200                                        |
| POST of JSON to /result, from the page                  | 200: what the function returns             |
| POST that the function can't read                       | 400                                        |
| a Host that isn't this server's                         | 403: a name of somebody else leads here    |
| POST from another Origin                                | 403: another page asks                     |
| any other path                                          | 404                                        |
| POST without a length, or of more than LARGEST_BODY     | 413                                        |

The standard library's server is enough for this. Each answer ends its connection, and nothing is logged.
"""

import sys
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any

ADDRESS = "127.0.0.1"

LARGEST_BODY = 1024 * 1024
"""Bytes. A Service has at most some hundred thousand."""

SILENCE = 10.0
"""Seconds after which a client that sends nothing is left."""

RESULT = "/result"
JSON = "application/json"
TEXT = "text/plain; charset=utf-8"

HEADERS = {
    # The page's own files alone, and no script makes markup of text.
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

File = tuple[str, bytes]
"""What is answered to a GET: the Content-Type, and the content."""

Function = Callable[[bytes], bytes]
"""Takes a body of JSON and returns another. Raises ValueError, in a sentence, for one that it can't read."""


class Loopback(ThreadingTCPServer):
    """A server of files, by their paths, and of a function. Raises OSError when it can't have the port; 0: any."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, port: int, files: Mapping[str, File], function: Function) -> None:
        super().__init__((ADDRESS, port), _Handler)
        self.files = files
        self.function = function
        port = self.server_address[1]
        self.url = f"http://{ADDRESS}:{port}/"
        self.hosts = {f"{name}:{port}".removesuffix(":80") for name in ("localhost", ADDRESS)}
        """What a browser names that asks this server by a name of its own: no DNS leads to another."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that has gone."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Loopback
    timeout = SILENCE
    default_request_version = "HTTP/1.0"  # else what is no HTTP is answered without headers
    server_version = "ingress-manager"
    sys_version = ""

    def do_GET(self) -> None:
        file = self.server.files.get(self.path.partition("?")[0])
        if self._host() is None:
            self.send_error(403, f"this is {self.server.url}")
        elif file is None:
            self.send_error(404)
        else:
            self._answer(200, *file)

    def do_POST(self) -> None:
        host = self._host()
        length = self.headers.get("Content-Length", "")
        if host is None:
            self.send_error(403, f"this is {self.server.url}")
        elif self.headers.get("Origin") != f"http://{host}":
            self.send_error(403, "another page may not ask this")
        elif self.path != RESULT:
            self.send_error(404)
        elif not (length.isdecimal() and len(length) < 9 and int(length) <= LARGEST_BODY):
            self.send_error(413, f"it is larger than {LARGEST_BODY // 1024} KiB")
        else:
            try:
                self._answer(200, JSON, self.server.function(self.rfile.read(int(length))))
            except ValueError as error:
                self.send_error(400, str(error))

    def _host(self) -> str | None:
        """Return the Host, if it is this server's."""
        hosts: list[str] = self.headers.get_all("Host", [])
        return hosts[0] if len(hosts) == 1 and hosts[0] in self.server.hosts else None

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Answer with a status other than 200. The standard library calls it for what is no HTTP, or another method."""
        self._answer(code, TEXT, f"{message or HTTPStatus(code).phrase}\n".encode())

    def _answer(self, status: int, content_type: str, content: bytes) -> None:
        self.send_response(status)
        headers = {"Content-Type": content_type, "Content-Length": str(len(content)), **HEADERS}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: Any) -> None:
        """Log nothing."""
