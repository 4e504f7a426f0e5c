"""What is printed, in words and lines: commands, as any POSIX shell reads them, messages, and what stands in columns.

In every command of kubectl, `--` stands before the names: nothing behind it is an option. Lines are such that a
terminal shows them whole, broken at words. A width of 0 is that of a file: nothing is broken.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from shlex import quote
from textwrap import wrap

from ingress_manager.core.text import is_seen, one_line, quoted

Command = tuple[str, ...]


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

    reason: str = ""
    """The reason code of a refusal (ingress_manager.core.errors.Reason); empty for anything else."""

    def __str__(self) -> str:
        """Return the message as editors and CI know it: `file:line: namespace/name: sentence`."""
        place = f"{self.file}:{self.line}" if self.file else ""
        return one_line(": ".join(part for part in (place, self.about, self.told) if part))

    @property
    def told(self) -> str:
        """Return the sentence and, behind it, the reason's word, as the Event of a refusal has them."""
        return f"{self.sentence} [{self.reason}]" if self.reason else self.sentence


INDENT = "    "


def wrapped(text: str, width: int, indent: str = "", hanging: str = "") -> list[str]:
    """Return the lines of a text, which is one line; all but the first have the `hanging` indentation, too.

    No word is broken, so that an address or a name can be copied, wherever it ends.
    """
    if not width:
        return [f"{indent}{text}"]
    options = {"break_long_words": False, "break_on_hyphens": False}
    return wrap(text, width, initial_indent=indent, subsequent_indent=f"{indent}{hanging}", **options) or [""]  # type: ignore[arg-type]


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
