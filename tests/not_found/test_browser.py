"""The 404 page in Chromium: what a person sees, in the light and the dark, on a telephone and on a desk.

The browser finds every host at the served page, and nothing else: no name is looked up.
"""

import base64
from collections.abc import Iterator
from itertools import product

import pytest
from selenium.webdriver.common.by import By

from devcluster.build import REPOSITORY
from not_found.texts import LANGUAGES
from tests.not_found.browser import HEIGHT, Browser, assert_it_fits, started_browser
from tests.not_found.test_served import Pages, serving_pages

# One browser for all: the processes of pytest-xdist share none.
pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("chromium")]

HOST = "shop.example.com"
BACKGROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 29)"}
WIDTHS = (320, 1280)
LONG = "/" + "long-word" * 100 + "/%D7%A9%D7%9C%D7%95%D7%9D/" + "%E0%B8%81%E0%B9%87%E0%B9%87%E0%B9%87%E0%B9%87" * 20
"""A path without a place for a line break, letters that run from right to left, and marks on top of each other."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pages]:
    with serving_pages(tmp_path_factory.mktemp("pages")) as running:
        yield running


@pytest.fixture(scope="module")
def browser(pages: Pages, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Yield a Chromium for which every host is the served page."""
    rules = f"MAP * 127.0.0.1:{pages.port}"
    with started_browser(tmp_path_factory.mktemp("home"), f"http://{HOST}", rules) as running:
        yield running


SEEN = list(product(LANGUAGES, BACKGROUNDS, WIDTHS))


@pytest.mark.parametrize(("language", "colours", "width"), SEEN)
def test_the_page_is_complete_and_asks_for_nothing_more(
    browser: Browser, language: str, colours: str, width: int
) -> None:
    browser.look("/cart?a=b", language, colours, width)
    texts = LANGUAGES[language]
    shown = browser.driver.find_element(By.TAG_NAME, "body").text
    for text in texts:
        assert text.replace("`", "") in shown
    assert browser.driver.title == f"404: {texts.title}"
    assert browser.driver.find_element(By.ID, "address").text == f"{HOST}/cart"
    assert browser.ask("document.documentElement.lang") == language
    assert browser.ask("getComputedStyle(document.body).backgroundColor") == BACKGROUNDS[colours]
    assert browser.requested() == [(f"http://{HOST}/cart?a=b", 404)]
    assert [entry["message"] for entry in browser.logged("browser") if "404 (Not Found)" not in entry["message"]] == []
    assert_it_fits(browser, width)


@pytest.mark.parametrize("width", WIDTHS)
def test_an_address_without_end_stays_in_its_box(browser: Browser, width: int) -> None:
    browser.look(LONG, width=width)
    assert_it_fits(browser, width)


def test_markup_in_the_address_is_text(browser: Browser) -> None:
    browser.look("/<script>alert(1)</script><img src=x onerror=alert(2)>")
    assert browser.driver.find_element(By.ID, "address").text.endswith(
        "/%3Cscript%3Ealert(1)%3C/script%3E%3Cimg%20src=x%20onerror=alert(2)%3E"
    )
    assert browser.ask("document.querySelectorAll('script, img').length") == 0


def test_the_policy_lets_nothing_run_that_somebody_brings_in(browser: Browser) -> None:
    """As if the escaping had a hole."""
    browser.look("/cart")
    browser.ask("document.body.insertAdjacentHTML('beforeend', '<img src=/x onerror=\"document.title=1\"><style>a{}')")
    browser.ask("document.body.append(Object.assign(document.createElement('script'), {text: 'document.title = 2'}))")
    assert browser.driver.title == f"404: {LANGUAGES['en'].title}"
    complaints = [
        entry["message"] for entry in browser.logged("browser") if "Content Security Policy" in entry["message"]
    ]
    assert len(complaints) >= 3


def test_the_link_leads_to_the_start_of_the_same_site(browser: Browser) -> None:
    browser.look("/a/b/c")
    browser.driver.find_element(By.TAG_NAME, "a").click()
    assert browser.driver.current_url == f"http://{HOST}/"
    assert not browser.driver.find_elements(By.TAG_NAME, "a")


def test_the_docs_have_a_small_picture_of_it(browser: Browser, screenshot: bool) -> None:
    """`make screenshot` writes it: the page in the light, and beside it in the dark."""
    images = []
    for colours in BACKGROUNDS:
        browser.look("/cart", colours=colours, width=480)
        images.append(f'<img src="data:image/png;base64,{browser.picture("png")}">')
    browser.command("Emulation.setDeviceMetricsOverride", width=960, height=HEIGHT, deviceScaleFactor=1, mobile=False)
    browser.driver.get("data:text/html,<body style='margin:0;display:flex'>")
    browser.driver.execute_script("document.body.innerHTML = arguments[0]", "".join(images))
    browser.driver.execute_async_script(
        "Promise.all([...document.images].map(each => each.decode())).then(arguments[0])"
    )
    # WebP: Chromium's own PNG would be four times as large.
    picture = base64.b64decode(browser.picture("webp"))
    path = REPOSITORY / "docs/404.webp"
    if screenshot:
        path.write_bytes(picture)
    assert max(len(picture), path.stat().st_size) < 60_000
