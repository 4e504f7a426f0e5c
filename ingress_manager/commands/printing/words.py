"""Words of a shell: how commands are written so that any POSIX shell reads what is meant.

In every command of kubectl, `--` stands before the names: nothing behind it is an option.
"""

from collections.abc import Callable, Iterable, Sequence
from shlex import quote

from ingress_manager.core.text import is_seen, one_line, quoted

Paint = Callable[[str, str], str]
"""Returns a text in the style of a role, such as "head" or "command"."""

Command = tuple[str, ...]


def plain(text: str, _role: str) -> str:
    return text


def with_options(command: Iterable[str], options: Sequence[str]) -> Command:
    """Return a command with `options` of kubectl, which say which cluster: before the `--`, if there is one."""
    words = list(command)
    place = words.index("--") if "--" in words else len(words)
    return (*words[:place], *options, *words[place:])


def shown(command: Sequence[str], options: Sequence[str] = ()) -> str:
    """Return a command as one line for a shell, empty where it is; `options` of kubectl say which cluster."""
    return " ".join(map(word, with_options(command, options))) if command else ""


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
