"""The shell of the answer at `kubectl apply`: HTTP in, HTTP out (PEP 3333).

| route        | answer                                                                  |
|--------------|-------------------------------------------------------------------------|
| POST /admit  | `admission.answer`: what is wrong with a Service, before it is written  |
| GET /metrics | the metrics, in Prometheus' text format                                 |
| GET /healthz | 200: the process answers                                                |
| GET /readyz  | 200: the process answers; it starts only with settings that can be used |
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from time import perf_counter
from typing import Any

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from hooks import logs
from hooks.admission import DENIED, UNREAD, Answer
from hooks.admission import answer as answer_to
from hooks.metrics import AdmissionMetrics
from hooks.settings_file import SettingsFile, from_environment
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


class Admission:
    """Answers the API server, and logs and counts the answer."""

    def __init__(self, settings_file: SettingsFile) -> None:
        self.policy = settings_file.policy
        self.log = logs.make_logger()
        self.metrics = AdmissionMetrics(__version__, settings_file.sha256)
        self.room = Room()

    def reply(self, method: str, path: str, environ: dict[str, Any]) -> Reply:
        """Return the reply to a request."""
        match method, path:
            case "POST", "/admit":
                return self.room.reply(environ, self.answer, without_answer)
            case "GET" | "HEAD", "/metrics":
                return Reply(200, {"Content-Type": CONTENT_TYPE_PLAIN_0_0_4}, self.metrics.text())
            case "GET" | "HEAD", "/healthz" | "/readyz":
                return Reply(200, {"Content-Type": TEXT}, b"ok\n")
        return without_answer(404, "there are POST /admit, GET /metrics, /healthz and /readyz")

    def answer(self, body: bytes) -> Reply:
        """Return the reply to the body of a request."""
        started = perf_counter()
        answer = answer_to(body, self.policy)
        if answer.service is not None:
            self.tell(answer)
        # The last that can fail: what fails is counted by `bug`, and no answer twice.
        self.metrics.count(answer.word, perf_counter() - started)
        return Reply(answer.status, {"Content-Type": JSON if answer.status == 200 else TEXT}, answer.body)

    def tell(self, answer: Answer) -> None:
        """Log what was told, and of which Service: not who changes it."""
        (self.log.warning if answer.word == DENIED else self.log.info)(
            answer.word,
            **named(answer.service),
            reasons=sorted({problem.reason for problem in answer.problems}),
            sentences=[problem.told() for problem in answer.problems],
        )

    def bug(self, error: Exception, path: str) -> Reply:
        """Log a bug, and count it when it was an answer to the API server; return a reply without details."""
        with suppress(Exception):
            if path == "/admit":
                self.metrics.count(UNREAD)
        return log_bug(self.log, error)

    def application(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request: WSGI."""
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        reply = self.reply(method, path, environ)
        if reply.status not in {200, 500}:
            log_no_request(self.log, method, path, reply.status)
        body = send(reply, start_response)
        return [] if method == "HEAD" else body


def create_app(settings_file: SettingsFile | None = None) -> Wsgi:
    """Return the WSGI application with the given settings, or else those of the file that the environment names.

    Raises ingress_manager.core.errors.SettingsError when the settings can't be used: it then does not start.
    """
    settings_file = from_environment() if settings_file is None else settings_file
    admission = Admission(settings_file)
    deny = settings_file.policy.admission.deny
    admission.log.info("started", version=__version__, deny=deny, settings_sha256=settings_file.sha256)
    return guarded(admission.application, admission.bug)
