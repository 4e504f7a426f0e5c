"""The 404 page in Chromium: what a person sees, in the light and the dark, on a telephone and on a desk.

The browser finds every host at the served page, and nothing else: no name is looked up.
"""

import base64
import json
import os
import shutil
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

from hooks.not_found.texts import LANGUAGES
from tests.test_not_found_served import Pages, serving_pages
from tests.test_readme import REPOSITORY
from tools.debian import CHROMIUM, Program, find

# One browser for all: the processes of pytest-xdist share none.
pytestmark = pytest.mark.xdist_group("chromium")

HOST = "shop.example.com"
BACKGROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 29)"}
WIDTHS = (320, 1280)
HEIGHT = 680
LONG = "/" + "long-word" * 100 + "/%D7%A9%D7%9C%D7%95%D7%9D/" + "%E0%B8%81%E0%B9%87%E0%B9%87%E0%B9%87%E0%B9%87" * 20
"""A path without a place for a line break, letters that run from right to left, and marks on top of each other."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pages]:
    with serving_pages(tmp_path_factory.mktemp("pages")) as running:
        yield running


def driver_of(chromium: Program) -> str | None:
    """Return the program that drives a Chromium by WebDriver."""
    return str(chromium.root / "usr/bin/chromedriver") if chromium.root else shutil.which("chromedriver")


class Browser(NamedTuple):
    """A Chromium for which every host is the served page."""

    driver: webdriver.Chrome

    def look(self, path: str = "/cart", language: str = "en", colours: str = "light", width: int = 1280) -> None:
        """Open a path as a person with this language, these colours and this width would."""
        self.command("Emulation.setUserAgentOverride", userAgent="Chromium", acceptLanguage=language)
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": colours}])
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=HEIGHT, deviceScaleFactor=1, mobile=False
        )
        self.logged("browser")
        self.logged("performance")
        self.driver.get(f"http://{HOST}{path}")

    def command(self, name: str, **arguments: Any) -> Any:
        """Return what a command of Chromium's DevTools Protocol answers."""
        return self.driver.execute_cdp_cmd(name, arguments)

    def logged(self, name: str) -> list[Any]:
        """Return what was written to a log since the last call."""
        return list(self.driver.get_log(name))  # type: ignore[no-untyped-call]

    def requested(self) -> list[tuple[str, int | None]]:
        """Return the URL of each request since the page was asked for, and the status of its answer."""
        messages = [json.loads(entry["message"])["message"] for entry in self.logged("performance")]
        urls, statuses = {}, {}
        for message in messages:
            if message["method"] == "Network.requestWillBeSent":
                urls[message["params"]["requestId"]] = message["params"]["request"]["url"]
            elif message["method"] == "Network.responseReceived":
                statuses[message["params"]["requestId"]] = message["params"]["response"]["status"]
        return [(url, statuses.get(request)) for request, url in urls.items()]

    def ask(self, script: str) -> Any:
        """Return the value of an expression of JavaScript, which Chromium evaluates beside the page."""
        return self.driver.execute_script(f"return {script}")

    def picture(self, format_: str) -> str:
        """Return a picture of what is in the window, in base64."""
        return str(self.command("Page.captureScreenshot", format=format_, quality=80)["data"])


@pytest.fixture(scope="module")
def browser(pages: Pages, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Yield a Chromium, or skip the test, saying how to get one."""
    chromium = find(CHROMIUM)
    if chromium is None or (driver := driver_of(chromium)) is None:
        pytest.skip("NOT SEEN IN CHROMIUM: it isn't on PATH or in .build/. `make test-all` gets Debian's.")
    home = tmp_path_factory.mktemp("home")
    options = webdriver.ChromeOptions()
    options.binary_location = str(chromium.path)
    for argument in (
        "--headless",
        # In a container, Chromium can't build its sandbox. It opens no page but ours.
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        f"--user-data-dir={home}/profile",
        f"--host-resolver-rules=MAP * 127.0.0.1:{pages.port}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    folders = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_CACHE_HOME": str(home)}
    environment = os.environ | folders | chromium.environment()
    started = webdriver.Chrome(options, Service(driver, env=environment))
    try:
        yield Browser(started)
    finally:
        started.quit()


@pytest.fixture
def screenshot(request: pytest.FixtureRequest) -> bool:
    """Return whether the picture in the docs is to be written."""
    return bool(request.config.getoption("--screenshot"))


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


def assert_it_fits(browser: Browser, width: int) -> None:
    """Raise AssertionError if the page scrolls sideways, or anything in it is wider than what it stands in."""
    assert browser.ask("innerWidth") == width
    assert browser.ask("document.documentElement.scrollWidth") <= width
    too_wide = "[...document.body.querySelectorAll('*')].filter(each => each.scrollWidth > each.clientWidth + 1"
    assert browser.ask(f"{too_wide} && each.clientWidth).map(each => each.outerHTML)") == []


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
    browser.look()
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
        browser.look(colours=colours, width=480)
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
