"""A test server that responds in place of a Service's Pods and echoes each request."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from devcluster.api import Object
from devcluster.errors import DevClusterError


class Backend(ThreadingHTTPServer):
    """An HTTP server on a Service's ClusterIP and first port. Use it as a context manager.

    It responds to every GET with 200 and a JSON object, which contains the Service's `namespace/name` and port, and the
    request's method, path and headers. The constructor raises DevClusterError if it can't listen on that address.
    """

    def __init__(self, service: Object) -> None:
        name = f"{service['metadata']['namespace']}/{service['metadata']['name']}"
        address, port = service["spec"]["clusterIP"], service["spec"]["ports"][0]["port"]

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Otherwise the body, which is sent after the headers, waits 40 ms for their acknowledgement.
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                got = {"service": name, "port": port, "method": self.command, "path": self.path}
                body = json.dumps(got | {"headers": dict(self.headers)}).encode() + b"\n"
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as its base calls it
                pass

        try:
            super().__init__((address, port), Handler)
        except OSError as error:
            raise DevClusterError(f"can't listen on {address}:{port} for the Service {name}: {error}") from error
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()
