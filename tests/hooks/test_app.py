"""The web application: routes, statuses and headers, as seen by Metacontroller's HTTP client."""

import io
import json
import socket
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families
from werkzeug.test import Client, TestResponse

from devcluster.sync_requests import as_created, body, service, sync_request
from hooks import app, sync
from hooks.admission import OUTCOMES
from hooks.app import LARGEST_BODY, create_app, create_webhook
from hooks.metrics import make_registry
from hooks.reporting import LATER_SECONDS
from hooks.settings_file import SettingsFile
from ingress_manager import __version__
from ingress_manager.core.decide import RECHECK_SECONDS, RESYNC_SECONDS
from ingress_manager.core.settings import Limits, NamespaceSettings, Settings
from tests.hooks.test_admission import DENYING, SENTENCES, review
from tests.hooks.test_admission import WRONG as REFUSED

ASKING = service({"ingress/http": "true"})
OPTED_IN = body(sync_request(ASKING))
INGRESS = as_created(json.loads(sync.answer(OPTED_IN, Settings()).body)["attachments"][0], ASKING)
OOPS = {"ingress/oops": "a mistake"}
ONE_HOST = Settings(limits=Limits(hosts=("shop.example.org",)))


Capture = pytest.CaptureFixture[str]


def client_of(settings: Settings) -> FlaskClient:
    return create_app(SettingsFile(settings, "0" * 64)).test_client()


@pytest.fixture
def client() -> FlaskClient:
    return client_of(Settings())


def log_lines(capsys: Capture) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert all(line.pop("timestamp") for line in lines)
    return lines


def samples(client: Client) -> dict[tuple[str, str], float]:
    """Return the samples of GET /metrics, by name and label value, "" without a label."""
    response = client.get("/metrics")
    assert response.status_code == 200
    return {
        (sample.name, next(iter(sample.labels.values()), "")): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


def shown(response: TestResponse) -> tuple[int, str, str]:
    return response.status_code, response.content_type, response.text


def test_sync_answers_json_whatever_the_content_type(client: FlaskClient) -> None:
    for content_type in ("application/json", "multipart/form-data"):
        response = client.post("/sync", data=OPTED_IN, content_type=content_type)
        assert (response.status_code, response.content_type) == (200, "application/json")
        assert [made["metadata"]["name"] for made in (response.json or {})["attachments"]] == ["shop"]


def test_the_log_begins_with_version_and_settings_and_omits_200_answers(capsys: Capture) -> None:
    client_of(Settings()).post("/sync", data=OPTED_IN)
    told = {"version": __version__, "settings_sha256": "0" * 64}
    assert log_lines(capsys) == [told | {"event": "started", "level": "info"}]


WRONG = service({"ingress/http": "true", "ingress/host": "A", "ingress/port": "x"})
SHOP, UNIDENTIFIED = {"namespace": "team-a", "service": "shop"}, {"namespace": None, "service": None}


@pytest.mark.parametrize(
    ("settings", "sent", "status", "logged"),
    [
        (Settings(), body(sync_request(WRONG)), 422, SHOP | {"reasons": ["invalid-value", "unknown-port"]}),
        (Settings(), body({"object": WRONG}), 400, SHOP | {"reasons": ["invalid-request"]}),
        (Settings(), b"{}", 400, UNIDENTIFIED | {"reasons": ["invalid-request"]}),
        (Settings(paused=True), OPTED_IN, 429, SHOP | {"reasons": ["paused"], "level": "info"}),
    ],
    ids=["a Service that is refused", "a Service that can't be read", "a body that is no request", "a pause"],
)
def test_refusals_are_logged(settings: Settings, sent: bytes, status: int, logged: Any, capsys: Capture) -> None:
    answered = client_of(settings).post("/sync", data=sent)
    told = {"event": "refused", "level": "warning", "status": status, "sentence": answered.text.removesuffix("\n")}
    assert log_lines(capsys)[-1] == told | logged


def test_a_removal_is_logged_and_counted_with_its_service_and_reason(capsys: Capture) -> None:
    parent = service({"ingress/http": "true"} | OOPS)
    client = client_of(ONE_HOST)
    response = client.post("/sync", data=body(sync_request(parent, attached=[INGRESS])))
    assert (response.status_code, response.json) == (200, {"attachments": []})
    sentence = 'the Ingress\'s host "example.com" is not allowed; allowed in namespace team-a: shop.example.org '
    told = {"status": 200, "event": "removed", "level": "warning", "reasons": ["host-not-allowed"]}
    assert log_lines(capsys)[-1] == SHOP | told | {"sentence": f"{sentence}[host-not-allowed]"}
    assert 'ingress_manager_removals_total{reason="host-not-allowed"} 1.0' in client.get("/metrics").text


BUG = (500, "text/plain; charset=utf-8", f"500 Internal Server Error: {app.BUG}\n")
BROKEN = ["sync.answer", "Buckets.throttle", "Metrics.count", "log_answer", "generate_latest"]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_bug_is_answered_500_and_logged(broken: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    client = client_of(Settings())
    monkeypatch.setattr(f"hooks.app.{broken}", MagicMock(side_effect=ZeroDivisionError("the secret of the bug")))
    is_sync = broken != "generate_latest"
    asked = client.post("/sync", data=changed_at(0, **OOPS)) if is_sync else client.get("/metrics")
    assert shown(asked) == BUG
    line = log_lines(capsys)[-1]
    assert (line["event"], line["level"], line["status"]) == ("bug", "error", 500)
    assert "ZeroDivisionError: the secret of the bug" in str(line["exception"])
    monkeypatch.undo()
    counted = {code: n for (name, code), n in samples(client).items() if n and name == "ingress_manager_answers_total"}
    assert counted == ({"500": 1} if is_sync else {})


def test_a_request_is_answered_even_if_logging_fails(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard error may be closed, or the disk behind it full."""
    for broken in ("structlog.PrintLogger.error", "hooks.app.Metrics.count", "hooks.app.Metrics.count_error"):
        monkeypatch.setattr(broken, MagicMock(side_effect=OSError("No space left on device")))
    assert shown(client.post("/sync", data=OPTED_IN)) == BUG


def test_a_request_that_is_not_for_the_hook_is_logged_on_one_line_without_control_characters(capsys: Capture) -> None:
    client_of(Settings()).get("/%C2%9B31m%1B%0A" + "x" * 1000)
    line = capsys.readouterr().err.splitlines()[-1]
    assert (line.isascii(), line.isprintable()) == (True, True)
    logged = json.loads(line)
    assert (logged["path"], logged["status"]) == ("/\\x9b31m\\x1b\\n" + "x" * 193, 404)


def test_names_that_no_api_server_takes_do_not_fill_the_log(capsys: Capture) -> None:
    """Anyone who reaches the port can send such names."""
    parent = ASKING | {"metadata": ASKING["metadata"] | {"name": "n" * 100_000, "namespace": "s" * 100_000}}
    client = client_of(ONE_HOST)
    for attached in ([], [INGRESS]):
        client.post("/sync", data=body(sync_request(parent, attached=attached)))
    _, *lines = capsys.readouterr().err.splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["refused", "removed"]
    assert max(map(len, lines)) < 2000


def changed_at(seconds: float, **annotations: str) -> bytes:
    """Return a request for a Service that was changed at this Unix time, and created a day before."""
    parent = service({"ingress/http": "true"} | annotations)
    parent["metadata"] |= {
        "resourceVersion": "1",
        "creationTimestamp": f"{datetime.fromtimestamp(seconds - 86400, UTC):%FT%TZ}",
        "managedFields": [{"manager": "x", "time": f"{datetime.fromtimestamp(seconds, UTC):%FT%TZ}"}, {"manager": "y"}],
    }
    return body(sync_request(parent))


def test_a_refusal_that_is_held_back_says_when_to_ask_again(client: FlaskClient, capsys: Capture) -> None:
    reported, held = (client.post("/sync", data=changed_at(0, **OOPS)) for _ in range(2))
    assert shown(held) == (429, *shown(reported)[1:])
    assert (reported.status_code, int(held.headers["Retry-After"]) in RESYNC_SECONDS) == (422, True)
    assert [line["level"] for line in log_lines(capsys) if line["event"] == "refused"] == ["warning", "info"]


def test_missing_objects_are_reported_and_requested_again(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def answered(since: float) -> TestResponse:
        monkeypatch.setattr("time.time", lambda: 1_800_000_000.0 + since)
        return client.post("/sync", data=changed_at(1_800_000_000))

    first, soon, reported = map(answered, (1, 2, 6))
    assert (first.status_code, soon.status_code, reported.status_code) == (200, 200, 422), "it may be made just now"
    assert json.loads(first.data)["resyncAfterSeconds"] in RECHECK_SECONDS
    assert reported.text == (
        "Ingress team-a/shop doesn't exist yet: its name is taken, or a quota or admission "
        "webhook denies the creation. `ingress-manager status team-a/shop` shows the cause [not-made]\n"
    )


def test_repeated_invalid_requests_are_held_back(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Metacontroller retries all failed attempts from one queue."""
    monkeypatch.setattr("time.time", lambda: 1_800_000_000.0)
    found = [client.post("/sync", data=b"{}") for _ in range(100)]
    assert [response.status_code for response in found] == [400] * 30 + [429] * 70
    assert int(found[-1].headers["Retry-After"]) in LATER_SECONDS
    assert samples(client)["ingress_manager_answers_total", "429"] == 70
    assert client.post("/sync", data=OPTED_IN).status_code == 200


def test_paused_is_answered_429_with_retry_after_and_shown_in_the_metrics(client: FlaskClient) -> None:
    paused = client_of(Settings(paused=True))
    response = paused.post("/sync", data=OPTED_IN)
    text = "the settings pause ingress-manager in this namespace [paused]\n"
    assert shown(response) == (429, "text/plain; charset=utf-8", text)
    assert 60 <= int(response.headers["Retry-After"]) <= 90
    in_one = client_of(Settings(namespaces={"team-b": NamespaceSettings(paused=True)}))
    assert [samples(each)["ingress_manager_paused", ""] for each in (paused, in_one, client)] == [True, True, False]


def test_probes_are_answered_but_no_other_paths_or_methods(client: FlaskClient) -> None:
    for path in ("/healthz", "/readyz"):
        assert shown(client.get(path)) == (200, "text/plain; charset=utf-8", "ok\n")
    for path in ("/", "/sync/", "//sync", "/customize", "/static/x", "/../sync"):
        response = client.post("/", data=OPTED_IN, environ_overrides={"PATH_INFO": path})
        assert (response.status_code, response.text[:15], response.text.count("\n")) == (404, "404 Not Found: ", 1)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        client.get("/healthz", environ_overrides={"gunicorn.socket": ours})
        assert ours.recv(1) == b"", "no body of it is read"
    for method in ("GET", "PUT", "HEAD"):
        response = client.open("/sync", method=method)
        assert (response.status_code, {*response.allow}) == (405, {"OPTIONS", "POST"})


def chunked(sent: Any) -> dict[str, Any]:
    return {"wsgi.input": sent, "wsgi.input_terminated": True}


def test_a_body_may_have_at_most_16_mib_with_a_length_or_in_chunks(client: FlaskClient) -> None:
    for size, status in ((LARGEST_BODY - 1, 400), (LARGEST_BODY + 1, 413), (LARGEST_BODY + 2, 413)):
        assert client.post("/sync", data=b" " * size).status_code == status
        in_chunks = chunked(io.BytesIO(b" " * size))
        assert client.open("/sync", method="POST", environ_overrides=in_chunks).status_code == status


BROKEN_OFF = SimpleNamespace(read=MagicMock(side_effect=OSError("chunk without an end")))


@pytest.mark.parametrize(
    "sent",
    [
        {"wsgi.input": BROKEN_OFF, "CONTENT_LENGTH": "10"},
        chunked(BROKEN_OFF),
        # gunicorn returns the data received so far once the client has gone.
        {"wsgi.input": io.BytesIO(OPTED_IN[:-1]), "CONTENT_LENGTH": str(len(OPTED_IN))},
    ],
    ids=["with a length", "in chunks", "too early"],
)
def test_a_body_that_breaks_off_is_answered_400(client: FlaskClient, sent: dict[str, Any]) -> None:
    response = client.open("/sync", method="POST", environ_overrides=sent)
    assert shown(response)[:2] == (400, "text/plain; charset=utf-8")
    assert response.text.startswith("400 Bad Request: ")
    assert samples(client)["ingress_manager_answers_total", "400"] == 1


def test_the_metrics_count_answers_and_refusals(client: FlaskClient) -> None:
    before = samples(client)
    assert before["ingress_manager_refusals_total", "unknown-port"] == 0, "the counter exists from the start"
    for sent in (OPTED_IN, OPTED_IN, body(sync_request(WRONG)), b"{}", b" " * (LARGEST_BODY + 1)):
        client.post("/sync", data=sent)
    client.get("/sync")
    client.get("/nowhere")
    after = samples(client)
    changed = {key: value - before.get(key, 0) for key, value in after.items() if key[0].startswith("ingress_manager_")}
    counted = {key: value for key, value in changed.items() if value and "answer_seconds" not in key[0]}
    answers, refusals = {"200": 2, "422": 1, "400": 1, "413": 1, "405": 1}, ("value", "request")
    assert counted == {
        **{("ingress_manager_answers_total", status): count for status, count in answers.items()},
        **{("ingress_manager_refusals_total", f"invalid-{what}"): 1 for what in refusals},
        ("ingress_manager_refusals_total", "unknown-port"): 1,
    }
    assert after["ingress_manager_answer_seconds_count", ""] == 4
    assert after["ingress_manager_build_info", ""] == 1
    assert after["ingress_manager_settings_info", "0" * 64] == 1
    assert after.keys() - before.keys() == {("ingress_manager_answers_total", "405")}, "no label grows"


def test_the_metrics_name_the_commit_of_the_image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGRESS_MANAGER_REVISION", "a4b73301")
    labels = {"version": __version__, "revision": "a4b73301"}
    assert make_registry().get_sample_value("ingress_manager_build_info", labels) == 1


# The webhook.

TOTAL = "ingress_manager_admissions_total"


def webhook_of(settings: Settings) -> FlaskClient:
    return create_webhook(SettingsFile(settings, "0" * 64)).test_client()


def test_each_answer_is_json_counted_and_logged(capsys: Capture) -> None:
    client = webhook_of(DENYING)
    before = samples(client)
    assert {word: before[TOTAL, word] for word in OUTCOMES} == dict.fromkeys(OUTCOMES, 0)
    for new, old in ((service({"ingress/http": "true"}), None), (REFUSED, REFUSED), (REFUSED, None)):
        answered = client.post("/admit?timeout=1s", data=review(new, old))
        assert (answered.status_code, answered.content_type) == (200, "application/json")
    assert client.post("/admit?timeout=1s", data=review(REFUSED | {"spec": 1})).status_code == 400
    after = samples(client)
    assert {word: after[TOTAL, word] for word in OUTCOMES} == dict.fromkeys(OUTCOMES, 1)
    assert after["ingress_manager_admission_seconds_count", ""] == 4
    assert after["ingress_manager_build_info", ""] == 1
    assert after["ingress_manager_admission_settings_info", "0" * 64] == 1
    assert after.keys() == before.keys(), "no label grows"
    assert "ingress_manager_settings_info" not in {name for name, _ in after}, "it would look like a hook that answers"
    started, *logged = log_lines(capsys)
    assert (started["event"], started["version"]) == ("started", __version__)
    line = SHOP | {"status": 200, "reasons": ["invalid-value"], "sentence": " · ".join(SENTENCES)}
    assert logged[:-1] == [{"event": "warned", "level": "info"} | line, {"event": "denied", "level": "warning"} | line]
    assert (logged[-1]["event"], logged[-1]["service"], logged[-1]["status"]) == ("unread", "shop", 400)


def test_a_body_that_is_no_review_is_refused_in_text_and_invalid_ones_are_counted() -> None:
    client = webhook_of(Settings())
    answered = client.post("/admit", data=b"{}")
    assert (answered.status_code, answered.content_type) == (400, "text/plain; charset=utf-8")
    assert answered.text.startswith("not an AdmissionReview (admission.k8s.io/v1): ")
    assert client.post("/sync").status_code == 404
    assert [client.open("/admit", method=method).status_code for method in ("GET", "PUT")] == [405, 405]
    assert samples(client)[TOTAL, "unread"] == 3
