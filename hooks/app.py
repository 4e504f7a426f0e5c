"""The shell: HTTP in, HTTP out. It alone knows Flask, and it decides nothing.

| route        | answer                                                                  |
|--------------|-------------------------------------------------------------------------|
| POST /sync   | `sync.answer`: what should exist for a Service                          |
| GET /metrics | the metrics, in Prometheus' text format                                 |
| GET /healthz | 200: the process answers                                                |
| GET /readyz  | 200: the process answers; it starts only with settings that can be used |
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from time import monotonic, perf_counter
from typing import Any

import msgspec
from flask import Flask, Response, request
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from hooks import logs
from hooks.attempts import NEW_SECONDS, Attempts
from hooks.metrics import Metrics
from hooks.settings_file import SettingsFile, from_environment
from hooks.sync import Answer, refusal
from hooks.sync import answer as answer_to
from hooks.sync import changed as changed_at
from hooks.wsgi import (
    JSON,
    TEXT,
    Reply,
    Room,
    Wsgi,
    guarded,
    log_bug,
    log_no_request,
    named,
    send,
    without_answer,
)
from ingress_manager import __version__
from ingress_manager.core.copying import ANY
from ingress_manager.core.errors import Problem, Reason, Refused
from ingress_manager.core.kubernetes import Service
from ingress_manager.core.refusals import not_made

UNLIMITED_HOSTS = (
    "limits.hosts is any: every namespace may claim every host, another team's too; "
    "where teams share the cluster, limit the hosts in the settings"
)


class Sync:
    """Answers the body of a sync request, and logs and counts the answer."""

    def __init__(self, settings_file: SettingsFile) -> None:
        self.policy = settings_file.policy
        self.log = logs.make_logger()
        self.metrics = Metrics(__version__, settings_file.sha256, paused=bool(settings_file.policy.pauses))
        self.attempts = Attempts()
        self.room = Room()

    def reply(self, body: bytes) -> Reply:
        """Return the reply to one request."""
        started = perf_counter()
        answer = self.held_back(answer_to(body, self.policy, datetime.now(UTC)), body)
        headers = {"Content-Type": JSON if answer.refused is None else TEXT}
        if answer.forbidden is not None:
            self.log_removal(answer.forbidden, answer.service)
            self.metrics.count_removal(answer.forbidden.reason)
        if answer.refused is not None:
            self.log_refusal(answer.refused, answer.service)
            if answer.refused.retry_after is not None:
                headers["Retry-After"] = str(answer.refused.retry_after)
        # The last that can fail: what fails is counted by `bug`, and no answer twice.
        self.metrics.count_answer(answer.status, answer.refused, perf_counter() - started)
        return Reply(answer.status, headers, answer.body)

    def held_back(self, answer: Answer, body: bytes) -> Answer:
        """Return the answer, or a refusal after which Metacontroller asks again later."""
        service, refused = answer.service, answer.refused
        if service is None or answer.forbidden is not None:
            return answer
        if refused is None:
            seconds = self.attempts.not_made(service, monotonic())
            return answer if seconds is None else refusal(Refused(429, [not_made()], retry_after=seconds), service)
        if answer.status != 422:
            return answer
        changed = changed_at(body)
        is_new = changed is not None and (datetime.now(UTC) - changed).total_seconds() < NEW_SECONDS
        seconds = self.attempts.later(service, monotonic(), is_new=is_new)
        if seconds is None:
            return answer
        refused = Refused(429, refused.problems, more=refused.more, retry_after=seconds)
        return msgspec.structs.replace(answer, status=429, refused=refused)

    def log_refusal(self, refused: Refused, service: Service | None) -> None:
        """Log who is refused, and why; and that it is for a bug."""
        reasons = {problem.reason for problem in refused.problems}
        if Reason.BUG in reasons:
            self.log.error("bug", **named(service), status=refused.status, sentence=refused.line())
            return
        # With 429, the administrator has asked for a pause, or the same was told before, or is told later. Any other
        # refusal is for somebody to correct.
        (self.log.info if refused.status == 429 else self.log.warning)(
            "refused",
            **named(service),
            reasons=sorted(reasons),
            status=refused.status,
            sentence=refused.line(),
        )

    def log_removal(self, forbidden: Problem, service: Service | None) -> None:
        """Log whose Ingress is removed because the settings forbid it, and why: no Event tells of a removal."""
        self.log.warning(
            "removed",
            **named(service),
            reasons=[forbidden.reason],
            sentence=forbidden.told(),
        )

    def not_a_request(self, method: str, path: str, status: int, sentence: str) -> Reply:
        """Log and count an HTTP request that isn't one for the hook; return the reply that says why."""
        log_no_request(self.log, method, path, status)
        if path == "/sync":
            self.metrics.count_answer(status)
        return without_answer(status, sentence)

    def bug(self, error: Exception, path: str) -> Reply:
        """Log a bug, and count it when it was an answer to Metacontroller; return a reply without details."""
        with suppress(Exception):
            if path == "/sync":
                self.metrics.count_answer(500)
        return log_bug(self.log, error)


def create_app(settings_file: SettingsFile | None = None) -> Flask:
    """Return the WSGI application with the given settings, or else those of the file that the environment names.

    Raises ingress_manager.core.errors.SettingsError when the settings can't be used: the hook then does not start.
    """
    settings_file = from_environment() if settings_file is None else settings_file
    sync = Sync(settings_file)
    app = Flask(__name__, static_folder=None)
    app.url_map.merge_slashes = False  # //sync is not found, rather than redirected to /sync
    app.config["PROPAGATE_EXCEPTIONS"] = True  # to `guarded`
    app.wsgi_app = guarded(shortcut(sync, app.wsgi_app), sync.bug)  # type: ignore[method-assign, assignment]

    @app.post("/sync")
    def not_found() -> Response:
        """Answer any other method with 405, and //sync, of which Flask strips a slash; POST /sync never gets here."""
        raise NotFound

    @app.get("/metrics")
    def show_metrics() -> Response:
        return Response(sync.metrics.text(), content_type=CONTENT_TYPE_PLAIN_0_0_4)

    @app.get("/healthz")
    @app.get("/readyz")
    def alive() -> Response:
        return Response(b"ok\n", content_type=TEXT)

    @app.errorhandler(HTTPException)
    def not_a_request(error: HTTPException) -> Response:
        reply = sync.not_a_request(request.method, request.path, error.code or 400, error.description or "")
        if isinstance(error, MethodNotAllowed):
            reply.headers["Allow"] = ", ".join(sorted(error.valid_methods or ()))
        return response(reply)

    sync.log.info(
        "started",
        version=__version__,
        settings=msgspec.to_builtins(settings_file.policy),
        settings_sha256=settings_file.sha256,
    )
    if settings_file.policy.limits.hosts == ANY:
        sync.log.warning("unlimited hosts", sentence=UNLIMITED_HOSTS)
    return app


def shortcut(sync: Sync, otherwise: Wsgi) -> Wsgi:
    """Return a WSGI application that answers POST /sync, and leaves any other request to `otherwise`.

    Flask's routing, request and response would take more CPU than the rest of an answer, the network included.
    """

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if (environ["REQUEST_METHOD"], environ["PATH_INFO"]) != ("POST", "/sync"):
            return otherwise(environ, start_response)
        refuse = partial(sync.not_a_request, "POST", "/sync")
        return send(sync.room.reply(environ, sync.reply, refuse), start_response)

    return application


def response(reply: Reply) -> Response:
    """Return the reply as Flask's."""
    return Response(reply.body, reply.status, reply.headers)
