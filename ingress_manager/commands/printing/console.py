"""What people see on standard error: messages, notes, and that something takes its time."""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from ingress_manager.commands.printing.words import Message
from ingress_manager.core.text import one_line

PATIENCE = 2.0
"""Seconds after which a person is told what is taking so long."""


def use_colour(context: click.Context) -> None:
    """Turn colour off where NO_COLOR asks for it (https://no-color.org). click itself has it on terminals only."""
    if os.environ.get("NO_COLOR"):
        context.color = False


def show(messages: Sequence[Message]) -> int:
    """Print each message in a line of its own; return how many there are."""
    for message in messages:
        click.echo(str(message), err=True)
    return len(messages)


def note(sentence: str) -> None:
    """Print what is worth knowing, and wrong with nothing."""
    click.secho(one_line(sentence), dim=True, err=True)


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
