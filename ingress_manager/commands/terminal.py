"""Wraps text to the terminal's width, and prints notes and progress on standard error.

Only prose is wrapped, between words. If the output isn't a terminal, the width is 0, and nothing is wrapped.
"""

import json
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import wrap
from typing import Any, TextIO

import click

from ingress_manager.core.text import one_line

PLAIN = {"→": "->", "✓": "ok", "✗": "x", "…": "..."}
INDENT = "    "

SILENCE = 2.0  # seconds after which `waiting` prints what the command is waiting for


def plain(error: Any) -> tuple[str, int]:
    """Return an ASCII replacement for the character in a UnicodeEncodeError, and the position after that character."""
    character = error.object[error.start]
    return PLAIN.get(character) or json.dumps(character)[1:-1], error.start + 1


def wrapped(text: str, width: int, indent: str = "", hanging: str = "") -> list[str]:
    """Wrap text at spaces only, so that names stay whole. Lines after the first are also indented by `hanging`."""
    if not width:
        return [f"{indent}{text}"]
    options = {"break_long_words": False, "break_on_hyphens": False}
    return wrap(text, width, initial_indent=indent, subsequent_indent=f"{indent}{hanging}", **options) or [""]  # type: ignore[arg-type]


def width(stream: TextIO | None = None) -> int:
    """Return the width of a stream (by default, standard output) in columns, or 0 if it isn't a terminal."""
    return shutil.get_terminal_size().columns if (stream or sys.stdout).isatty() else 0


def fitted(line: str) -> str:
    return "\n".join(wrapped(line, width(sys.stderr), hanging=INDENT))


def note(sentence: str) -> None:
    click.secho(fitted(one_line(sentence)), dim=True, err=True)


def progress(text: str = "") -> None:
    """Replace the progress line, or remove it if `text` is empty. Do nothing if standard error isn't a terminal."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{text}", nl=False, err=True)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Print `what` on standard error if the `with` block takes longer than SILENCE and runs in the main thread."""
    timer = threading.Timer(SILENCE, lambda: click.echo(f"… {what}", err=True))
    timer.daemon = True
    if threading.current_thread() is threading.main_thread():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
