"""Visitors who ask all the time."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from http.client import HTTPException

from devcluster.api import T

ON = {"ingress/http": "true"}
IN_A_ROW = 12
"""A new connection is taken by either Traefik. If so many saw the same, both have taken up the change."""


@contextlib.contextmanager
def asking(ask: Callable[[], T]) -> Iterator[list[T | Exception]]:
    """Yield the answers of somebody who asks again and again, each on a connection of its own, until the end."""
    answers: list[T | Exception] = []
    ended = threading.Event()

    def run() -> None:
        while not ended.is_set():
            try:
                answers.append(ask())
            except (OSError, HTTPException, ValueError) as error:
                answers.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield answers
    finally:
        ended.set()
        thread.join()
