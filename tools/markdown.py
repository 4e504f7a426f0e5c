"""What the docs are made with, and how they are read."""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token


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
    return [Fence(token.info.strip(), token.content) for token in _tokens(page) if token.type == "fence"]


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


def links(page: str) -> list[str]:
    """Return where the links and the pictures of a page lead to, as they are written, those of its HTML too."""
    found = []
    for token in _tokens(page):
        if token.type == "link_open":
            found.append(str(token.attrs["href"]))
        elif token.type == "image":
            found.append(str(token.attrs["src"]))
        elif token.type in {"html_block", "html_inline"}:
            found += re.findall(r'\b(?:href|src|srcset)="([^"]+)"', token.content)
    return found


def anchors(page: str) -> list[str]:
    """Return what a link can have behind its # on a page: the names that GitHub gives the headings, and ids in HTML.

    The rules of GitHub: https://docs.github.com/en/get-started/writing-on-github/getting-started-with-writing-and-formatting-on-github/basic-writing-and-formatting-syntax#section-links
    """
    seen: Counter[str] = Counter()
    tokens = list(_PARSER.parse(page))
    html = "".join(token.content for token in _tokens(page) if token.type in {"html_block", "html_inline"})
    found = re.findall(r'\b(?:id|name)="([^"]+)"', html)
    for opening, inline in itertools.pairwise(tokens):
        if opening.type != "heading_open":
            continue
        text = "".join(each.content for each in inline.children or () if each.type in {"text", "code_inline"})
        slug = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
        found.append(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


_PARSER = MarkdownIt("commonmark").enable("table")


def _tokens(page: str) -> Iterator[Token]:
    return _with_children(_PARSER.parse(page))


def _with_children(tokens: Iterable[Token]) -> Iterator[Token]:
    # The text of a link, or of a picture, can hold a picture.
    for token in tokens:
        yield token
        yield from _with_children(token.children or ())
