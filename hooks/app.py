"""The shell: HTTP in, HTTP out. It alone knows Flask, and it decides nothing.

| route                       | answer                                                                  |
|-----------------------------|-------------------------------------------------------------------------|
| POST /sync, of the hook     | `sync.answer`: what should exist for a Service                          |
| POST /admit, of the webhook | `admission.answer`: what is wrong with a Service, before it is written  |
| GET /metrics                | the metrics, in Prometheus' text format                                 |
| GET /healthz                | 200: the process answers                                                |
| GET /readyz                 | 200: the process answers; it starts only with settings that can be used |
"""

import socket
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from threading import BoundedSemaphore

import gevent
from flask import Flask, Response, request
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from werkzeug.exceptions import HTTPException, InternalServerError, NotFound, RequestEntityTooLarge, RequestTimeout

from hooks import admission, sync
from hooks.logs import make_logger
from hooks.metrics import Metrics
from hooks.settings_file import SettingsFile, from_environment
from hooks.sync import Answer
from hooks.telling import Buckets
from ingress_manager import __version__
from ingress_manager.core.text import one_line

LARGEST_BODY = 16 * 1024 * 1024
"""Bytes. etcd takes objects of up to 1.5 MiB, and a request holds a Service and what was made for it. But Go writes a <
as six bytes: whoever may edit a Service can make 9.5 MiB of it, and a Service that is never answered keeps its Ingress.
"""

ORDINARY_BODY = 64 * 1024
MOST_LARGE_BODIES = 4
"""A larger body than the ordinary one is only read while fewer than four others are: together they must not take more
memory than the container has. 900 connections with an ordinary body each take 56 MiB."""

SLOWEST_BODY = 10
"""Seconds in which a body has to come: those of others wait for a large one."""

LONGEST_LOGGED = 200
"""How many characters are logged of a request's path, or of a Service's name and namespace, which have 63 at most. But
whoever reaches the hook's port can send others."""

TEXT = "text/plain; charset=utf-8"
A_BUG = "ingress-manager has a bug: its log says more"


def create_app(settings_file: SettingsFile | None = None) -> Flask:
    """Return the hook with the given settings, or else those of the file that the environment names.

    Raises ingress_manager.core.errors.SettingsError when the settings can't be used: the hook then does not start.
    """
    settings_file = settings_file or from_environment()
    buckets = Buckets()

    def reply(body: bytes) -> Answer:
        now = time.time()
        return buckets.told(sync.answer(body, settings_file.policy, now), now)

    return make_app("/sync", reply, settings_file, Metrics(settings_file))


def create_webhook(settings_file: SettingsFile | None = None) -> Flask:
    """Return the webhook, which answers the API server; the rest is as with `create_app`."""
    settings_file = settings_file or from_environment()
    metrics = Metrics(settings_file, is_webhook=True)
    return make_app("/admit", lambda body: admission.answer(body, settings_file.policy), settings_file, metrics)


def make_app(path: str, reply: Callable[[bytes], Answer], settings_file: SettingsFile, metrics: Metrics) -> Flask:
    """Return the application that gives the body of each POST to `reply`, and tells of what is no request, or a bug."""
    make_logger().info("started", version=__version__, settings_sha256=settings_file.sha256)
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    large_bodies = BoundedSemaphore(MOST_LARGE_BODIES)

    @app.post(path)
    def answer() -> Response:
        if request.environ["PATH_INFO"] != path:
            raise NotFound  # such as //sync: Flask strips a slash
        length = request.content_length
        with large_bodies if length is None or length > ORDINARY_BODY else nullcontext():
            with gevent.Timeout(SLOWEST_BODY, RequestTimeout):
                body = request.get_data(cache=False)
            if length is None and len(body) >= LARGEST_BODY:
                raise RequestEntityTooLarge  # of chunks, Flask reads no more
            started = time.perf_counter()
            answered = reply(body)
            log_answer(answered)
        # The last that can fail: what fails is counted as a bug, and no answer twice.
        metrics.count(answered, time.perf_counter() - started)
        type_ = "application/json" if answered.status == 200 else TEXT
        headers = {} if answered.later is None else {"Retry-After": str(answered.later)}
        return Response(answered.body, answered.status, headers, content_type=type_)

    @app.get("/metrics")
    def show_metrics() -> Response:
        return closing(Response(generate_latest(metrics.registry), content_type=CONTENT_TYPE_PLAIN_0_0_4))

    @app.get("/healthz")
    @app.get("/readyz")
    def alive() -> Response:
        return closing(Response(b"ok\n", content_type=TEXT))

    @app.errorhandler(Exception)
    def no_answer(error: Exception) -> Response:
        told = error if isinstance(error, HTTPException) else InternalServerError(A_BUG)
        is_bug, status = told is not error, told.code or 400
        asked = {"method": one_line(request.method), "path": one_line(request.path[:LONGEST_LOGGED])}
        with suppress(Exception):  # standard error may be closed, or the disk behind it full
            if request.path == path:
                metrics.count_error(status)
            if is_bug:
                make_logger().error("bug", **asked, status=status, exc_info=error)
            else:
                make_logger().warning("not a request", **asked, status=status)
        sentence = f"{status} {told.name}: {told.description}\n"
        return closing(Response(sentence, status, told.get_headers(), content_type=TEXT))

    return app


def closing(response: Response) -> Response:
    """Return the response, and let nothing more come: gunicorn would read a body that nobody reads, without an end."""
    if client := request.environ.get("gunicorn.socket"):
        # Of a copy: one with TLS would go on without. It may be gone.
        with suppress(OSError), socket.fromfd(client.fileno(), client.family, client.type) as same:
            same.shutdown(socket.SHUT_RD)
    return response


def log_answer(answer: Answer) -> None:
    """Log whose Service is refused, removed, warned of or denied, and why; who changes it is not logged."""
    # What isn't there yet is told, as a refusal, if it isn't made.
    if answer.why is None or answer.word == sync.ASKED:
        return
    # Somebody is warned; or with 429, the administrator has asked for a pause, or the same is told at another time.
    is_quiet = answer.status == 429 or answer.word == admission.WARNED
    metadata = answer.service.metadata if answer.service else None
    (make_logger().info if is_quiet else make_logger().warning)(
        answer.word,
        namespace=metadata and metadata.namespace[:LONGEST_LOGGED],
        service=metadata and metadata.name[:LONGEST_LOGGED],
        status=answer.status,
        reasons=sorted({problem.reason for problem in answer.why.problems}),
        sentence=answer.why.line(),
    )
