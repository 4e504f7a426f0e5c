"""HTTP for the hook and the webhook. Only this module uses Flask, and it makes no decisions.

| route                     | answer                                                             |
|---------------------------|--------------------------------------------------------------------|
| POST /sync (the hook)     | `sync.answer`: the objects that should exist for a Service         |
| POST /admit (the webhook) | `admission.answer`: whether a Service may be written               |
| GET /metrics              | the metrics, in Prometheus' text format                            |
| GET /healthz, /readyz     | 200, because the process starts only with valid settings           |
"""

import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from threading import BoundedSemaphore

import gevent
from flask import Flask, Response, request
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from werkzeug import exceptions

from hooks import admission, sync
from hooks.logs import make_logger
from hooks.metrics import Metrics
from hooks.reporting import LATER_SECONDS, Buckets
from hooks.settings_file import SettingsFile, from_environment
from hooks.sync import Answer
from ingress_manager import __version__
from ingress_manager.core.text import one_line

LARGEST_BODY = 16 * 1024 * 1024
"""The most bytes in a request body. etcd stores up to 1.5 MiB, but Go writes < as six bytes of JSON, so a Service can
take 9 MiB. If the hook rejected this, forbidden objects would stay."""

ORDINARY_BODY = 64 * 1024
"""Bytes. Larger bodies are read and answered one at a time, to save memory."""

SLOWEST_BODY = 2  # seconds for a body to arrive, and for a large one to wait its turn; Metacontroller waits five
LONGEST_LOGGED = 200  # characters of a path or name: anyone who can reach the port can send longer ones

TEXT = "text/plain; charset=utf-8"
BUG = "this is a bug in ingress-manager: see its log"


def create_app(settings_file: SettingsFile | None = None) -> Flask:
    """Return the hook's application. By default, reads the file named in the environment. Raises SettingsError."""
    settings, buckets = settings_file or from_environment(), Buckets()

    def reply(body: bytes) -> Answer:
        return buckets.throttle(sync.answer(body, settings.settings, time.time()), time.time())

    return make_app("/sync", reply, Metrics(settings))


def create_webhook(settings_file: SettingsFile | None = None) -> Flask:
    """Return the webhook's application. Reads the settings like `create_app`. Raises SettingsError."""
    settings = settings_file or from_environment()
    metrics = Metrics(settings, is_webhook=True)
    return make_app("/admit", lambda body: admission.answer(body, settings.settings), metrics)


def make_app(path: str, reply: Callable[[bytes], Answer], metrics: Metrics) -> Flask:
    """Return an application that calls `reply` with the body of each POST to `path`."""
    make_logger().info("started", version=__version__, settings_sha256=metrics.sha256)
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    large_bodies = BoundedSemaphore()  # gevent's, under gunicorn

    @app.post(path)
    def answer() -> Response:
        if request.environ["PATH_INFO"] != path:
            raise exceptions.NotFound  # Flask also routes //sync here
        length = request.content_length
        with ExitStack() as exits:
            if length is None or length > ORDINARY_BODY:
                with gevent.Timeout(SLOWEST_BODY, exceptions.TooManyRequests(retry_after=LATER_SECONDS.start)):
                    exits.enter_context(large_bodies)
            with gevent.Timeout(SLOWEST_BODY, exceptions.RequestTimeout):
                body = request.get_data(cache=False)
            if length is None and len(body) >= LARGEST_BODY:
                raise exceptions.RequestEntityTooLarge  # Flask stops reading a chunked body there
            started = time.perf_counter()
            replied = reply(body)
            log_answer(replied)
        # Counted last, because a failure above is counted as a bug, and no request may be counted twice.
        metrics.count(replied, time.perf_counter() - started)
        return response_of(replied)

    @app.get("/metrics")
    def show_metrics() -> Response:
        return stop_receiving(Response(generate_latest(metrics.registry), content_type=CONTENT_TYPE_PLAIN_0_0_4))

    @app.get("/healthz")
    @app.get("/readyz")
    def alive() -> Response:
        return stop_receiving(Response(b"ok\n", content_type=TEXT))

    @app.errorhandler(Exception)
    def reply_with_error(error: Exception) -> Response:
        http_error = error if isinstance(error, exceptions.HTTPException) else exceptions.InternalServerError(BUG)
        is_bug, status = http_error is not error, http_error.code or 400
        fields = {"method": one_line(request.method), "path": one_line(request.path[:LONGEST_LOGGED]), "status": status}
        with suppress(Exception):  # this may be the bug; or standard error is closed, or its disk is full
            if request.path == path:
                metrics.count_error(status)
            if is_bug:
                make_logger().error("bug", **fields, exc_info=error)
            else:
                make_logger().warning("rejected", **fields)
        text = f"{status} {http_error.name}: {http_error.description}\n"
        return stop_receiving(Response(text, status, http_error.get_headers(), content_type=TEXT))

    return app


def response_of(answer: Answer) -> Response:
    headers = {} if answer.retry_after is None else {"Retry-After": str(answer.retry_after)}
    type_ = "application/json" if answer.status == 200 else TEXT
    return Response(answer.body, answer.status, headers, content_type=type_)


def stop_receiving(response: Response) -> Response:
    """Stop receiving the request, and return the response. gunicorn would otherwise read a body of any length."""
    if client := request.environ.get("gunicorn.socket"):
        # Shut down a copy: once shut down, a TLS socket sends plain text. The client may be gone.
        with suppress(OSError), socket.fromfd(client.fileno(), client.family, client.type) as duplicate:
            duplicate.shutdown(socket.SHUT_RD)
    return response


def log_answer(answer: Answer) -> None:
    """Log the reasons for a refusal, removal, warning or denial, but not the user who changed the Service."""
    # A missing object is logged as a refusal once it is reported.
    if answer.problems is None or answer.outcome == sync.INCOMPLETE:
        return
    # kubectl shows warnings anyway. A 429 is a pause, or a problem that is logged again when reported.
    is_quiet = answer.status == 429 or answer.outcome == admission.WARNED
    metadata = answer.service.metadata if answer.service else None
    log = make_logger().info if is_quiet else make_logger().warning
    log(
        answer.outcome,
        namespace=metadata and metadata.namespace[:LONGEST_LOGGED],
        service=metadata and metadata.name[:LONGEST_LOGGED],
        status=answer.status,
        reasons=sorted({problem.reason for problem in answer.problems.kept}),
        sentence=answer.problems.line(),
    )
