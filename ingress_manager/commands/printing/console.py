"""What people see on standard error: messages and notes; and what could not be looked at."""

import shutil
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

import click

from ingress_manager.commands.printing.words import INDENT, Message, wrapped
from ingress_manager.core.text import one_line

PATIENCE = 2.0
"""Seconds after which a person is told what is taking so long."""


def width(stream: TextIO | None = None) -> int:
    """Return how many columns a stream has, by default standard output; 0 for a file, or another program."""
    return shutil.get_terminal_size().columns if (stream or sys.stdout).isatty() else 0


def unseen_lines(sentences: Iterable[str], columns: int) -> Iterator[str]:
    """Yield the lines that tell what could not be looked at."""
    for sentence in sentences:
        for line in wrapped(f"{one_line(sentence)}.", columns, hanging=INDENT):
            yield f"{click.style(line, fg='red')}\n"


def show(messages: Sequence[Message]) -> int:
    """Print each message in a line of its own; return how many there are."""
    for message in messages:
        click.echo(fitted(str(message)), err=True)
    return len(messages)


def note(sentence: str) -> None:
    """Print what is worth knowing, and wrong with nothing."""
    click.secho(fitted(one_line(sentence)), dim=True, err=True)


def fitted(line: str) -> str:
    """Return a line for standard error: on a terminal as several, none of which breaks a word."""
    return "\n".join(wrapped(line, width(sys.stderr), hanging=INDENT))


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Say on standard error what is being done, if it takes more than two seconds."""
    timer = threading.Timer(PATIENCE, lambda: click.echo(f"… {what}", err=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
