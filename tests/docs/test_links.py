"""The links of every page lead to a file of this repository, and to a heading in it; the index has every page."""

import os
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml

from devcluster.build import REPOSITORY
from tools import markdown

INDEX = REPOSITORY / "docs/README.md"


def markdown_files() -> list[Path]:
    """Return all Markdown files of the repository, without what was fetched or built."""
    found = []
    for folder, subfolders, names in os.walk(REPOSITORY):
        subfolders[:] = [name for name in subfolders if not name.startswith(".") or name == ".github"]
        found += [Path(folder, name) for name in names if name.endswith(".md")]
    return sorted(found)


PAGES = markdown_files()


def leads_somewhere(link: str, page: Path) -> bool:
    """Return whether a link on a page leads to a file or folder of the repository, and to a heading in it."""
    path, _, fragment = link.partition("#")
    target = page.parent.joinpath(unquote(path)).resolve() if path else page
    if not (target.exists() and target.is_relative_to(REPOSITORY)):
        return False
    if not fragment:
        return True
    shown = target / "README.md" if target.is_dir() else target
    return shown.suffix == ".md" and fragment in anchors(shown)


@cache
def anchors(page: Path) -> list[str]:
    """Return what a link can have behind its # on a page."""
    return markdown.anchors(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_link_leads_to_a_file_and_to_a_heading_in_it(page: Path) -> None:
    links = [link for link in markdown.links(page.read_text(encoding="utf-8")) if ":" not in link]
    assert [link for link in links if not leads_somewhere(link, page)] == []


def test_every_page_is_in_the_index_once() -> None:
    linked = [INDEX.parent.joinpath(link).resolve() for link in markdown.links(INDEX.read_text(encoding="utf-8"))]
    docs = [page for page in PAGES if page.is_relative_to(INDEX.parent) and page != INDEX]
    folders = [page for page in PAGES if page.name == "README.md" and page.parent not in {REPOSITORY, INDEX.parent}]
    folders = [page for page in folders if not page.is_relative_to(REPOSITORY / "tests")]
    assert docs
    assert folders
    assert [str(page.relative_to(REPOSITORY)) for page in [*docs, *folders] if linked.count(page) != 1] == []


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("What a Service's owner can't do", "what-a-services-owner-cant-do"),
        ("`host-not-allowed`", "host-not-allowed"),
        ("`ingress-manager audit`", "ingress-manager-audit"),
        ("1. Install it", "1-install-it"),
        ("A [link](elsewhere.md) & more", "a-link--more"),
        ("snake_case — and a dash", "snake_case--and-a-dash"),
    ],
)
def test_an_anchor_is_what_github_makes_of_the_heading(heading: str, anchor: str) -> None:
    assert markdown.anchors(f"# Title\n\n## {heading}\n\ntext\n\n## {heading}\n") == ["title", anchor, f"{anchor}-1"]


def test_what_is_in_a_block_of_code_is_no_link() -> None:
    page = '[a](b.md) `[c](d.md)`\n\n```md\n[e](f.md)\n```\n\n[![g](h.webp)](i.md#j)\n\n<img src="k.svg">\n'
    assert markdown.links(page) == ["b.md", "i.md#j", "h.webp", "k.svg"]


@pytest.mark.parametrize("link", ["missing.md", "#missing", "settings.md#missing", "../../outside", "404.webp#missing"])
def test_a_link_that_leads_nowhere_is_found(link: str) -> None:
    assert not leads_somewhere(link, REPOSITORY / "docs/annotations.md")


def test_every_page_that_an_issue_template_names_is_there() -> None:
    templates = sorted((REPOSITORY / ".github/ISSUE_TEMPLATE").glob("*.yml"))
    assert [path.name for path in templates] == ["bug.yml", "config.yml", "idea.yml"]
    for path in templates:
        named = re.findall(r"/blob/main/([^)\s]+)", path.read_text(encoding="utf-8"))
        assert named
        assert [link for link in named if not leads_somewhere(link, REPOSITORY / "README.md")] == []


@pytest.mark.parametrize("name", ["bug.yml", "idea.yml"])
def test_a_form_of_an_issue_is_one_that_github_shows(name: str) -> None:
    form = yaml.safe_load((REPOSITORY / ".github/ISSUE_TEMPLATE" / name).read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= form.keys()
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields)
    assert all(field["attributes"]["label"] for field in fields)
