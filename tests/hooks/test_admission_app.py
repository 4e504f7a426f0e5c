"""The shell of the answer at `kubectl apply`: routes, statuses, log, metrics, and the certificate."""

import io
import ssl
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gevent
import pytest
from gunicorn import sock
from werkzeug.test import Client

from devcluster.sync_requests import service
from hooks import admission_conf, gunicorn_conf
from hooks.admission import ANSWERS
from hooks.admission_app import create_app
from hooks.certificate import Certificate
from hooks.settings_file import SettingsFile
from hooks.wsgi import LARGEST_BODY
from ingress_manager.core.policy import Policy
from tests.hooks.test_admission import DENYING, SENTENCES, WRONG, review
from tests.hooks.test_app import log_lines, samples

TOTAL = "ingress_manager_admissions_total"


def client_of(policy: Policy) -> Client:
    """Return a client of a webhook with these settings."""
    return Client(create_app(SettingsFile(policy, "0" * 64)))


def test_each_answer_is_json_and_is_counted_with_its_time() -> None:
    client = client_of(DENYING)
    before = samples(client)
    assert {word: before[TOTAL, word] for word in ANSWERS} == dict.fromkeys(ANSWERS, 0)
    for new, old in ((service({"ingress/http": "true"}), None), (WRONG, WRONG), (WRONG, None), (None, None)):
        answered = client.post("/admit?timeout=1s", data=review(new, old))
        assert (answered.status_code, answered.content_type) == (200, "application/json")
    after = samples(client)
    assert {word: after[TOTAL, word] for word in ANSWERS} == dict.fromkeys(ANSWERS, 1)
    assert after["ingress_manager_admission_seconds_count", ""] == 4
    assert after["ingress_manager_build_info", version("ingress-manager")] == 1
    assert after["ingress_manager_admission_settings_info", "0" * 64] == 1
    assert after.keys() == before.keys(), "no label grows"
    assert "ingress_manager_settings_info" not in {name for name, _ in after}, "it would look like a hook that answers"


def test_what_is_told_is_logged_with_its_service_and_not_with_who_was_told(capsys: pytest.CaptureFixture[str]) -> None:
    client = client_of(DENYING)
    for new, old in ((service({"ingress/http": "true"}), None), (WRONG, WRONG), (WRONG, None)):
        client.post("/admit", data=review(new, old))
    started, *told = log_lines(capsys)
    assert started == {
        "event": "started",
        "level": "info",
        "version": version("ingress-manager"),
        "deny": True,
        "settings_sha256": "0" * 64,
    }
    line = {"namespace": "team-a", "service": "shop", "reasons": ["invalid-value"], "sentences": SENTENCES}
    assert told == [{"event": "warned", "level": "info"} | line, {"event": "denied", "level": "warning"} | line]


def test_the_probes_are_answered_and_every_other_path_and_method_is_not_found(
    capsys: pytest.CaptureFixture[str],
) -> None:
    client = client_of(Policy())
    for path in ("/healthz", "/readyz"):
        assert (client.get(path).status_code, client.get(path).text) == (200, "ok\n")
        assert (client.head(path).status_code, client.head(path).data) == (200, b"")
    for method, path in (("POST", "/sync"), ("GET", "/admit"), ("POST", "/admit/"), ("GET", "/\x1b" + "x" * 1000)):
        answered = client.open(path, method=method)
        assert (answered.status_code, answered.text) == (
            404,
            "404 Not Found: there are POST /admit, GET /metrics, /healthz and /readyz\n",
        )
    _, *logged = log_lines(capsys)
    assert [(line["event"], line["status"]) for line in logged] == [("not a request", 404)] * 4
    assert logged[-1]["path"] == "/\\x1b" + "x" * 198


def test_a_body_that_is_too_large_or_breaks_off_or_is_no_review_is_refused_in_text() -> None:
    client = client_of(Policy())
    broken_off = {"wsgi.input": io.BytesIO(b"{"), "CONTENT_LENGTH": "10"}
    assert client.post("/admit", environ_overrides=broken_off).text == "400 Bad Request: the body can't be read\n"
    too_large = {"CONTENT_LENGTH": str(LARGEST_BODY + 1)}
    assert client.post("/admit", environ_overrides=too_large).status_code == 413
    for sent in ({"data": b"{}"}, {"environ_overrides": {"CONTENT_LENGTH": ""}}):
        answered = client.post("/admit", **sent)
        assert (answered.status_code, answered.content_type) == (400, "text/plain; charset=utf-8")
        assert answered.text.startswith("not an AdmissionReview (admission.k8s.io/v1): ")
    assert samples(client)[TOTAL, "unread"] == 2


@pytest.mark.parametrize("broken", ["hooks.admission_app.answer_to", "hooks.admission_app.Admission.tell"])
def test_a_bug_is_answered_500_without_details_so_that_the_api_server_writes(
    broken: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    client = client_of(Policy())
    monkeypatch.setattr(broken, lambda *_: 1 / 0)
    answered = client.post("/admit", data=review(WRONG))
    assert (answered.status_code, answered.text) == (500, "ingress-manager has a bug: its log says more\n")
    line = log_lines(capsys)[-1]
    assert (line["event"], line["level"], line["status"]) == ("bug", "error", 500)
    assert "ZeroDivisionError" in line["exception"]
    assert samples(client)[TOTAL, "unread"] == 1
    monkeypatch.setattr("hooks.admission_app.AdmissionMetrics.text", lambda *_: 1 / 0)
    assert client.get("/metrics").status_code == 500
    monkeypatch.undo()
    assert samples(client)[TOTAL, "unread"] == 1, "it was no answer to the API server"


def test_it_does_not_start_without_a_certificate_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gunicorn_conf, "on_starting", lambda _server: None)
    loaded: list[object] = []
    monkeypatch.setattr(sock, "ssl_context", loaded.append)
    server = SimpleNamespace(cfg=SimpleNamespace(certfile=f"{tmp_path}/tls.crt", keyfile=f"{tmp_path}/tls.key"))
    admission_conf.on_starting(server)
    assert loaded == [server.cfg]

    def missing(config: Any) -> Any:
        return admission_conf.ssl_context(config, object)

    monkeypatch.setattr(sock, "ssl_context", missing)
    with pytest.raises(SystemExit, match="2"):
        admission_conf.on_starting(server)
    [line] = log_lines(capsys)
    assert (line["event"], line["level"]) == ("certificate", "error")
    assert line["sentence"].startswith(f"{tmp_path}/tls.crt, {tmp_path}/tls.key: ")


class Socket:
    """A connection, and whether it is open."""

    open = True

    def close(self) -> None:
        self.open = False


class Context:
    """A context that says which one it is, and may find that a client is gone."""

    def __init__(self, files: str) -> None:
        self.files = files

    def wrap_socket(self, connection: Socket, **options: Any) -> tuple[str, Socket, dict[str, Any]]:
        if self.files == "gone":
            raise ConnectionResetError
        return self.files, connection, options


def test_a_certificate_is_loaded_once_for_each_change_and_the_last_one_stays_while_it_can_not_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, tried = tmp_path / "tls", []

    def make() -> Context:
        tried.append(file.read_text())
        if tried[-1] == "wrong":
            raise ssl.SSLError(1, "the key is another one's")
        return Context(tried[-1])

    file.write_text("first")
    served = Certificate([str(file)], make)
    seen = []
    for text in ("first", "wrong", "wrong", "second", None):
        file.write_text(text) if text else file.unlink()
        seen.append(served.wrap_socket(Socket(), server_side=True)[0])
    assert seen == ["first", "first", "first", "second", "second"]
    assert tried == ["first", "wrong", "second"]
    assert [(line["level"], line["sentence"].partition(":")[0]) for line in log_lines(capsys)] == [
        ("warning", "the last one stays"),
        ("info", "another certificate is served from now on"),
        ("warning", "the last one stays"),
    ]


def test_a_connection_whose_client_is_gone_is_closed_and_ends_its_greenlet_in_silence(tmp_path: Path) -> None:
    (tmp_path / "tls").write_text("gone")
    served, connection = Certificate([str(tmp_path / "tls")], lambda: Context("gone")), Socket()
    with pytest.raises(gevent.GreenletExit):
        served.wrap_socket(connection)
    assert not connection.open
