"""What goes on beside a test, and visitors who ask all the time."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException

from devcluster.api import T


@contextlib.contextmanager
def meanwhile(act: Callable[[], object]) -> Iterator[None]:
    """Do something again and again, beside what is done in this context."""
    ended = threading.Event()

    def run() -> None:
        while not ended.is_set():
            act()

    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(run)
        try:
            yield
        finally:
            ended.set()
    running.result()


@contextlib.contextmanager
def asking(ask: Callable[[], T]) -> Iterator[list[T | Exception]]:
    """Yield the answers of somebody who asks again and again, each on a connection of its own, until the end."""
    answers: list[T | Exception] = []

    def once() -> None:
        try:
            answers.append(ask())
        except (OSError, HTTPException, ValueError) as error:
            answers.append(error)

    with meanwhile(once):
        yield answers
