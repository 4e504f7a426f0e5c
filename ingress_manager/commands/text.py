"""Formats shell commands and counts. In kubectl commands, names follow `--`, so that none is taken for an option."""

from collections.abc import Iterable, Sequence
from shlex import quote

from ingress_manager.core.text import one_line, quoted

Command = tuple[str, ...]


def with_options(command: Iterable[str], options: Sequence[str]) -> Command:
    """Return a command with kubectl's `options` inserted before `--`, or at the end if the command has no `--`."""
    words = list(command)
    place = words.index("--") if "--" in words else len(words)
    return (*words[:place], *options, *words[place:])


def shown(command: Sequence[str], options: Sequence[str] = ()) -> str:
    """Return a command with kubectl's `options` as one line for a shell, or "" if the command is empty."""
    return " ".join(map(word, with_options(command, options))) if command else ""


def is_seen(text: str) -> bool:
    """Return whether `text` contains only printable characters, newlines and tabs."""
    return text.replace("\n", "").replace("\t", "").isprintable()


def word(text: str) -> str:
    """Return the text as one word for any POSIX shell, quoted if necessary.

    Raises ValueError for invisible characters (see `is_seen`): no shell can pass NUL or an unpaired surrogate, and
    other invisible characters would need $'…' quoting, which not every shell supports.
    """
    if not is_seen(text):
        raise ValueError(f"{quoted(text)} can't be a word in a command")
    return quote(text)


def comment(text: str) -> str:
    """Return `text` as a one-line shell comment, even if it contains newlines."""
    return one_line(f"# {text}")


def plural(thing: str) -> str:
    return f"{thing}es" if thing.endswith("s") else f"{thing}s"


def counted(count: int, thing: str) -> str:
    """Return a count with its noun, as in 1,000 Ingresses."""
    return f"{count:,} {thing if count == 1 else plural(thing)}"
