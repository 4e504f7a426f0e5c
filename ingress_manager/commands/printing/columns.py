"""Columns: lines that a terminal shows whole, broken at words. A width of 0 is that of a file: nothing is broken."""

from collections.abc import Sequence
from textwrap import wrap

from ingress_manager.commands.printing.words import with_options, word

INDENT = "    "
ROOM = 50
"""The columns that a text needs to stand beside something; with fewer, it stands below."""


def wrapped(text: str, width: int, indent: str = "", hanging: str = "") -> list[str]:
    """Return the lines of a text, which is one line; all but the first have the `hanging` indentation, too.

    No word is broken, so that an address or a name can be copied, wherever it ends.
    """
    if not width:
        return [f"{indent}{text}"]
    options = {"break_long_words": False, "break_on_hyphens": False}
    return wrap(text, width, initial_indent=indent, subsequent_indent=f"{indent}{hanging}", **options) or [""]  # type: ignore[arg-type]


def beside(head: str, text: str, width: int) -> list[tuple[str, str]]:
    """Return the lines of a text beside what is called `head`, or below it where there is no room: begin and rest."""
    room = width - len(head) - 2
    if width and room < ROOM:
        return [(head.rstrip(), ""), *((INDENT, line) for line in wrapped(text, width - len(INDENT)))]
    first, *more = wrapped(text, room if width else 0)
    return [(f"{head}  ", first), *((" " * (len(head) + 2), line) for line in more)]


def command_lines(
    command: Sequence[str], options: Sequence[str], width: int, indent: str = "", begin: str = ""
) -> list[str]:
    """Return a command as lines that a shell takes for one: each but the last ends in a backslash."""
    lines: list[str] = []
    for each in map(word, with_options(command, options) if command else ()):
        if lines and (not width or len(lines[-1]) + len(each) + 3 <= width):
            lines[-1] += f" {each}"
        else:
            lines.append(f"{indent}{INDENT if lines else begin}{each}")
    return [*(f"{line} \\" for line in lines[:-1]), *lines[-1:]]
