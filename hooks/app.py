"""The shell: HTTP in, HTTP out. It alone knows Flask, and it decides nothing.

| route           | answer                                                        |
|-----------------|---------------------------------------------------------------|
| POST /sync      | `core.sync`: which Ingress should exist for a Service         |
| GET /healthz    | 200: the process answers                                      |
| GET /readyz     | 200: the settings are read; without them it would not be here |
"""

import sys

import msgspec
import structlog
from flask import Flask, Response, request
from werkzeug.exceptions import BadRequest, HTTPException, MethodNotAllowed, RequestEntityTooLarge

from hooks import core, settings
from hooks.answers import Answer
from hooks.policy import Policy

LARGEST_BODY = 8 * 1024 * 1024
"""Bytes. The API server takes objects of up to 3 MiB; a request holds a Service and two views of its Ingress."""


def create_app(policy: Policy | None = None) -> Flask:
    """Return the WSGI application, with `policy` or else the one that the environment names.

    Raises hooks.settings.SettingsError when the settings can't be used: the hook then does not start.
    """
    policy = settings.from_environment() if policy is None else policy
    log = structlog.wrap_logger(
        structlog.PrintLogger(sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
    )
    app = Flask(__name__, static_folder=None)
    # One more than is allowed: werkzeug cuts a chunked body at this length without a word, and `body` must see it.
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY + 1
    app.url_map.merge_slashes = False  # //sync is not found, rather than redirected to /sync

    @app.post("/sync")
    def sync() -> Response:
        return respond(core.sync(body(), policy))

    app.add_url_rule("/healthz", view_func=alive)
    app.add_url_rule("/readyz", view_func=alive)

    def respond(answer: Answer) -> Response:
        if answer.status == 200:
            return Response(answer.body, mimetype="application/json")
        response = Response(answer.body, answer.status, mimetype="text/plain")
        if answer.retry_after is not None:
            response.headers["Retry-After"] = str(answer.retry_after)
        log.warning("refused", path=request.path, status=answer.status, reason=answer.body.decode().rstrip("\n"))
        return response

    @app.errorhandler(HTTPException)
    def not_a_route(error: HTTPException) -> Response:
        answer = respond(Answer(error.code or 400, f"{error.code} {error.name}: {error.description}\n".encode()))
        if isinstance(error, MethodNotAllowed):
            answer.headers["Allow"] = ", ".join(sorted(error.valid_methods or ()))
        return answer

    log.info("started", settings=msgspec.to_builtins(policy))
    return app


def alive() -> Response:
    """Return 200."""
    return Response("ok\n", mimetype="text/plain")


def body() -> bytes:
    """Return the request's body.

    Raises an HTTPException: RequestEntityTooLarge, or BadRequest when the body can't be read to its end.
    """
    try:
        text = request.get_data(cache=False)
    except HTTPException:
        raise
    except Exception as error:
        raise BadRequest("the body can't be read") from error
    if len(text) > LARGEST_BODY:
        raise RequestEntityTooLarge
    return text
