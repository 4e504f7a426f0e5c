"""gunicorn's gevent worker, which also closes idle connections when it stops, and lets no client hold up the others.

It overrides methods that gunicorn doesn't document: `timeout_ctx`, `handle` and `handle_request`. gunicorn could do all
of it for everybody, and then this module would go:

- `timeout_ctx`: when a worker stops, end the wait for another request. gunicorn's gevent worker waits for it until
  `graceful_timeout` is over; its threaded worker does not.
- `handle`: the handshake of TLS, with a limit of its time.
- `handle_request`: a limit of the time that one request may take, and of what is read of a body that the application
  has left unread.
- `linger`: read on for a moment before a connection is closed (RFC 9112, section 9.6).
- `OneWrite`: the head and the body of an answer in one write.
- `gevent.sleep(0)` after each request: one connection that always has something to read shall not be served alone.

tests/hooks/test_server.py notices where another version of gunicorn calls them in another way.
"""

import gc
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any

import gevent
from gunicorn.workers.ggevent import GeventWorker

from hooks import logs
from hooks.certificate import shakes_hands

REQUEST_SECONDS = 30
"""How long a client may take to send one request and to take the answer. Metacontroller itself gives a request up after
five seconds."""

MOST_UNREAD = 1024 * 1024
"""Bytes of a body that nobody asked for, which are read so that the connection can serve another request."""

IDLE_SECONDS = 1.0
"""How long a client has sent nothing whose connection is closed when the worker stops."""

LINGER_SECONDS = 2
"""How long a client that is still sending may take to read its answer before the connection is closed."""

PIECE = 64 * 1024
"""Bytes that are read at once of what is thrown away. Every connection may hold as many."""


class OneWrite:
    """A connection to which an answer is written at once.

    gunicorn writes its head and its body apart. With TLS, one write takes longer than all that the hook does.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._kept: list[bytes] = []

    def sendall(self, data: bytes) -> None:
        """Keep what is to be written until `flush`."""
        self._kept.append(data)

    def flush(self) -> None:
        """Write what was kept."""
        self._connection.sendall(b"".join(self._kept))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


class Worker(GeventWorker):  # type: ignore[misc]
    """Answers each connection in a greenlet of its own."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._waiting: dict[Any, tuple[gevent.Timeout, float]] = {}

    @contextmanager
    def timeout_ctx(self) -> Iterator[None]:
        """Wait for the next request of a connection, for `keepalive` seconds, or until the worker stops."""
        greenlet, timeout = gevent.getcurrent(), super().timeout_ctx()
        self._waiting[greenlet] = timeout, monotonic()
        try:
            with timeout:
                yield
        finally:
            del self._waiting[greenlet]

    def close_idle_connections(self) -> None:
        """Once the worker stops, end the wait for another request on every connection. Never returns.

        Metacontroller keeps connections open: with them, the worker would wait for its whole graceful timeout.
        """
        while True:
            gevent.sleep(0.1)
            gevent.sleep(0)  # greenlets whose request has arrived begin to read it, and no longer wait
            now = monotonic()
            for greenlet, (timeout, since) in [] if self.alive else list(self._waiting.items()):
                if now - since > IDLE_SECONDS:
                    greenlet.kill(timeout, block=False)  # the greenlet's own `with timeout` catches it

    def handle(self, _listener: Any, client: Any, addr: Any) -> None:
        """Serve a connection, after its handshake.

        When the worker stops meanwhile, the listener is closed. gevent's server, which would take the handshake, could
        not hand the connection over any more. And gunicorn asks the listener for its name, which the client knows, too.
        """
        if shakes_hands(client):
            super().handle(client, client, addr)

    def handle_request(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> Any:
        """Answer one request, then let the other connections have their turn.

        A client that takes longer than REQUEST_SECONDS is given up. Raises StopIteration to close the connection, as
        gunicorn's does.
        """
        answered = keeps_open = goes_on = False
        answer = OneWrite(sock)
        with gevent.Timeout(REQUEST_SECONDS, False):  # type: ignore[arg-type]
            with suppress(StopIteration):
                super().handle_request(listener_name, req, answer, addr)
                keeps_open = True
            answer.flush()
            answered = True
            # gunicorn would read the rest before the next request, however much it is.
            goes_on = keeps_open and throw_away(req.body)
        if not goes_on:
            if answered:
                linger(sock)
            raise StopIteration
        # While a connection always has something to read, gevent never waits for it, and nobody else is served.
        gevent.sleep(0)
        return True


def prepare(worker: Worker) -> None:
    """Prepare a worker that is about to serve: gunicorn's server hook `post_worker_init`."""
    # What was made at the start lives as long as the process: the garbage collector need not look at it again.
    gc.collect()
    gc.freeze()
    gevent.get_hub().print_exception = log_exception  # type: ignore[method-assign, assignment]
    gevent.spawn(worker.close_idle_connections)


def throw_away(body: Any) -> bool:
    """Read what is left of a body; return whether that was no more than MOST_UNREAD, and came to its end."""
    left = MOST_UNREAD + 1
    try:
        while left and (piece := body.read(min(left, PIECE))):
            left -= len(piece)
    except Exception:  # noqa: BLE001 - a client can break off in many ways, and gunicorn would answer it once more
        return False
    return left > 0


def linger(sock: Any) -> None:
    """Say that nothing more will be answered, and throw away what still comes (RFC 9112, section 9.6).

    To close with something unread would reset the connection. The reset can take the answer with it: Go's proxies, of
    which Traefik is one, would now and then answer 502 in its place.
    """
    with suppress(OSError), gevent.Timeout(LINGER_SECONDS, False):  # type: ignore[arg-type]
        sock.shutdown(socket.SHUT_WR)
        while sock.recv(PIECE):
            gevent.sleep(0)  # or else nobody else would be served


def log_exception(_context: object, type_: Any, value: Any, traceback: Any) -> None:
    """Log an exception that ended a greenlet. gevent would print it as text."""
    logs.log_exception(type_, value, traceback)
