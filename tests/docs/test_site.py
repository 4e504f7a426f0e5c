"""The site of the docs says what the pages in the repository say, and asks no other host for anything."""

import re
import threading
from collections import Counter
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from devcluster.build import REPOSITORY
from tests.browser import Browser, started_browser
from tools import site

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("chromium")]

PAGES = site.paths(site.menu((REPOSITORY / site.INDEX).read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def built() -> Path:
    """Return the folder of the site, which has no link to a page or a heading that isn't there."""
    return site.build()


@pytest.fixture(scope="module")
def browser(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Yield a Chromium that finds the site, and no other host."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=built)) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        try:
            rules = "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
            home = tmp_path_factory.mktemp("home")
            with started_browser(home, f"http://127.0.0.1:{server.server_port}", rules) as running:
                yield running
        finally:
            server.shutdown()


def parts(html: str) -> Counter[str]:
    """Return how often each kind of block is in HTML."""
    return Counter(re.findall(r"<(h[1-4]|li|tr|pre|table|img)\b", html))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_the_blocks_that_it_has_where_the_repository_is_shown(page: str, built: Path) -> None:
    """Python-Markdown reads what is within lists and fences otherwise than CommonMark does."""
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    shown = built.joinpath(page.replace("README", "index")).with_suffix(".html").read_text(encoding="utf-8")
    article = shown.partition("<article")[2].partition("</article")[0]
    assert parts(article) == parts(MarkdownIt("commonmark").enable("table").render(text))


def test_a_visitor_needs_no_other_host(browser: Browser) -> None:
    browser.look("/index.html", width=1280)
    asked = [url for url in browser.requested() if not url.startswith("data:")]
    assert [url for url in asked if not url.startswith(browser.site)] == []
    assert [entry["message"] for entry in browser.logged("browser")] == []
