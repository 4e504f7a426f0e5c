"""gunicorn's gevent worker, which also closes idle connections when it stops, and gives up clients that hang."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gevent
from gunicorn.workers.ggevent import GeventWorker

from hooks import logs

BODY_SECONDS = 30
"""How long to wait for the next bytes of a body, or until the client takes more of the answer. Metacontroller itself
gives a request up after five seconds."""


class Worker(GeventWorker):  # type: ignore[misc]
    """Answers each connection in a greenlet of its own."""

    def run(self) -> None:
        """Serve until the worker is told to stop, and all that is under way is answered."""
        # What was made at the start lives as long as the process: the garbage collector need not look at it again.
        gc.collect()
        gc.freeze()
        self._waiting: dict[Any, gevent.Timeout] = {}
        gevent.get_hub().print_exception = log_exception  # type: ignore[method-assign, assignment]
        closer = gevent.spawn(self.close_idle_connections)
        super().run()
        closer.kill()

    @contextmanager
    def timeout_ctx(self) -> Iterator[None]:
        """Wait for the next request of a connection, for `keepalive` seconds, or until the worker stops."""
        greenlet, timeout = gevent.getcurrent(), super().timeout_ctx()
        self._waiting[greenlet] = timeout
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
            for greenlet, timeout in [] if self.alive else list(self._waiting.items()):
                greenlet.kill(timeout, block=False)  # the greenlet's own `with timeout` catches it

    def handle_request(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> Any:
        """Answer one request; a client that hangs is given up after BODY_SECONDS."""
        sock.settimeout(BODY_SECONDS)
        try:
            return super().handle_request(listener_name, req, sock, addr)
        finally:
            sock.settimeout(None)


def log_exception(_context: object, type_: Any, value: Any, traceback: Any) -> None:
    """Log an exception that ended a greenlet. gevent would print it as text."""
    logs.log_exception(type_, value, traceback)
