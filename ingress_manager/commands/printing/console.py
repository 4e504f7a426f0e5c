"""What people see on standard error: messages and notes."""

import os
from collections.abc import Sequence

import click

from ingress_manager.commands.printing.words import Message
from ingress_manager.core.text import one_line


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
