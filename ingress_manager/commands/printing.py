"""Printing: objects, commands and messages, as text that a terminal and a shell obey nothing of.

In every command of kubectl, `--` stands before the names: nothing behind it is an option. A command is one line, to be
copied; a sentence is broken at words to fit the terminal. A width of 0 is that of a file: nothing is broken.
"""

import json
import re
import shutil
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from shlex import quote
from textwrap import wrap
from typing import Any, TextIO

import click
import msgspec
import yaml

from ingress_manager.core.text import one_line, quoted

Command = tuple[str, ...]


def with_options(command: Iterable[str], options: Sequence[str]) -> Command:
    """Return a command with `options` of kubectl, which say which cluster: before the `--`, if there is one."""
    words = list(command)
    place = words.index("--") if "--" in words else len(words)
    return (*words[:place], *options, *words[place:])


def shown(command: Sequence[str], options: Sequence[str] = ()) -> str:
    """Return a command as one line for a shell, empty where it is; `options` of kubectl say which cluster."""
    return " ".join(map(word, with_options(command, options))) if command else ""


def is_seen(text: str) -> bool:
    """Return whether a person sees a text as it is, in lines: nothing in it moves a cursor, or is without a shape."""
    return text.replace("\n", "").replace("\t", "").isprintable()


def word(text: str) -> str:
    """Return a text as one word for any POSIX shell. Raises ValueError for one that a person would not see as it is.

    No shell could carry NUL, nor half of a character. Others would need quotes that not every shell knows.
    """
    if not is_seen(text):
        raise ValueError(f"{quoted(text)} can't be a word of a command")
    return quote(text)


def comment(text: str) -> str:
    """Return a line that does nothing in a shell, whatever the text is."""
    return one_line(f"# {text}")


def plural(thing: str) -> str:
    return f"{thing}es" if thing.endswith("s") else f"{thing}s"


def counted(count: int, thing: str) -> str:
    """Return how many there are, as people write it: 1,000 Ingresses."""
    return f"{count:,} {thing if count == 1 else plural(thing)}"


@dataclass(frozen=True, slots=True)
class Message:
    """One sentence about an object, or about a file that can't be read."""

    sentence: str
    file: str = ""
    """Empty when the object comes from the cluster."""

    line: int = 0
    """Counted from 1; 0 when there is no file."""

    about: str = ""
    """The object, as namespace/name; empty when it is about the file."""

    def __str__(self) -> str:
        """Return the message as editors and CI know it: `file:line: namespace/name: sentence`."""
        place = f"{self.file}:{self.line}" if self.file else ""
        return one_line(": ".join(part for part in (place, self.about, self.sentence) if part))


FORMATS = ("table", "json")
INDENT = "    "


def wrapped(text: str, width: int, indent: str = "", hanging: str = "") -> list[str]:
    """Return the lines of a text, which is one line; all but the first have the `hanging` indentation, too.

    No word is broken, so that an address or a name can be copied, wherever it ends.
    """
    if not width:
        return [f"{indent}{text}"]
    options = {"break_long_words": False, "break_on_hyphens": False}
    return wrap(text, width, initial_indent=indent, subsequent_indent=f"{indent}{hanging}", **options) or [""]  # type: ignore[arg-type]


_PLAIN = re.compile(r"(?!(?:y|n|yes|no|on|off|true|false|null)\Z)[A-Za-z/][A-Za-z0-9._/-]*", re.IGNORECASE)
"""Text that stays text without quotes to every reader of YAML. PyYAML alone would leave out those of y and 1e3, which
are true and 1000 to kubectl."""


class _Dumper(yaml.CSafeDumper):
    """No anchors: two equal values are two values. Text has quotes or is a block, unless it needs neither."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML calls it with every value
        return True

    def represent_text(self, text: str) -> yaml.ScalarNode:
        """Return a text in the style that a person would choose."""
        style = None if _PLAIN.fullmatch(text) else "|" if "\n" in text and is_seen(text) else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", text, style)


_Dumper.add_representer(str, _Dumper.represent_text)


def as_json(value: Any) -> str:
    """Return a plain value as JSON that a terminal obeys nothing of."""
    text = msgspec.json.format(msgspec.json.encode(value)).decode()
    # What isn't printable stands in text alone, in which it may be escaped.
    return (text if is_seen(text) else "".join(c if is_seen(c) else json.dumps(c)[1:-1] for c in text)) + "\n"


def as_yaml(*values: Any) -> str:
    """Return plain values as documents of block-style YAML, keys in their order, that a terminal obeys nothing of."""
    text: str = yaml.dump_all(values, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)
    # What isn't printable stands in double quotes alone, in which it may be escaped.
    return text if is_seen(text) else "".join(c if is_seen(c) else f"\\U{ord(c):08x}" for c in text)


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
