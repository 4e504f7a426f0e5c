"""Finds the code blocks on Markdown pages, and the commands in these blocks."""

import re
import textwrap
from collections.abc import Callable
from typing import NamedTuple


class Fence(NamedTuple):
    """A fenced code block: the info string after the backticks, and the text."""

    info: str
    text: str


def fences(page: str) -> list[Fence]:
    """Return a page's fenced code blocks, in order."""
    blocks = re.findall(r"^( *)```([^\n]*)\n(.*?)^\1```$", page, re.MULTILINE | re.DOTALL)
    return [Fence(info.strip(), textwrap.dedent(text)) for _, info, text in blocks]


class Typed(NamedTuple):
    """A command on a page, and the output that the page shows for it."""

    command: str
    shown: str


def replayed(page: str, info: str, run: Callable[[Typed], str]) -> str:
    """Call `run` for each command in the code blocks with this info string. Return the page with the new outputs."""

    def shown(block: re.Match[str]) -> str:
        return "".join([block[1], *(f"$ {typed.command}\n{run(typed)}" for typed in _typed(block[2])), "```"])

    return re.sub(rf"^(```{info}\n)(.*?)^```$", shown, page, flags=re.MULTILINE | re.DOTALL)


def _typed(block: str) -> list[Typed]:
    """Return a block's commands: the lines that begin with `$ `, each with the output below it."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return [Typed(command, shown) for command, shown in zip(parts[1::2], parts[2::2], strict=True)]
