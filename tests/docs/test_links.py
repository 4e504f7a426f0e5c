"""The links of every page lead to a file of this repository, and to a heading in it; the index has every page."""

import itertools
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from devcluster.build import REPOSITORY

PARSER = MarkdownIt("commonmark").enable("table")
pytestmark = pytest.mark.xdist_group("links")  # so that each page is read once
INDEX = REPOSITORY / "docs/README.md"
FOLDERS = [path for path in REPOSITORY.iterdir() if path.is_dir() and (path.name[0] != "." or path.name == ".github")]
PAGES = sorted([*REPOSITORY.glob("*.md"), *(page for folder in FOLDERS for page in folder.rglob("*.md"))])


def leads_somewhere(link: str, page: Path) -> bool:
    """Return whether a link on a page leads to a file or folder of the repository, and to a heading in it."""
    path, _, fragment = link.partition("#")
    target = page.parent.joinpath(unquote(path)).resolve() if path else page
    if not (target.exists() and target.is_relative_to(REPOSITORY)):
        return False
    shown = target / "README.md" if target.is_dir() else target
    return not fragment or (shown.suffix == ".md" and fragment in anchors(shown))


def parts(page: str) -> Iterator[Token]:
    """Yield all tokens of a page: the text of a link can hold a picture."""
    for token in PARSER.parse(page):
        yield token
        for inside in token.children or ():
            yield from (inside, *(inside.children or ()))


def links_of(page: str) -> list[str]:
    """Return where the links and the pictures of a page lead to, as they are written, those of its HTML too."""
    links = [str(token.attrs[name]) for token in parts(page) for name in ("href", "src") if name in token.attrs]
    html = "".join(token.content for token in parts(page) if token.type.startswith("html"))
    return links + re.findall(r'\b(?:href|src|srcset)="([^"]+)"', html)


@cache
def anchors(page: Path) -> list[str]:
    """Return what a link can have behind its # on a page: the names that GitHub gives the headings, and ids in HTML.

    The rules of GitHub: https://docs.github.com/en/get-started/writing-on-github/getting-started-with-writing-and-formatting-on-github/basic-writing-and-formatting-syntax#section-links
    """
    text = page.read_text(encoding="utf-8")
    html = "".join(token.content for token in parts(text) if token.type.startswith("html"))
    found = re.findall(r'\b(?:id|name)="([^"]+)"', html)
    for opening, inline in itertools.pairwise(PARSER.parse(text)):
        if opening.type == "heading_open":
            heading = "".join(each.content for each in inline.children or () if each.type in {"text", "code_inline"})
            found.append(re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-"))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_link_leads_to_a_file_and_to_a_heading_in_it(page: Path) -> None:
    links = [link for link in links_of(page.read_text(encoding="utf-8")) if ":" not in link]
    assert [link for link in links if not leads_somewhere(link, page)] == []


def test_every_page_is_in_the_index_once() -> None:
    linked = [INDEX.parent.joinpath(link).resolve() for link in links_of(INDEX.read_text(encoding="utf-8"))]
    docs = [page for page in PAGES if page.is_relative_to(INDEX.parent) and page != INDEX]
    folders = [page for page in PAGES if page.name == "README.md" and page.parent not in {REPOSITORY, INDEX.parent}]
    folders = [page for page in folders if not page.is_relative_to(REPOSITORY / "tests")]
    assert docs
    assert folders
    assert [str(page.relative_to(REPOSITORY)) for page in [*docs, *folders] if linked.count(page) != 1] == []
