"""What the applications share: bodies in, replies out (PEP 3333)."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from http import HTTPStatus
from threading import BoundedSemaphore
from typing import Any, NamedTuple

from ingress_manager.core.kubernetes import Service
from ingress_manager.core.text import one_line

LARGEST_BODY = 16 * 1024 * 1024
"""Bytes. etcd takes objects of up to 1.5 MiB, and a request holds a Service and what was made for it. But Go writes a <
as six bytes: whoever may edit a Service can make 9.5 MiB of it, and a Service that is never answered keeps its Ingress.
"""

ORDINARY_BODY = 64 * 1024
MOST_LARGE_BODIES = 4
"""A larger body than the ordinary one is only read while fewer than four others are: together they must not take more
memory than the container has. 1,200 connections with an ordinary body each take 75 MiB."""

LONGEST_LOGGED = 200
"""How many characters are logged of a request's path, or of a Service's name and namespace, which have 63 at most. But
whoever reaches the hook's port can send others.
"""

BUG = b"ingress-manager has a bug: its log says more\n"

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"

Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
"""A WSGI application."""


class Reply(NamedTuple):
    """An HTTP response."""

    status: int
    headers: dict[str, str]
    body: bytes


class Room:
    """The room for large bodies."""

    def __init__(self) -> None:
        self._large_bodies = BoundedSemaphore(MOST_LARGE_BODIES)

    def reply(
        self, environ: dict[str, Any], answer: Callable[[bytes], Reply], refuse: Callable[[int, str], Reply]
    ) -> Reply:
        """Return what `answer` replies to the body of a request, once there is room for it.

        `refuse` is given a status and a sentence where the body is too long, or can't be read to its end.
        """
        stated = environ.get("CONTENT_LENGTH", "")
        length = int(stated) if stated.isdecimal() else None  # None: it comes in chunks
        too_long = f"the body has more than {LARGEST_BODY} bytes"
        if length is not None and length > LARGEST_BODY:
            return refuse(413, too_long)
        with self.of(LARGEST_BODY if length is None else length):
            body = read(environ, length)
            if body is None:
                return refuse(400, "the body can't be read")
            return answer(body) if len(body) <= LARGEST_BODY else refuse(413, too_long)

    def of(self, length: int) -> AbstractContextManager[Any]:
        """Return the context in which a body of so many bytes is read and answered; it waits if there are too many."""
        return self._large_bodies if length > ORDINARY_BODY else nullcontext()


def guarded(inside: Wsgi, bug: Callable[[Exception, str], Reply]) -> Wsgi:
    """Return a WSGI application that answers as `inside` does and, where that raises, with what `bug` returns.

    Whatever is raised is a bug, and the next request is answered. gunicorn would answer 500, too, and count nothing.
    """

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        try:
            return inside(environ, start_response)
        except Exception as error:  # noqa: BLE001 - see above
            return send(bug(error, environ["PATH_INFO"]), start_response)

    return application


def read(environ: dict[str, Any], length: int | None) -> bytes | None:
    """Return a body of so many bytes; without a length, as much of one as shows whether it is too long.

    None: it can't be read to its end.
    """
    try:
        body: bytes = environ["wsgi.input"].read(LARGEST_BODY + 1 if length is None else length)
    except Exception:  # noqa: BLE001 - a client can break off in many ways
        return None
    return body if length in (None, len(body)) else None


def send(reply: Reply, start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Begin the response, and return its body."""
    headers = [*reply.headers.items(), ("Content-Length", str(len(reply.body)))]
    start_response(f"{reply.status} {HTTPStatus(reply.status).phrase}", headers)
    return [reply.body]


def without_answer(status: int, sentence: str) -> Reply:
    """Return the reply to what is no request for the hook."""
    return Reply(status, {"Content-Type": TEXT}, f"{status} {HTTPStatus(status).phrase}: {sentence}\n".encode())


def log_no_request(log: Any, method: str, path: str, status: int) -> None:
    """Log an HTTP request that isn't one for the hook."""
    log.warning("not a request", method=one_line(method), path=one_line(path[:LONGEST_LOGGED]), status=status)


def log_bug(log: Any, error: Exception) -> Reply:
    """Log a bug; return a reply without details, also where nothing can be logged."""
    with suppress(Exception):
        log.error("bug", status=500, exc_info=error)
    return Reply(500, {"Content-Type": TEXT}, BUG)


def named(service: Service | None) -> dict[str, str | None]:
    """Return the fields of a line of the log that say which Service it is about."""
    if service is None:
        return {"namespace": None, "service": None}
    metadata = service.metadata
    return {"namespace": metadata.namespace[:LONGEST_LOGGED], "service": metadata.name[:LONGEST_LOGGED]}
