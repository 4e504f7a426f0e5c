"""`ingress-manager play`: what is shown beside what somebody types, and the server that the page is from."""

import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from devcluster.sync_requests import service
from ingress_manager.commands.play import command as shell
from ingress_manager.commands.play.answer import Made, Mistake, Result, State, play
from ingress_manager.commands.play.loopback import HEADERS, LARGEST_BODY, TEXT, Loopback
from ingress_manager.commands.printing.objects import as_yaml, printed
from ingress_manager.commands.reading.manifests import read
from ingress_manager.commands.reasons import REASONS
from ingress_manager.commands.render.rendering import render
from ingress_manager.core.errors import Reason
from ingress_manager.core.policy import Policy
from ingress_manager.core.text import one_line
from tests import examples
from tests.commands.commands import run
from tests.core import made_up
from tests.core.test_cases import ONE_OF_EACH
from tests.golden import Case

GOOD = as_yaml(service({"ingress/http": "true"}))
BAD = as_yaml(service({"ingress/http": "true", "ingress/path": "shop", "ingress/host": "Shop", "ingress/hots": "a"}))
HTTPROUTES = "defaults: {outputs: [ingress, httproute], gateway: {name: web, namespace: infrastructure}}\n"
EVENT = "On a cluster, what is refused changes nothing, and the reasons are an Event of the Service."
REMEDY = REASONS[Reason.INVALID_VALUE].remedy


# What is shown.


@pytest.mark.parametrize("case", ONE_OF_EACH, ids=lambda case: case.name)
def test_what_is_shown_is_what_render_prints(case: Case) -> None:
    typed = as_yaml(case.service)
    result = play(typed, case.settings)
    rendered = render(read(typed, "service").items, case.policy)
    assert "---\n".join(made.text for made in result.objects) == "".join(printed(rendered.objects, "yaml"))
    told = [f"service:{shown.line}: {shown.about}: {shown.sentence}" for shown in result.mistakes]
    assert told == [str(finding) for finding in rendered.messages]
    states = {(False, False): State.NOTHING, (True, False): State.FINE}
    assert result.state == states.get((bool(result.objects), bool(told)), State.REFUSED)


def test_all_there_is_to_say_stands_in_the_result() -> None:
    ingress = next(iter(render(read(GOOD).items, Policy()).objects))
    made = [Made("Ingress team-a/shop", as_yaml(ingress))]
    assert play(GOOD, "") == Result(State.FINE, "Fine: it becomes 1 Ingress.", objects=made)
    unknown = "ingress/hots is not an annotation of ingress-manager; did you mean ingress/host? [unknown-annotation]"
    mistakes = [
        Mistake("service", 11, "team-a/shop", unknown, REASONS[Reason.UNKNOWN_ANNOTATION].remedy),
        Mistake("service", 10, "team-a/shop", 'ingress/host: "Shop" must be lower case [invalid-value]', REMEDY),
        Mistake("service", 9, "team-a/shop", 'ingress/path: "shop" must start with / [invalid-value]'),
    ]
    assert play(BAD, "") == Result(State.REFUSED, "Refused: 3 mistakes.", mistakes, [EVENT])
    beside = play(f"{GOOD}---\n{GOOD}---\n{BAD}", "")
    assert beside.headline == "Refused: 3 mistakes. Beside that, it becomes 2 Ingresses."
    assert [mistake.line for mistake in beside.mistakes] == [35, 34, 33]


def test_what_is_paused_is_told() -> None:
    result = play(GOOD, "paused: true\nnamespaces: {team-b: {paused: false}}\n")
    assert result.state == State.FINE
    paused = "The settings pause every namespace but team-b: nothing changes there until paused is false."
    assert result.notes == [paused]


# The server.


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with Loopback(0, shell.page("defaults: {class: internal}\n"), shell.result) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def posted(server: Loopback, body: bytes | str, **headers: str) -> requests.Response:
    """Return the answer to a question as the page asks it, but for the headers that are stated."""
    data = body.encode() if isinstance(body, str) else body
    own = {"Origin": server.url[:-1], "Content-Type": "application/json"}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return requests.post(f"{server.url}result", data=data, headers={**own, **named}, timeout=60)


ANY_TEXT = st.text(st.characters(categories=None)) | made_up.services().map(as_yaml)


@given(ANY_TEXT, ANY_TEXT)
def test_any_text_in_either_field_has_an_answer(server: Loopback, typed: str, settings: str) -> None:
    for first, second in ((typed, settings), (typed, "")):
        answered = posted(server, json.dumps({"service": first, "settings": second}))
        assert answered.status_code == 200
        result = answered.json()
        assert result["headline"]
        for mistake in result["mistakes"]:
            text = {"service": first, "settings": second}[mistake["field"]]
            assert 0 <= mistake["line"] <= text.count("\n") + 1
            assert mistake["sentence"] == one_line(mistake["sentence"])


def test_the_page_is_its_files_and_what_it_starts_with(server: Loopback) -> None:
    types = {"": "text/html", "page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}
    for path, content_type in {**types, "start.json": "application/json"}.items():
        answered = requests.get(f"{server.url}{path}?a=b", timeout=60)
        assert (answered.status_code, answered.headers["Content-Type"].partition(";")[0]) == (200, content_type)
        assert HEADERS.items() <= answered.headers.items()
        assert answered.headers["Server"].strip() == "ingress-manager", "without a version"
    start = requests.get(f"{server.url}start.json", timeout=60).json()
    assert start == {"settings": "defaults: {class: internal}\n", "examples": json.loads(examples.text())}


def test_the_policy_allows_nothing_inline_and_nothing_from_elsewhere(server: Loopback) -> None:
    policy = requests.get(server.url, timeout=60).headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'self';")
    assert set(re.findall(r"'[^']*'|[a-z]+:", policy)) == {"'none'", "'self'", "'script'"}


@pytest.mark.parametrize(
    ("reason", "host", "status"),
    [
        ("the address", "127.0.0.1:PORT", 200),
        ("its name", "localhost:PORT", 200),
        ("a name of somebody else that leads here", "evil.example:PORT", 403),
        ("a name that begins as ours does", "localhost:PORT.evil.example", 403),
        ("another port", "127.0.0.1:1", 403),
    ],
)
def test_only_its_own_names_lead_to_it(server: Loopback, reason: str, host: str, status: int) -> None:
    host = host.replace("PORT", server.url.rpartition(":")[2].strip("/"))
    got = requests.get(server.url, headers={"Host": host}, timeout=60)
    asked = posted(server, '{"service": "", "settings": ""}', Host=host, Origin=f"http://{host}")
    assert (got.status_code, asked.status_code) == (status, status), reason
    if status == 403:
        assert got.text == f"this is {server.url}\n"


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        pytest.param({"Origin": "http://evil.example"}, b"{}", 403, id="another page"),
        pytest.param({"Origin": "null"}, b"{}", 403, id="a page in a frame without an origin"),
        pytest.param({"Content-Length": str(LARGEST_BODY + 1)}, b"", 413, id="too much"),
        pytest.param({"Content-Length": "-1"}, b"", 413, id="no length"),
        pytest.param({}, b"{", 400, id="no JSON"),
        pytest.param({}, b'{"service": 1, "settings": ""}', 400, id="a number"),
        pytest.param({}, b"[" * 200_000, 400, id="a deep list"),
    ],
)
def test_what_the_page_does_not_ask_is_refused(
    server: Loopback, headers: dict[str, str], body: bytes, status: int
) -> None:
    answered = posted(server, body, **headers)
    assert (answered.status_code, answered.headers["Content-Type"]) == (status, TEXT)
    assert HEADERS.items() <= answered.headers.items()


# The command.


def test_a_port_that_is_taken_and_settings_that_are_not_there_are_wrong_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ended = run("play", "--port", str(port))
    assert (ended.status, ended.out) == (2, "")
    assert f"Error: port {port} is taken; --port N takes another, --port 0 any that is free\n" in ended.err
    ended = run("play", "--settings", tmp_path / "nowhere.yaml")
    assert ended.status == 2
    assert "nowhere.yaml can't be read" in ended.err


def test_ctrl_c_ends_it_without_a_word() -> None:
    command = [str(Path(sys.executable).with_name("ingress-manager")), "play", "--port", "0"]
    # As a person's shell has it, whatever started the tests.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            url = process.stdout.readline().strip()
            assert requests.get(url, timeout=30).status_code == 200
            # A browser keeps connections open on which it asks nothing.
            with socket.create_connection(("127.0.0.1", int(url.strip("/").rpartition(":")[2])), timeout=60):
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=30)
        finally:
            process.kill()
            signal.signal(signal.SIGINT, before)
    assert (process.returncode, out, err) == (0, "", "Open it in a browser. Ctrl-C ends it.\n")


def test_the_examples_are_cases_as_they_are_now() -> None:
    assert examples.FILE.read_text(encoding="utf-8") == examples.text(), "`make cases` writes it"
    states = {play(example["service"], example["settings"]).state for example in json.loads(examples.text())}
    assert states == set(State)


def test_every_reason_says_what_it_means_and_what_to_do() -> None:
    assert [*REASONS] == [*Reason]
    assert all(text.endswith(".") for row in REASONS.values() for text in (row.meaning, row.remedy))
    assert all(reason.value == reason.name.lower().replace("_", "-") for reason in Reason)
