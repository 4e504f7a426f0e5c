"""The 404 page in Chromium, in the light and the dark, on a telephone and on a desk.

The browser finds every host at the served page, and nothing else: no name is looked up.
"""

from collections.abc import Iterator

import pytest
from selenium.webdriver.common.by import By

from tests.not_found.browser import Browser, assert_it_fits, started_browser
from tests.not_found.test_served import serving_pages

# One browser for all: the processes of pytest-xdist share none.
pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("chromium")]

HOST = "shop.example.com"
LONG = "/" + "long-word" * 100
"""A path without a place for a line break."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Yield a Chromium for which every host is the served page."""
    with serving_pages(tmp_path_factory.mktemp("pages")) as pages:
        rules = f"MAP * 127.0.0.1:{pages.port}"
        with started_browser(tmp_path_factory.mktemp("home"), f"http://{HOST}", rules) as running:
            yield running


@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.parametrize(("colours", "back"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 24, 29)")])
def test_the_page_is_complete_and_asks_for_nothing_more(browser: Browser, colours: str, back: str, width: int) -> None:
    browser.look("/cart?a=b", colours=colours, width=width)
    assert browser.driver.find_element(By.ID, "address").text == f"{HOST}/cart"
    assert browser.ask("getComputedStyle(document.body).backgroundColor") == back
    assert browser.requested() == [(f"http://{HOST}/cart?a=b", 404)]
    assert [entry["message"] for entry in browser.logged("browser") if "404 (Not Found)" not in entry["message"]] == []
    browser.look(LONG, colours=colours, width=width)
    assert_it_fits(browser, width)


def test_the_policy_lets_nothing_run_that_somebody_brings_in(browser: Browser) -> None:
    """As if the escaping had a hole."""
    browser.look("/<script>alert(1)</script><img src=x onerror=alert(2)>")
    title = browser.driver.title
    assert browser.ask("document.querySelectorAll('script, img').length") == 0
    browser.ask("document.body.insertAdjacentHTML('beforeend', '<img src=/x onerror=\"document.title=1\"><style>a{}')")
    browser.ask("document.body.append(Object.assign(document.createElement('script'), {text: 'document.title = 2'}))")
    assert browser.driver.title == title
    complaints = [
        entry["message"] for entry in browser.logged("browser") if "Content Security Policy" in entry["message"]
    ]
    assert len(complaints) >= 3
