"""Drives Chromium by WebDriver and by its DevTools Protocol, to see pages as people do."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from tools.debian import CHROMIUM, Program, find

HEIGHT = 680


class Browser(NamedTuple):
    """A Chromium that looks at one site."""

    driver: webdriver.Chrome
    site: str
    """As in http://shop.example.com."""

    def look(self, path: str, width: int) -> None:
        """Open a path as a person with a window of this width would."""
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=HEIGHT, deviceScaleFactor=1, mobile=False
        )
        self.logged("browser")
        self.logged("performance")
        self.driver.get(f"{self.site}{path}")

    def command(self, name: str, **arguments: Any) -> Any:
        """Return what a command of Chromium's DevTools Protocol answers."""
        return self.driver.execute_cdp_cmd(name, arguments)

    def logged(self, name: str) -> list[Any]:
        """Return what was written to a log since the last call."""
        return list(self.driver.get_log(name))  # type: ignore[no-untyped-call]

    def requested(self) -> list[str]:
        """Return the URL of each request since the page was asked for."""
        messages = [json.loads(entry["message"])["message"] for entry in self.logged("performance")]
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]

    def ask(self, script: str) -> Any:
        """Return the value of an expression of JavaScript, which Chromium evaluates beside the page."""
        return self.driver.execute_script(f"return {script}")

    def picture(self, format_: str) -> str:
        """Return a picture of what is in the window, in base64."""
        return str(self.command("Page.captureScreenshot", format=format_, quality=80)["data"])


def assert_it_fits(browser: Browser, width: int) -> None:
    """Raise AssertionError if the page scrolls sideways, or anything in it is wider than what it stands in."""
    assert browser.ask("innerWidth") == width
    assert browser.ask("document.documentElement.scrollWidth") <= width
    # What is typed into a field doesn't wrap: the field scrolls by itself.
    too_wide = "[...document.body.querySelectorAll(':not(textarea)')].filter(e => e.scrollWidth > e.clientWidth + 1"
    assert browser.ask(f"{too_wide} && e.clientWidth).map(e => e.outerHTML)") == []


@contextmanager
def started_browser(home: Path, site: str, rules: str) -> Iterator[Browser]:
    """Start a Chromium, with a HOME of its own, or skip the test, saying how to get one.

    `rules` say where each host is found (Chromium's option --host-resolver-rules).
    """
    chromium = find(CHROMIUM)
    if chromium is None or (driver := driver_of(chromium)) is None:
        pytest.skip("NOT SEEN IN CHROMIUM: it isn't on PATH or in .build/. `make test-all` gets Debian's.")
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
        f"--host-resolver-rules={rules}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    folders = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_CACHE_HOME": str(home)}
    environment = os.environ | folders | chromium.environment()
    started = webdriver.Chrome(options, Service(driver, env=environment))
    try:
        yield Browser(started, site)
    finally:
        started.quit()


def driver_of(chromium: Program) -> str | None:
    """Return the program that drives a Chromium by WebDriver."""
    return str(chromium.root / "usr/bin/chromedriver") if chromium.root else shutil.which("chromedriver")
