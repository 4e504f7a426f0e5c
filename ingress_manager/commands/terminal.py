"""The terminal: lines that fit it, and notes and progress on standard error.

A sentence is broken at words, and a command never. A width of 0 is that of a file: nothing is broken.
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

SILENCE = 2.0
"""Seconds after which `waiting` says what takes so long."""


def plain(error: Any) -> tuple[str, int]:
    """Handle a character that an output's encoding lacks: print a plain one or, as JSON and YAML know it, its code."""
    character = error.object[error.start]
    return PLAIN.get(character) or json.dumps(character)[1:-1], error.start + 1


def wrapped(text: str, width: int, indent: str = "", hanging: str = "") -> list[str]:
    """Return a text as lines, `hanging` after the first. Words stay whole: addresses and names can be copied."""
    if not width:
        return [f"{indent}{text}"]
    options = {"break_long_words": False, "break_on_hyphens": False}
    return wrap(text, width, initial_indent=indent, subsequent_indent=f"{indent}{hanging}", **options) or [""]  # type: ignore[arg-type]


def width(stream: TextIO | None = None) -> int:
    """Return how many columns a stream has, by default standard output; 0 for a file or another program."""
    return shutil.get_terminal_size().columns if (stream or sys.stdout).isatty() else 0


def fitted(line: str) -> str:
    return "\n".join(wrapped(line, width(sys.stderr), hanging=INDENT))


def note(sentence: str) -> None:
    """Print something worth knowing that isn't a problem."""
    click.secho(fitted(one_line(sentence)), dim=True, err=True)


def progress(text: str = "") -> None:
    """Replace the last line of progress on standard error, if that is a terminal; without text, remove it."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{text}", nl=False, err=True)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Print on standard error what is being done, if it takes more than two seconds, and the main thread does it."""
    timer = threading.Timer(SILENCE, lambda: click.echo(f"… {what}", err=True))
    timer.daemon = True
    if threading.current_thread() is threading.main_thread():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
