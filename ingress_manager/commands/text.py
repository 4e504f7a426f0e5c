"""Text: commands as a shell reads them, and counts as people write them. Pure functions.

In every command of kubectl, `--` stands before the names: nothing behind it is an option.
"""

from collections.abc import Iterable, Sequence
from shlex import quote

from ingress_manager.core.text import one_line, quoted

Command = tuple[str, ...]


def with_options(command: Iterable[str], options: Sequence[str]) -> Command:
    """Return a command with kubectl's `options`, which name the cluster, before its `--` if it has one."""
    words = list(command)
    place = words.index("--") if "--" in words else len(words)
    return (*words[:place], *options, *words[place:])


def shown(command: Sequence[str], options: Sequence[str] = ()) -> str:
    """Return a command, with kubectl's `options`, as one line for a shell; empty for an empty command."""
    return " ".join(map(word, with_options(command, options))) if command else ""


def is_seen(text: str) -> bool:
    """Return whether a person sees all of a text: nothing in it moves the cursor or is invisible."""
    return text.replace("\n", "").replace("\t", "").isprintable()


def word(text: str) -> str:
    """Return a text as one word for any POSIX shell. Raises ValueError if a person would not see all of it.

    No shell can carry NUL or half of a surrogate pair. Others would need quotes that not every shell knows.
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
    """Return a number of things as people write it: 1,000 Ingresses."""
    return f"{count:,} {thing if count == 1 else plural(thing)}"
