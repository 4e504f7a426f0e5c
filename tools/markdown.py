"""What the docs are made with, and how they are read."""

import re
import textwrap
from collections.abc import Callable, Iterable
from typing import NamedTuple


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table whose columns line up."""
    cells = [head, *rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = [f"| {' | '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))} |" for row in cells]
    lines.insert(1, f"|{'|'.join('-' * (width + 2) for width in widths)}|")
    return "\n".join(lines)


class Fence(NamedTuple):
    """A block of code: what stands behind its three backticks, and its lines."""

    info: str
    text: str


def fences(page: str) -> list[Fence]:
    """Return the blocks of code of a page, in their order."""
    found = re.findall(r"^( *)```([^\n]*)\n(.*?)^\1```$", page, re.MULTILINE | re.DOTALL)
    return [Fence(info.strip(), textwrap.dedent(text)) for _, info, text in found]


class Typed(NamedTuple):
    """A command that a page shows, and what it prints there."""

    command: str
    shown: str


def typed(page: str, info: str) -> list[Typed]:
    """Return the commands in the blocks of a kind: the lines that begin with `$ `, each with what is below it."""
    return [each for fence in fences(page) if fence.info == info for each in _typed(fence.text)]


def played(page: str, info: str, see: Callable[[Typed], str]) -> str:
    """Return the page with what `see` answers below each command in the blocks of a kind."""

    def shown(block: re.Match[str]) -> str:
        return "".join([block[1], *(f"$ {each.command}\n{see(each)}" for each in _typed(block[2])), "```"])

    return re.sub(rf"^(```{info}\n)(.*?)^```$", shown, page, flags=re.MULTILINE | re.DOTALL)


def _typed(block: str) -> list[Typed]:
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return [Typed(command, shown) for command, shown in zip(parts[1::2], parts[2::2], strict=True)]
