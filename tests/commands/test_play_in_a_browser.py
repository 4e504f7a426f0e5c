"""The page of `ingress-manager play` in Chromium: as people see, hear and type it.

The browser finds the served page, and no other host. After each test it has asked for nothing else, and has no
complaint.
"""

import base64
import json
import threading
from collections.abc import Iterator
from itertools import product
from urllib.parse import urlencode

import pytest
from selenium.common.exceptions import JavascriptException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from devcluster.build import REPOSITORY
from ingress_manager.commands.play.answer import State, play
from ingress_manager.commands.play.command import page, result
from ingress_manager.commands.play.loopback import Loopback
from tests.not_found.browser import Browser, assert_it_fits, started_browser
from tools import examples

# One browser for all: the processes of pytest-xdist share none.
pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("chromium")]

EXAMPLES = json.loads(examples.text())
BACKGROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 29)"}
WIDTHS = (320, 640, 1280)
"""A telephone, or 400 % on a desk; 200 % on a desk; a desk."""

SLIP = next(example for example in EXAMPLES if "slip" in example["title"])
PATIENCE = 30
"""Seconds after which a test fails. The machine may be busy."""

held = threading.Event()
"""What is typed with the word `held` is answered when this is set."""


def slow_result(body: bytes) -> bytes:
    """Return what the page shows, later if that is asked for."""
    if b"held" in body:
        assert held.wait(PATIENCE)
    return result(body)


def serve(port: int = 0) -> Loopback:
    """Start the server; `shutdown` and `server_close` end it."""
    server = Loopback(port, page(""), {"/result": slow_result})
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
    return server


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Yield a Chromium that looks at the page."""
    server = serve()
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
    assert [url for url, _ in shared.requested() if not url.startswith(f"{shared.site}/")] == []
    assert [entry["message"] for entry in shared.logged("browser")] == []


def look(browser: Browser, service: str = "", settings: str = "", colours: str = "light", width: int = 1280) -> None:
    """Open the page with these texts, or with those that it begins with, and wait for what it shows."""
    browser.driver.get("about:blank")  # else a change of what stands after the # opens nothing
    link = f"/#{urlencode({'service': service, 'settings': settings})}" if service or settings else "/"
    browser.look(link, colours=colours, width=width)
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


def test_a_line_begins_as_far_to_the_right_as_the_last_one(browser: Browser) -> None:
    look(browser, "apiVersion: v1\nkind: Service")
    keys = "\nmetadata:\nname: shop\nannotations:\n"
    by_id(browser, "service").send_keys(Keys.CONTROL, Keys.END, Keys.NULL, keys, 'ingress/http: "true"\n')
    begun = "apiVersion: v1\nkind: Service\nmetadata:\n  name: shop\n  annotations:\n    "
    assert typed(browser)[0] == f'{begun}ingress/http: "true"\n    '
    by_id(browser, "service").send_keys(Keys.CONTROL, "z", Keys.NULL)
    assert typed(browser)[0] != f'{begun}ingress/http: "true"\n    ', "the browser can undo it"


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
    # The mark is where the line is.
    top, height, line = browser.ask("""(() => {
        const field = document.querySelector('#service'), style = getComputedStyle(field);
        const stripe = document.querySelector('.marks span').getBoundingClientRect();
        const begins = field.getBoundingClientRect().top + parseFloat(style.paddingTop);
        return [stripe.top - begins, stripe.height, parseFloat(style.lineHeight)];
    })()""")
    assert (top, height) == (pytest.approx((number - 1) * line, abs=1), pytest.approx(line, abs=1))
    # The button leads there.
    mistake.find_element(By.TAG_NAME, "button").click()
    selected = "(e => e.value.slice(e.selectionStart, e.selectionEnd))(document.activeElement)"
    assert browser.ask(selected) == lines[number - 1]
    replace(browser, "hots", "host")
    settle(browser)
    assert_shown(browser, SLIP["service"].replace("hots", "host"), "")
    assert browser.ask("document.querySelectorAll('.marks span').length") == 0


def test_the_marks_move_with_the_text(browser: Browser) -> None:
    look(browser, "# a\n" * 100 + SLIP["service"])
    browser.driver.find_element(By.CSS_SELECTOR, "#mistakes button").click()
    wait_for(browser, "document.querySelector('#service').scrollTop > 0")
    inside = """(() => {
        const [mark, field] = ['.marks span', '#service'].map(s => document.querySelector(s).getBoundingClientRect());
        return field.top <= mark.top && mark.bottom <= field.bottom;
    })()"""
    wait_for(browser, inside)


def test_the_result_is_announced_when_it_changes_and_not_else(browser: Browser) -> None:
    look(browser)
    nodes = browser.command("Accessibility.getFullAXTree")["nodes"]
    [status] = [
        node
        for node in nodes
        if node["role"]["value"] == "status" and node.get("childIds")  # the other one is empty
    ]
    properties = {each["name"]: each["value"]["value"] for each in status["properties"]}
    assert (properties["live"], properties["atomic"]) == ("polite", True)
    browser.driver.execute_script("""
        window.announced = [];
        const status = document.querySelector('#status');
        const told = new MutationObserver(() => announced.push(status.textContent));
        told.observe(status, {childList: true, subtree: true});
    """)
    by_id(browser, "service").send_keys(Keys.CONTROL, Keys.END, Keys.NULL, "# a comment")
    settle(browser)
    assert browser.ask("announced") == []
    assert by_id(browser, "service").get_attribute("aria-invalid") == "false"
    replace(browser, "ingress/host", "ingress/hots")
    settle(browser)
    wait_for(browser, "announced.length === 1")
    assert "did you mean ingress/host?" in browser.ask("announced")[0]
    assert by_id(browser, "service").get_attribute("aria-invalid") == "true"
    assert by_id(browser, "settings").get_attribute("aria-invalid") == "false"


def test_each_example_can_be_chosen(browser: Browser) -> None:
    look(browser)
    select = Select(by_id(browser, "example"))
    assert [option.text for option in select.options[1:]] == [example["title"] for example in EXAMPLES]
    groups = [group.get_attribute("label") for group in browser.driver.find_elements(By.TAG_NAME, "optgroup")]
    assert groups == list(dict.fromkeys(example["group"] for example in EXAMPLES))
    for example in EXAMPLES:
        select.select_by_visible_text(example["title"])
        settle(browser)
        assert typed(browser) == (example["service"], example["settings"])
        assert_shown(browser, example["service"], example["settings"])


def test_back_brings_back_what_an_example_has_replaced(browser: Browser) -> None:
    look(browser)
    replace(browser, "shop.example.com", "mine.example.com")
    mine = typed(browser)
    select = Select(by_id(browser, "example"))
    assert select.first_selected_option.text == "Choose one …"
    select.select_by_visible_text(SLIP["title"])
    settle(browser)
    browser.driver.back()
    wait_for(browser, "document.querySelector('#service').value.includes('mine.example.com')")
    settle(browser)
    assert typed(browser) == mine
    assert_shown(browser, *mine)


def test_a_link_carries_both_texts_and_no_server_sees_them(browser: Browser) -> None:
    service, settings = f"{EXAMPLES[0]['service']}# ü&+%#=😀\n", "defaults: {class: internal} # a+b\n"
    look(browser)
    replace(browser, EXAMPLES[0]["service"], "x")
    fill = "for (const [id, text] of arguments[0]) document.querySelector(id).value = text;"
    browser.driver.execute_script(fill, [["#service", service], ["#settings", settings[:-1]]])
    by_id(browser, "settings").send_keys(Keys.CONTROL, Keys.END, Keys.NULL, "\n")
    settle(browser)
    link = browser.driver.current_url
    first = browser.driver.current_window_handle
    browser.driver.switch_to.new_window("window")
    try:
        browser.driver.get(link)
        settle(browser)
        assert typed(browser) == (service, settings)
        assert_shown(browser, service, settings)
        assert browser.driver.current_url == link
    finally:
        browser.driver.close()
        browser.driver.switch_to.window(first)
    asked = {url.removeprefix(browser.site) for url, _ in browser.requested()}
    assert {"/", "/result"} <= asked <= {"/", "/page.css", "/page.js", "/icon.svg", "/start.json", "/result"}


def test_a_link_that_is_pasted_into_the_address_is_followed(browser: Browser) -> None:
    look(browser)
    browser.driver.get(f"{browser.site}/#{urlencode({'service': SLIP['service']})}")
    wait_for(browser, "document.querySelector('#service').value.includes('hots')")
    settle(browser)
    assert_shown(browser, SLIP["service"], "")


def test_what_is_too_long_for_a_link_has_none(browser: Browser) -> None:
    look(browser)
    assert by_id(browser, "link").is_enabled()
    browser.driver.execute_script("document.querySelector('#service').value += '# long\\n'.repeat(5000)")
    by_id(browser, "service").send_keys(Keys.CONTROL, Keys.END, Keys.NULL, " ")
    settle(browser)
    assert browser.driver.current_url == f"{browser.site}/"
    assert not by_id(browser, "link").is_enabled()
    assert by_id(browser, "status").get_attribute("data-state") == "fine"


def test_the_link_and_the_yaml_can_be_copied(browser: Browser) -> None:
    look(browser, EXAMPLES[0]["service"])
    made = [each.text for each in play(EXAMPLES[0]["service"], "").objects]
    for permission in ("granted", "denied"):
        for name in ("clipboard-write", "clipboard-read"):
            browser.command("Browser.setPermission", permission={"name": name}, setting=permission)
        for button, copied in (("#link", browser.driver.current_url), ("#objects button", "---\n".join(made))):
            browser.driver.find_element(By.CSS_SELECTOR, button).click()
            said = "is copied." if permission == "granted" else "The browser doesn’t let this page copy."
            wait_for(browser, f"document.querySelector('#copied').textContent.endsWith('{said}')")
            if permission == "granted":
                read = "navigator.clipboard.readText().then(arguments[0])"
                assert browser.driver.execute_async_script(read) == copied
            browser.driver.execute_script("document.querySelector('#copied').textContent = ''")


def test_an_old_answer_never_takes_the_place_of_a_newer_one(browser: Browser) -> None:
    look(browser)
    held.clear()
    replace(browser, "shop.example.com", "held.example.com")
    wait_for(browser, "location.hash.includes('held.example.com')")
    replace(browser, "held.example.com", "new.example.com")
    settle(browser)
    new = typed(browser)
    assert_shown(browser, *new)
    held.set()
    # Whatever the server sends now is followed by one more answer.
    by_id(browser, "service").send_keys(Keys.CONTROL, Keys.END, Keys.NULL, " ")
    settle(browser)
    assert_shown(browser, *new)


def test_a_server_that_has_gone_is_told_of_and_found_again(browser: Browser) -> None:
    server = serve()
    other = browser._replace(site=server.url[:-1])
    look(other)
    server.shutdown()
    server.server_close()
    replace(other, "shop.example.com", "blog.example.com")
    settle(other)
    assert by_id(other, "headline").text == "! The server doesn’t answer. Does ingress-manager play still run?"
    server = serve(server.port)
    try:
        replace(other, "blog.example.com", "news.example.com")
        settle(other)
        assert_shown(other, EXAMPLES[0]["service"].replace("shop.example.com", "news.example.com"), "")
    finally:
        server.shutdown()
        server.server_close()
    assert {url.startswith(f"{other.site}/") for url, _ in other.requested() if url != "about:blank"} == {True}
    assert all("ERR_CONNECTION_REFUSED" in entry["message"] for entry in other.logged("browser"))


def test_texts_that_are_too_large_are_told_of(browser: Browser) -> None:
    look(browser)
    browser.driver.execute_script("document.querySelector('#service').value += '#'.repeat(1 << 20)")
    by_id(browser, "service").send_keys(Keys.CONTROL, Keys.END, Keys.NULL, " ")
    settle(browser)
    assert by_id(browser, "headline").text == "! The server can’t decide: it is larger than 1024 KiB."
    assert all("413" in entry["message"] for entry in browser.logged("browser"))


NASTY = "<img src=x onerror=document.title=1><script>document.title=2</script>"


def test_markup_in_what_is_typed_is_text(browser: Browser) -> None:
    metadata = f"{{name: '{NASTY}', annotations: {{ingress/http: '{NASTY}'}}}}"
    nasty = f"apiVersion: v1\nkind: Service\nmetadata: {metadata}\nspec: {{}}"
    for service, settings in ((nasty, ""), (SLIP["service"], f"'{NASTY}': 1")):
        look(browser, service, settings)
        assert NASTY in by_id(browser, "status").text
        assert browser.driver.title == "play · ingress-manager"
        assert browser.ask("document.querySelectorAll('img, script:not([src])').length") == 0


def test_the_policy_lets_nothing_run_that_somebody_brings_in(browser: Browser) -> None:
    """As if the page made markup of text."""
    look(browser)
    for script in (
        "document.body.insertAdjacentHTML('beforeend', '<img src=/x onerror=document.title=1>')",
        "document.body.append(Object.assign(document.createElement('script'), {text: 'document.title = 2'}))",
    ):
        with pytest.raises(JavascriptException):
            browser.ask(script)
    browser.driver.execute_script("""
        document.body.setAttribute('style', 'color: red');
        document.body.append(Object.assign(document.createElement('img'), {src: 'http://192.0.2.1/'}));
    """)
    assert browser.driver.title == "play · ingress-manager"
    assert browser.ask("getComputedStyle(document.body).color") != "rgb(255, 0, 0)"
    wait_for(browser, "[...document.images].every(image => image.complete)")
    refused = [entry["message"] for entry in browser.logged("browser")]
    assert len(refused) >= 4
    assert any("'http://192.0.2.1/'" in message and "img-src" in message for message in refused)
    assert {status for url, status in browser.requested() if "192.0.2.1" in url} <= {None}


# What can be seen, and reached with the keyboard.

ALL_STATES = [
    (EXAMPLES[0]["service"], ""),
    (next(each["service"] for each in EXAMPLES if each["title"] == "Every annotation is wrong"), ""),
    ("kind: Other", "paused: true"),
    (EXAMPLES[0]["service"], "hosts: []"),
]

CONTRAST = """
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const rgba = colour => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
    const own = element => rgba(getComputedStyle(element).backgroundColor);
    const behind = element => element ? over(own(element), behind(element.parentElement)) : [255, 255, 255, 1];
    const light = colour => {
        const [r, g, b] = colour.map(c => c / 255 <= .04045 ? c / 255 / 12.92 : ((c / 255 + .055) / 1.055) ** 2.4);
        return .2126 * r + .7152 * g + .0722 * b;
    };
    const ratio = (one, two) => {
        const [bright, dark] = [light(one), light(two)].sort((a, b) => b - a);
        return (bright + .05) / (dark + .05);
    };
    document.querySelectorAll('details').forEach(each => each.open = true);
    const poor = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const elements = new Set(document.querySelectorAll('textarea, select'));
    while (walker.nextNode()) if (walker.currentNode.textContent.trim()) elements.add(walker.currentNode.parentElement);
    let checked = 0;
    for (const element of elements) {
        if (!element.checkVisibility()) continue;
        checked += 1;
        const colour = over(rgba(getComputedStyle(element).color), behind(element));
        const backs = [behind(element)];
        if (element.closest('.editor'))
            for (const mark of document.querySelectorAll('.marks span'))
                backs.push(over(rgba(getComputedStyle(mark).backgroundColor), behind(element)));
        for (const back of backs)
            if (ratio(colour, back) < 4.5) poor.push([ratio(colour, back), element.outerHTML.slice(0, 200)]);
    }
    for (const element of document.querySelectorAll('button, select, .editor')) {
        const seen = ratio(rgba(getComputedStyle(element).borderTopColor), behind(element.parentElement));
        if (seen < 3) poor.push([seen, 'the edge of', element.outerHTML.slice(0, 200)]);
    }
    return [checked, poor];
"""
"""WCAG 2.2, 1.4.3 and 1.4.11: what has less contrast than AA asks for."""


@pytest.mark.parametrize(("colours", "texts"), list(product(BACKGROUNDS, ALL_STATES)))
def test_everything_can_be_read_in_the_light_and_in_the_dark(
    browser: Browser, colours: str, texts: tuple[str, str]
) -> None:
    look(browser, *texts, colours=colours)
    assert_shown(browser, *texts)
    assert browser.ask("getComputedStyle(document.body).backgroundColor") == BACKGROUNDS[colours]
    checked, poor = browser.driver.execute_script(CONTRAST)
    assert checked > 100
    assert poor == []


def test_the_states_that_are_looked_at_are_all_there_are() -> None:
    assert {play(*texts).state for texts in ALL_STATES} == set(State)


@pytest.mark.parametrize(("width", "texts"), list(product(WIDTHS, ALL_STATES)))
def test_nothing_scrolls_sideways(browser: Browser, width: int, texts: tuple[str, str]) -> None:
    look(browser, *texts, width=width)
    assert_it_fits(browser, width)
    browser.driver.execute_script("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert_it_fits(browser, width)


def test_long_words_stay_in_their_boxes(browser: Browser) -> None:
    long = "long-word" * 100
    look(browser, SLIP["service"].replace("ingress/hots", f"ingress/{long}").replace("shop", long), width=320)
    assert_it_fits(browser, 320)
    look(browser, EXAMPLES[0]["service"].replace("name: shop", f"name: {long}"), width=320)
    assert_it_fits(browser, 320)


def test_nothing_moves_by_itself(browser: Browser) -> None:
    look(browser, SLIP["service"])
    assert browser.ask("document.getAnimations().length") == 0
    moving = "[...document.querySelectorAll('*')].filter(e => parseFloat(getComputedStyle(e).transitionDuration) > 0)"
    assert browser.ask(f"{moving}.length") == 0
    assert browser.ask("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


FOCUSED = """(() => {
    const e = document.activeElement, style = getComputedStyle(e);
    if (e === document.body) return null;
    const controls = document.querySelectorAll('select, button:enabled, textarea, summary');
    const all = [...controls].filter(e => e.checkVisibility());
    const outline = e.matches(':focus-visible') && style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
    return [all.indexOf(e), all.length, outline];
})()"""


def test_everything_is_reached_with_the_keyboard_in_the_order_in_which_it_is_read(browser: Browser) -> None:
    look(browser, SLIP["service"])
    seen = []
    for _ in range(40):
        ActionChains(browser.driver).send_keys(Keys.TAB).perform()
        focused = browser.ask(FOCUSED)
        if focused is None:
            break
        seen.append(focused)
    else:
        raise AssertionError(f"the keyboard does not leave: {seen}")
    assert len(seen) >= 10
    assert seen == [[index, len(seen), True] for index in range(len(seen))]


def test_it_can_be_used_with_the_keyboard_alone(browser: Browser) -> None:
    look(browser)

    def press(*keys: str) -> None:
        ActionChains(browser.driver).send_keys(*keys).perform()

    def focused() -> str:
        return str(browser.ask("document.activeElement.id || document.activeElement.textContent"))

    press(Keys.TAB)
    assert focused() == "example"
    press("An anno")  # as one types in a list: the first that begins so
    settle(browser)
    assert typed(browser)[0] == SLIP["service"]
    press(Keys.TAB, Keys.TAB)
    assert focused() == "service"
    press(Keys.TAB, Keys.TAB)
    assert focused().startswith("Line ")
    press(Keys.ENTER)
    assert focused() == "service"
    press(next(line for line in SLIP["service"].split("\n") if "hots" in line).replace("hots", "host"))
    settle(browser)
    assert by_id(browser, "status").get_attribute("data-state") == "fine"
    press(Keys.TAB, Keys.TAB)
    assert focused() == "Copy YAML"
    press(Keys.TAB, Keys.ENTER, Keys.TAB, Keys.ENTER)
    assert browser.ask("document.activeElement.parentElement.open")
    assert "Whether the Service gets an Ingress at all." in focused()


CHECKS = """(() => {
    const all = selector => [...document.querySelectorAll(selector)];
    const levels = all('h1, h2, h3').map(e => Number(e.tagName[1]));
    const ids = all('[id]').map(e => e.id);
    const pointed = ['aria-labelledby', 'aria-describedby', 'for'].flatMap(name =>
        all(`[${name}]`).flatMap(e => e.getAttribute(name).split(' ')));
    const small = all('button, select, summary, textarea').filter(e => e.checkVisibility()).filter(e =>
        e.getBoundingClientRect().height < 24 || e.getBoundingClientRect().width < 24);
    const outside = all('body > *').filter(e => !e.matches('header, main, footer, noscript, section[aria-labelledby]'));
    return {
        language: document.documentElement.lang,
        h1: levels.filter(level => level === 1).length,
        skipped: levels.filter((level, i) => level > (levels[i - 1] ?? 0) + 1),
        twice: ids.filter((id, i) => ids.indexOf(id) !== i),
        lost: pointed.filter(id => !document.getElementById(id)),
        small: small.map(e => e.outerHTML),
        outside: outside.map(e => e.outerHTML),
        hidden: all('[aria-hidden=true] :is(a, button, select, textarea, summary)').length,
        positive: all('[tabindex]').length,
        zoom: document.querySelector('meta[name=viewport]').content,
    };
})()"""
"""What axe and others look for."""


@pytest.mark.parametrize("texts", ALL_STATES)
def test_the_page_says_what_it_is_made_of(browser: Browser, texts: tuple[str, str]) -> None:
    look(browser, *texts)
    browser.driver.execute_script("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert browser.ask(CHECKS) == {
        "language": "en",
        "h1": 1,
        "skipped": [],
        "twice": [],
        "lost": [],
        "small": [],
        "outside": [],
        "hidden": 0,
        "positive": 0,
        "zoom": "width=device-width, initial-scale=1",
    }
    nodes = [node for node in browser.command("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
    named = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes]
    controls = {"button", "combobox", "textbox", "DisclosureTriangle", "region"}
    assert [role for role, name in named if role in controls and not name] == []
    for wanted in (
        *(("banner", ""), ("main", ""), ("contentinfo", ""), ("combobox", "Example"), ("button", "Copy link")),
        *(
            ("textbox", "Service"),
            ("textbox", "Settings"),
            ("region", "What it becomes"),
            ("region", "What can be written"),
        ),
    ):
        assert wanted in named
    descriptions = {
        node["name"]["value"]: node.get("description", {}).get("value")
        for node in nodes
        if node["role"]["value"] == "textbox"
    }
    assert descriptions["Service"].startswith("YAML or JSON")


def test_each_annotation_and_each_setting_is_explained(browser: Browser) -> None:
    look(browser)
    help_ = by_id(browser, "help")
    assert "ingress/tls-secret" not in help_.text, "it is closed at first"
    browser.driver.execute_script("document.querySelectorAll('details').forEach(each => each.open = true)")
    for word in (
        "ingress/tls-secret",
        "Where the certificate is; turns TLS on.",
        "namespaces.*.limits.hosts",
        "host-not-allowed",
    ):
        assert word in help_.text


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
    """`make screenshot` writes it: one Service that is fine, and one that is refused."""
    look(browser, TWO, "defaults:\n  host: '{service}.apps.example.com'\n", width=1200)
    browser.command("Emulation.setDeviceMetricsOverride", width=1200, height=720, deviceScaleFactor=1, mobile=False)
    # WebP: Chromium's own PNG would be four times as large.
    picture = base64.b64decode(browser.picture("webp"))
    path = REPOSITORY / "docs/play.webp"
    if screenshot:
        path.write_bytes(picture)
    assert max(len(picture), path.stat().st_size) < 60_000
