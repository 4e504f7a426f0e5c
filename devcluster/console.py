"""Helpers that the commands share: progress lines, the --engine option, and a clean exit on signals."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.markup import escape

from devcluster.build import Progress
from devcluster.engines import CHOICES


@contextmanager
def progress() -> Iterator[Progress]:
    """Yield a function that prints a line to stderr. On a terminal, each line replaces the previous one."""
    console = Console(stderr=True)
    if console.is_terminal:
        with console.status("") as status:
            yield lambda line: status.update(escape(line))
    else:
        yield lambda line: click.echo(line, err=True)


engine_option = click.option(
    "--engine",
    type=click.Choice(CHOICES),
    default="auto",
    show_default=True,
    help="Program that calls the hook; auto is Metacontroller if it is on PATH, or else the stand-in for it.",
)


def end_on_signals() -> None:
    """Make SIGTERM and SIGHUP raise KeyboardInterrupt, as Ctrl-C does, so that the program cleans up."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.default_int_handler)
