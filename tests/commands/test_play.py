"""`ingress-manager play`: what is shown beside what somebody types, and the app that the page is from."""

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import requests
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from devcluster.sync_requests import service
from ingress_manager.commands.play import HEADERS, LARGEST_BODY, app_of, result_of
from ingress_manager.commands.printing import as_yaml
from ingress_manager.commands.reading.manifests import read
from ingress_manager.commands.reasons import REASONS
from ingress_manager.commands.render import rendered
from ingress_manager.core.errors import Reason
from ingress_manager.core.policy import Policy
from ingress_manager.core.text import one_line
from tests import make_cases
from tests.commands.commands import run
from tests.core import made_up

GOOD = as_yaml(service({"ingress/http": "true"}))
BAD = as_yaml(service({"ingress/http": "true", "ingress/path": "shop", "ingress/host": "Shop", "ingress/hots": "a"}))


# What is shown.


def test_all_there_is_to_say_stands_in_the_result() -> None:
    ingress = next(iter(rendered(read(GOOD).items, Policy()).objects))
    made = {"name": "Ingress team-a/shop", "text": as_yaml(ingress)}
    fine = {"state": "fine", "headline": "Fine: it becomes 1 Ingress.", "mistakes": [], "objects": [made]}
    assert result_of(GOOD, "") == fine
    of_host, of_path = 'ingress/host: "Shop" must be lower case', 'ingress/path: "shop" must start with /'
    unknown = "ingress/hots is not an annotation of ingress-manager; did you mean ingress/host?"
    mistakes = [
        (11, f"{unknown} [unknown-annotation]", REASONS[Reason.UNKNOWN_ANNOTATION]),
        (10, f"{of_host} [invalid-value]", REASONS[Reason.INVALID_VALUE]),
        (9, f"{of_path} [invalid-value]", ""),
    ]
    told = [
        {"field": "service", "line": line, "about": "team-a/shop", "sentence": sentence, "remedy": remedy}
        for line, sentence, remedy in mistakes
    ]
    refused = {"state": "refused", "headline": "Refused: 3 mistakes.", "mistakes": told, "objects": []}
    assert result_of(BAD, "") == refused
    beside = result_of(f"{GOOD}---\n{GOOD}---\n{BAD}", "")
    assert beside["headline"] == "Refused: 3 mistakes. Beside that, it becomes 2 Ingresses."
    assert [mistake["line"] for mistake in beside["mistakes"]] == [35, 34, 33]


def test_what_is_paused_is_told() -> None:
    result = result_of(GOOD, "paused: true\nnamespaces: {team-b: {paused: false}}\n")
    paused = "The settings pause every namespace but team-b: nothing changes there until paused is false."
    assert (result["state"], result["headline"]) == ("fine", f"Fine: it becomes 1 Ingress. {paused}")


ANY_TEXT = st.text() | made_up.services().map(as_yaml)


@given(ANY_TEXT, ANY_TEXT)
def test_any_text_in_either_field_has_an_answer(typed: str, settings: str) -> None:
    for texts in ({"service": typed, "settings": settings}, {"service": typed, "settings": ""}):
        result = result_of(**texts)
        assert result["headline"]
        for mistake in result["mistakes"]:
            assert 0 <= mistake["line"] <= texts[mistake["field"]].count("\n") + 1
            assert mistake["sentence"] == one_line(mistake["sentence"])


# The app.

QUESTION = {"service": GOOD, "settings": ""}


@pytest.fixture(scope="module")
def page() -> FlaskClient:
    return app_of("defaults: {class: internal}\n").test_client()


def test_the_page_is_its_files_and_what_it_starts_with(page: FlaskClient) -> None:
    types = {"": "text/html", "page.css": "text/css", "page.js": "javascript", "icon.svg": "image/svg+xml"}
    for path, content_type in {**types, "start.json": "application/json"}.items():
        with page.get(f"/{path}?a=b") as answered:
            assert answered.status_code == 200
            assert content_type in answered.headers["Content-Type"]
            assert HEADERS.items() <= dict(answered.headers).items()
    start = page.get("/start.json").json
    assert start == {"settings": "defaults: {class: internal}\n", "examples": json.loads(make_cases.examples())}


def test_only_its_own_names_lead_to_it(page: FlaskClient) -> None:
    leads = {"127.0.0.1:8090": 200, "localhost:8090": 200, "evil.example:8090": 400, "localhost:80.evil.example": 400}
    for host, status in leads.items():
        headers = {"Host": host, "Origin": f"http://{host}"}
        with page.get("/", headers=headers) as got:
            assert got.status_code == status, host
        assert page.post("/result", data=QUESTION, headers=headers).status_code == status, host


@pytest.mark.parametrize(
    ("origin", "body", "status"),
    [
        pytest.param("http://localhost", QUESTION, 200, id="the page"),
        pytest.param("http://evil.example", QUESTION, 403, id="another page"),
        pytest.param("http://localhost:1", QUESTION, 403, id="another page of this machine"),
        pytest.param("null", QUESTION, 403, id="a page in a frame without an origin"),
        pytest.param("http://localhost", {"service": GOOD}, 400, id="no settings"),
        pytest.param("http://localhost", {**QUESTION, "settings": "x" * LARGEST_BODY}, 413, id="too much"),
    ],
)
def test_only_what_the_page_asks_is_answered(page: FlaskClient, origin: str, body: dict[str, str], status: int) -> None:
    answered = page.post("/result", data=body, headers={"Origin": origin})
    assert answered.status_code == status
    assert HEADERS.items() <= dict(answered.headers).items()


# The command.


def test_a_port_that_is_taken_and_settings_that_are_not_there_are_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ended = run("play", "--port", str(port))
    assert (ended.status, ended.out, f"the port {port} can't be used" in ended.err) == (2, "", True)
    ended = run("play", "--settings", tmp_path / "nowhere.yaml")
    assert ended.status == 2
    assert "nowhere.yaml can't be read" in ended.err


def test_without_flask_it_says_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "werkzeug.serving", None)
    ended = run("play")
    assert (ended.status, "it needs Flask: run `pip install '.[hook]'`" in ended.err) == (2, True)


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
    assert make_cases.EXAMPLES_FILE.read_text(encoding="utf-8") == make_cases.examples(), "`make cases` writes it"
    states = {
        result_of(example["service"], example["settings"])["state"] for example in json.loads(make_cases.examples())
    }
    assert states == {"fine", "nothing", "refused", "settings"}


def test_every_reason_says_what_it_means_and_what_to_do() -> None:
    assert [*REASONS] == [*Reason]
    assert all(text.endswith(".") for text in REASONS.values())
    assert all(reason.value == reason.name.lower().replace("_", "-") for reason in Reason)
