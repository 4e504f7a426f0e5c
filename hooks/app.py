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
from datetime import UTC, datetime
from threading import BoundedSemaphore

import gevent
from flask import Flask, Response, request
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound, RequestEntityTooLarge, RequestTimeout

from hooks import admission, logs, sync
from hooks.metrics import Metrics
from hooks.settings_file import SettingsFile, from_environment
from hooks.telling import Memory
from ingress_manager import __version__
from ingress_manager.core.copying import ANY
from ingress_manager.core.kubernetes import Service
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
UNLIMITED_HOSTS = (
    "limits.hosts is any: every namespace may claim every host, another team's too; "
    "where teams share the cluster, limit the hosts in the settings"
)
log = logs.make_logger


def create_app(settings_file: SettingsFile | None = None) -> Flask:
    """Return the hook with the given settings, or else those of the file that the environment names.

    Raises ingress_manager.core.errors.SettingsError when the settings can't be used: the hook then does not start.
    """
    settings_file = from_environment() if settings_file is None else settings_file
    policy = settings_file.policy
    metrics = Metrics(__version__, settings_file.sha256, paused=bool(policy.pauses))
    memory = Memory()

    def reply(body: bytes) -> sync.Answer:
        now = time.time()
        answer = memory.told(sync.answer(body, policy, datetime.fromtimestamp(now, UTC)), now)
        tell(answer)
        if answer.forbidden is not None:
            metrics.count_removal(answer.forbidden.reason)
        if answer.refused is not None:
            metrics.count_refusal(answer.refused)
        return answer

    log().info("started", version=__version__, settings_sha256=settings_file.sha256)
    if policy.limits.hosts == ANY:
        log().warning("unlimited hosts", sentence=UNLIMITED_HOSTS)
    return make_app("/sync", reply, metrics)


def create_webhook(settings_file: SettingsFile | None = None) -> Flask:
    """Return the webhook, which answers the API server; the rest is as with `create_app`."""
    settings_file = from_environment() if settings_file is None else settings_file
    policy = settings_file.policy
    metrics = Metrics(__version__, settings_file.sha256, is_webhook=True)

    def reply(body: bytes) -> admission.Answer:
        answer = admission.answer(body, policy)
        if answer.service is not None:  # who changes it is not logged
            (log().warning if answer.word == admission.DENIED else log().info)(
                answer.word,
                **named(answer.service),
                reasons=sorted({problem.reason for problem in answer.problems}),
                sentences=[problem.told() for problem in answer.problems],
            )
        return answer

    log().info("started", version=__version__, deny=policy.admission.deny, settings_sha256=settings_file.sha256)
    return make_app("/admit", reply, metrics)


def make_app(path: str, reply: Callable[[bytes], sync.Answer | admission.Answer], metrics: Metrics) -> Flask:
    """Return the application that gives the body of each POST to `reply`, and tells of what is no request, or a bug."""
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
        # The last that can fail: what fails is counted as a bug, and no answer twice.
        metrics.count(answered.word, time.perf_counter() - started)
        type_ = "application/json" if answered.status == 200 else TEXT
        response = Response(answered.body, answered.status, content_type=type_)
        if answered.later is not None:
            response.headers["Retry-After"] = str(answered.later)
        return response

    @app.get("/metrics")
    def show_metrics() -> Response:
        return closing(Response(metrics.text(), content_type=CONTENT_TYPE_PLAIN_0_0_4))

    @app.get("/healthz")
    @app.get("/readyz")
    def alive() -> Response:
        return closing(Response(b"ok\n", content_type=TEXT))

    answer_errors(app, path, metrics.count_error)
    return app


def answer_errors(app: Flask, path: str, count: Callable[[int], None]) -> None:
    """Answer, log and count what is no request, and each exception, which is a bug."""

    @app.errorhandler(HTTPException)
    def not_a_request(error: HTTPException) -> Response:
        status = error.code or 400
        sent = {"method": one_line(request.method), "path": one_line(request.path[:LONGEST_LOGGED])}
        log().warning("not a request", **sent, status=status)
        if request.path == path:
            count(status)
        response = closing(Response(f"{status} {error.name}: {error.description}\n", status, content_type=TEXT))
        if isinstance(error, MethodNotAllowed):
            response.headers["Allow"] = ", ".join(sorted(error.valid_methods or ()))
        return response

    @app.errorhandler(Exception)
    def bug(error: Exception) -> Response:
        # Standard error may be closed, or the disk behind it full.
        with suppress(Exception):
            log().error("bug", status=500, exc_info=error)
        with suppress(Exception):
            if request.path == path:
                count(500)
        return closing(Response(b"ingress-manager has a bug: its log says more\n", 500, content_type=TEXT))


def closing(response: Response) -> Response:
    """Return the response, and let nothing more come: gunicorn would read a body that nobody reads, without an end."""
    if client := request.environ.get("gunicorn.socket"):
        # Of a copy: one with TLS would go on without. It may be gone.
        with suppress(OSError), socket.fromfd(client.fileno(), client.family, client.type) as same:
            same.shutdown(socket.SHUT_RD)
    return response


def tell(answer: sync.Answer) -> None:
    """Log who is refused, or of whom the settings forbid something, and why. That it is removed is told by no Event."""
    if answer.forbidden is not None:
        why = {"reasons": [answer.forbidden.reason], "sentence": answer.forbidden.told()}
        log().warning("removed", **named(answer.service), **why)
    if answer.refused is None:
        return
    reasons = sorted({problem.reason for problem in answer.refused.problems})
    line = {**named(answer.service), "status": answer.status, "sentence": answer.refused.line()}
    # With 429, the administrator has asked for a pause, or the same is told at another time.
    (log().info if answer.status == 429 else log().warning)("refused", **line, reasons=reasons)


def named(service: Service | None) -> dict[str, str | None]:
    """Return the fields of a line of the log that say which Service it is about."""
    if service is None:
        return {"namespace": None, "service": None}
    metadata = service.metadata
    return {"namespace": metadata.namespace[:LONGEST_LOGGED], "service": metadata.name[:LONGEST_LOGGED]}
