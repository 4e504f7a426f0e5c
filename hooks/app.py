"""The shell: HTTP in, HTTP out. It alone knows Flask, and it decides nothing.

| route        | answer                                                                  |
|--------------|-------------------------------------------------------------------------|
| POST /sync   | `metacontroller.answer`: what should exist for a Service                |
| GET /metrics | the metrics, in Prometheus' text format                                 |
| GET /healthz | 200: the process answers                                                |
| GET /readyz  | 200: the process answers; it starts only with settings that can be used |
"""

from importlib.metadata import version
from time import perf_counter
from typing import Any

import msgspec
from flask import Flask, Response, request
from prometheus_client import CONTENT_TYPE_LATEST
from werkzeug.exceptions import BadRequest, HTTPException, MethodNotAllowed, RequestEntityTooLarge

from hooks import logs, metacontroller, settings
from hooks.errors import Refused
from hooks.metacontroller import Answer
from hooks.metrics import Metrics
from hooks.settings import SettingsFile
from hooks.text import one_line

LARGEST_BODY = 8 * 1024 * 1024
"""Bytes. The API server takes objects of up to 3 MiB; a request holds a Service and what was made for it."""

LONGEST_LOGGED = 200
"""Characters of a path."""

VERSION = version("ingress-manager")


def create_app(stated: SettingsFile | None = None) -> Flask:
    """Return the WSGI application, with the settings `stated` or else those that the environment names.

    Raises hooks.errors.SettingsError when the settings can't be used: the hook then does not start.
    """
    policy, sha256 = settings.from_environment() if stated is None else stated
    log = logs.make_logger()
    metrics = Metrics(VERSION, sha256)
    app = Flask(__name__, static_folder=None)
    # One more than is allowed: werkzeug cuts a chunked body at this length without a word, and `read_body` must see it.
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY + 1
    app.url_map.merge_slashes = False  # //sync is not found, rather than redirected to /sync

    @app.post("/sync")
    def sync() -> Response:
        body = read_body()
        started = perf_counter()
        answer = metacontroller.answer(body, policy)
        metrics.count_answer(answer.status, answer.refused, perf_counter() - started)
        if answer.refused is None:
            return Response(answer.body, mimetype="application/json")
        log_refusal(log, answer, answer.refused)
        return refusal(answer, answer.refused)

    @app.get("/metrics")
    def show_metrics() -> Response:
        return Response(metrics.text(), content_type=CONTENT_TYPE_LATEST)

    @app.get("/healthz")
    @app.get("/readyz")
    def alive() -> Response:
        return plain(b"ok\n", 200)

    @app.errorhandler(HTTPException)
    def not_a_request(error: HTTPException) -> Response:
        status = error.code or 400
        if request.path == "/sync":
            metrics.count_answer(status)
        log.warning("not a request", method=one_line(request.method), path=shown_path(), status=status)
        answer = plain(f"{status} {error.name}: {error.description}\n".encode(), status)
        if isinstance(error, MethodNotAllowed):
            answer.headers["Allow"] = ", ".join(sorted(error.valid_methods or ()))
        return answer

    @app.errorhandler(Exception)
    def bug(error: Exception) -> Response:
        metrics.count_answer(500)
        log.error("bug", path=shown_path(), status=500, exc_info=error)
        return plain(b"ingress-manager has a bug: its log says more\n", 500)

    log.info("started", version=VERSION, settings=msgspec.to_builtins(policy), settings_sha256=sha256)
    return app


def shown_path() -> str:
    """Return the request's path for the log."""
    return one_line(request.path[:LONGEST_LOGGED])


def log_refusal(log: Any, answer: Answer, refused: Refused) -> None:
    """Log who is refused, and why."""
    service = answer.service.metadata if answer.service else None
    # A pause is what the administrator asked for; anything else is for somebody to mend.
    (log.info if answer.status == 429 else log.warning)(
        "refused",
        namespace=service and service.namespace,
        service=service and service.name,
        reasons=sorted({problem.reason for problem in refused.problems}),
        status=answer.status,
        sentence=answer.body.decode().rstrip("\n"),
    )


def refusal(answer: Answer, refused: Refused) -> Response:
    """Return the response that says why nothing changes."""
    response = plain(answer.body, answer.status)
    if refused.retry_after is not None:
        response.headers["Retry-After"] = str(refused.retry_after)
    return response


def plain(text: bytes, status: int) -> Response:
    """Return a response of plain text."""
    return Response(text, status, mimetype="text/plain")


def read_body() -> bytes:
    """Return the request's body.

    Raises an HTTPException: RequestEntityTooLarge, or BadRequest when the body can't be read to its end.
    """
    try:
        body = request.get_data(cache=False)
    except HTTPException:
        raise
    except Exception as error:
        raise BadRequest("the body can't be read") from error
    if len(body) > LARGEST_BODY:
        raise RequestEntityTooLarge
    return body
