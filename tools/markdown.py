"""How pages are read: the blocks of code in them, and the commands in those."""

import re
import textwrap
from collections.abc import Callable
from typing import NamedTuple


class Fence(NamedTuple):
    """A block of code: what stands behind its three backticks, and its lines."""

    info: str
    text: str


def fences(page: str) -> list[Fence]:
    """Return the blocks of code of a page, in their order."""
    blocks = re.findall(r"^( *)```([^\n]*)\n(.*?)^\1```$", page, re.MULTILINE | re.DOTALL)
    return [Fence(info.strip(), textwrap.dedent(text)) for _, info, text in blocks]


class Typed(NamedTuple):
    """A command that a page shows, and what it prints there."""

    command: str
    shown: str


def replayed(page: str, info: str, see: Callable[[Typed], str]) -> str:
    """Return the page with what `see` answers below each command in the blocks of a kind."""

    def shown(block: re.Match[str]) -> str:
        return "".join([block[1], *(f"$ {typed.command}\n{see(typed)}" for typed in _typed(block[2])), "```"])

    return re.sub(rf"^(```{info}\n)(.*?)^```$", shown, page, flags=re.MULTILINE | re.DOTALL)


def _typed(block: str) -> list[Typed]:
    """Return the commands in a block: the lines that begin with `$ `, each with what is below it."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return [Typed(command, shown) for command, shown in zip(parts[1::2], parts[2::2], strict=True)]
