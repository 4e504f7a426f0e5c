"""Builds the docs site: `make docs-site`. Pages keep their paths in the repository, so their links keep working.

The menu consists of docs/README.md's headings, its lines that end with a colon, and its links.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Container
from pathlib import Path
from typing import Any

import yaml

from devcluster.build import REPOSITORY

BUILT = REPOSITORY / ".build/site"
INDEX = "docs/README.md"
BESIDE = {"The project": {"Contributing": "CONTRIBUTING.md", "Security": "SECURITY.md", "What is new": "CHANGELOG.md"}}
"""Pages that are in the menu although the index doesn't link to them."""

STYLE = """\
/* A name in a table is read as one word: no line ends within it. A table that is too wide then is scrolled. */
.md-typeset td code { word-break: normal; overflow-wrap: normal }
.md-typeset td:first-child code { white-space: nowrap }
.md-typeset td:not(:first-child) { min-width: 7rem }
"""
SOURCES = "https://github.com/ingress-manager/ingress-manager/blob/main"
PICTURES = ".svg"

Menu = list[dict[str, Any]]


def menu(index: str) -> Menu:
    """Return an index page's links as a menu for `nav` in mkdocs.yml, with paths from the repository's root."""
    entries: Menu = [{"Start": "README.md"}, {"All pages": INDEX}]
    part: Menu = entries
    for line in index.splitlines():
        if heading := re.fullmatch(r"## (?P<title>[^:]+).*", line):
            part = []
            entries.append({heading["title"]: part})
        elif group := re.fullmatch(r"(?P<title>[A-Z].*):", line):
            part = []
            next(iter(entries[-1].values())).append({group["title"]: part})
        elif link := re.match(r"- \[(?P<title>[^]]+)\]\((?P<path>[^)]+)\)", line):
            part.append({link["title"].replace("`", ""): from_root(INDEX, link["path"])})
    return [*entries, *({title: [{name: path} for name, path in pages.items()]} for title, pages in BESIDE.items())]


def paths(nav: Menu) -> list[str]:
    """Return the paths of a menu's pages."""
    values = [value for entry in nav for value in entry.values()]
    return [path for value in values for path in ([value] if isinstance(value, str) else paths(value))]


def from_root(page: str, link: str) -> str:
    """Return the path that a page's link refers to, relative to the repository's root."""
    return str((REPOSITORY / page).parent.joinpath(link.partition("#")[0]).resolve().relative_to(REPOSITORY))


def for_site(page: str, text: str, pages: Container[str]) -> str:
    """Return a page for the site. Links to files not in `pages` go to GitHub. Code fences keep only the language."""

    def shown(link: re.Match[str]) -> str:
        target = from_root(page, link["to"])
        if ":" in link["to"] or target in pages or target.endswith(PICTURES):
            return link[0]
        if f"{target}/README.md" in pages:
            return f"]({link['to'].rstrip('/')}/README.md{link['rest']})"
        return f"]({SOURCES}/{target})"

    text = re.sub(r"^( *```\w+) .*$", r"\1", text, flags=re.MULTILINE)
    text = re.sub(r"<(table|tr|td)>", r"<\1 markdown>", text)
    return re.sub(r"\]\((?P<to>[^)#\s]+)(?P<rest>#[^)]*)?\)", shown, text)


def build() -> Path:
    """Build the site and return its folder. Raises CalledProcessError on a Zensical warning, such as a broken link."""
    shutil.rmtree(BUILT, ignore_errors=True)
    nav = menu((REPOSITORY / INDEX).read_text(encoding="utf-8"))
    pages = paths(nav)
    for page in pages:
        text = (REPOSITORY / page).read_text(encoding="utf-8")
        put(page).write_text(for_site(page, text, pages), encoding="utf-8")
    for picture in (REPOSITORY / "docs").iterdir():
        if picture.name.endswith(PICTURES):
            shutil.copy(picture, put(f"docs/{picture.name}"))
    put("site.css").write_text(STYLE, encoding="utf-8")
    config = yaml.safe_load((REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8"))
    config |= {"docs_dir": "pages", "site_dir": "html", "nav": nav}
    (BUILT / "mkdocs.yml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    subprocess.run([Path(sys.executable).with_name("zensical"), "build", "--strict"], cwd=BUILT, check=True)
    return BUILT / "html"


def put(path: str) -> Path:
    """Return the path for the file `path` in the site's sources, and create its parent folder."""
    target = BUILT / "pages" / path
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


if __name__ == "__main__":
    sys.stdout.write(f"The site is in {build()}: open index.html.\n")
