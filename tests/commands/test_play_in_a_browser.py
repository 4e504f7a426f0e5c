"""The page of `ingress-manager play` in Chromium: as people see, hear and type it.

The browser finds the served page, and no other host. After each test it has asked for nothing else, and has no
complaint.
"""

import base64
import json
import threading
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from devcluster.build import REPOSITORY
from ingress_manager.commands.play.answer import play
from ingress_manager.commands.play.command import page, result
from ingress_manager.commands.play.loopback import Loopback
from tests.browser import Browser, assert_it_fits, started_browser
from tools import examples

# One browser for all: the processes of pytest-xdist share none.
pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("chromium")]

EXAMPLES = json.loads(examples.text())
SLIP = next(example for example in EXAMPLES if "slip" in example["title"])
PATIENCE = 30
"""Seconds after which a test fails. The machine may be busy."""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Yield a Chromium that looks at the page."""
    server = Loopback(0, page(""), {"/result": result})
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
    try:
        rules = "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
        with started_browser(tmp_path_factory.mktemp("home"), server.url[:-1], rules) as running:
            yield running
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def browser(shared: Browser) -> Iterator[Browser]:
    """Yield the same; see afterwards that nothing was asked of others, and that there is no complaint."""
    shared.driver.get("about:blank")
    shared.logged("browser")
    shared.logged("performance")
    yield shared
    assert [url for url in shared.requested() if not url.startswith(f"{shared.site}/")] == []
    assert [entry["message"] for entry in shared.logged("browser")] == []


def look(browser: Browser, service: str = "", settings: str = "", width: int = 1280) -> None:
    """Open the page with these texts, or with those that it begins with, and wait for what it shows."""
    browser.driver.get("about:blank")  # else a change of what stands after the # opens nothing
    link = f"/#{urlencode({'service': service, 'settings': settings})}" if service or settings else "/"
    browser.look(link, width=width)
    settle(browser)


def settle(browser: Browser) -> None:
    """Wait until the result is that of what is typed."""
    wait_for(browser, "document.querySelector('#result').ariaBusy === 'false'")


def wait_for(browser: Browser, script: str) -> None:
    WebDriverWait(browser.driver, PATIENCE, 0.02).until(lambda _: browser.ask(script))


def by_id(browser: Browser, name: str) -> WebElement:
    return browser.driver.find_element(By.ID, name)


def typed(browser: Browser) -> tuple[str, str]:
    """Return the two texts."""
    return browser.ask("document.querySelector('#service').value"), browser.ask(
        "document.querySelector('#settings').value"
    )


def assert_shown(browser: Browser, service: str, settings: str) -> None:
    """Raise AssertionError unless the page shows what becomes of these texts."""
    wanted = play(service, settings)
    status = by_id(browser, "status")
    assert status.get_attribute("data-state") == wanted.state
    assert by_id(browser, "headline").text.endswith(wanted.headline)
    for said in (*wanted.notes, *[mistake.sentence for mistake in wanted.mistakes]):
        assert said in status.text
    shown = browser.ask(
        "[...document.querySelectorAll('#objects > div')].map(e => [...e.children].map(c => c.textContent))"
    )
    assert shown == [[made.name, made.text] for made in wanted.objects]


def replace(browser: Browser, before: str, after: str) -> None:
    """Select a word of the Service, and type another."""
    select = """
        const field = document.querySelector('#service'), at = field.value.indexOf(arguments[0]);
        field.focus();
        field.setSelectionRange(at, at + arguments[0].length);
    """
    browser.driver.execute_script(select, before)
    browser.driver.switch_to.active_element.send_keys(after)


def test_what_it_becomes_changes_as_one_types(browser: Browser) -> None:
    look(browser)
    service, settings = typed(browser)
    assert (service, settings) == (EXAMPLES[0]["service"], "")
    assert_shown(browser, service, settings)
    replace(browser, "shop.example.com", "blog.example.com")
    settle(browser)
    assert_shown(browser, service.replace("shop.example.com", "blog.example.com"), "")
    by_id(browser, "settings").send_keys("defaults: {class: internal}")
    settle(browser)
    assert "ingressClassName: internal" in by_id(browser, "objects").text
    # The link carries both texts, and no server sees them.
    link = browser.driver.current_url
    browser.driver.get("about:blank")
    browser.driver.get(link)
    settle(browser)
    assert typed(browser)[1] == "defaults: {class: internal}"


def test_a_refusal_stands_beside_its_annotation(browser: Browser) -> None:
    look(browser, SLIP["service"])
    lines = SLIP["service"].split("\n")
    number = next(number for number, line in enumerate(lines, start=1) if "hots" in line)
    mistake = browser.driver.find_element(By.CSS_SELECTOR, "#mistakes li")
    assert mistake.find_element(By.TAG_NAME, "button").text == f"Line {number} of the Service"
    assert mistake.find_element(By.TAG_NAME, "code").text == lines[number - 1].strip()
    assert "did you mean ingress/host?" in mistake.text
    assert "What to do: " in mistake.text
    assert f"\n✕ {number}\n" in browser.ask("document.querySelector('.numbers').textContent")
    look(browser, SLIP["service"], width=320)
    assert_it_fits(browser, 320)


NASTY = "<img src=x onerror=document.title=1><script>document.title=2</script>"


def test_markup_in_what_is_typed_is_text(browser: Browser) -> None:
    metadata = f"{{name: '{NASTY}', annotations: {{ingress/http: '{NASTY}'}}}}"
    nasty = f"apiVersion: v1\nkind: Service\nmetadata: {metadata}\nspec: {{}}"
    for service, settings in ((nasty, ""), (SLIP["service"], f"'{NASTY}': 1")):
        look(browser, service, settings)
        assert NASTY in by_id(browser, "status").text
        assert browser.driver.title == "play · ingress-manager"
        assert browser.ask("document.querySelectorAll('img, script:not([src])').length") == 0


TWO = """\
apiVersion: v1
kind: Service
metadata:
  name: shop
  annotations:
    ingress/http: "true"
    ingress/hots: shop.example.com
spec:
  ports: [{port: 80}]
---
apiVersion: v1
kind: Service
metadata:
  name: blog
  annotations:
    ingress/http: "true"
spec:
  ports: [{port: 80}]
"""


def test_the_docs_have_a_small_picture_of_it(browser: Browser, screenshot: bool) -> None:
    """--screenshot writes it: one Service that is fine, and one that is refused."""
    look(browser, TWO, "defaults:\n  host: '{service}.apps.example.com'\n", width=1200)
    browser.command("Emulation.setDeviceMetricsOverride", width=1200, height=720, deviceScaleFactor=1, mobile=False)
    # WebP: Chromium's own PNG would be four times as large.
    picture = base64.b64decode(browser.picture("webp"))
    path = REPOSITORY / "docs/play.webp"
    if screenshot:
        path.write_bytes(picture)
    assert max(len(picture), path.stat().st_size) < 60_000
