"""What the commands have in common: progress for a person, the choice of an engine, an orderly end."""

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
    """Yield a function that shows a line on stderr: in place of the last one on a terminal, else below it."""
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
    help="What drives the hook; auto is Metacontroller when it is on PATH, else the stand-in for it.",
)


def end_on_signals() -> None:
    """Let SIGTERM and a closed terminal end the program as Ctrl-C does: by KeyboardInterrupt, so in an orderly way."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.default_int_handler)
