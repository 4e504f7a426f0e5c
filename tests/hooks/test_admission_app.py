"""The shell of the answer at `kubectl apply`: routes, statuses, log, metrics, and the certificate."""

import signal
import ssl
from importlib.metadata import version
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from werkzeug.test import Client

from devcluster.sync_requests import service
from hooks import admission_conf
from hooks.admission import ANSWERS
from hooks.app import create_webhook
from hooks.settings_file import SettingsFile
from ingress_manager.core.settings import Settings
from tests.hooks.test_admission import DENYING, SENTENCES, WRONG, review
from tests.hooks.test_app import SHOP, log_lines, samples

TOTAL = "ingress_manager_admissions_total"


def client_of(settings: Settings) -> Client:
    return Client(create_webhook(SettingsFile(settings, "0" * 64)))


def test_each_answer_is_json_counted_and_logged(capsys: pytest.CaptureFixture[str]) -> None:
    client = client_of(DENYING)
    before = samples(client)
    assert {word: before[TOTAL, word] for word in ANSWERS} == dict.fromkeys(ANSWERS, 0)
    for new, old in ((service({"ingress/http": "true"}), None), (WRONG, WRONG), (WRONG, None)):
        answered = client.post("/admit?timeout=1s", data=review(new, old))
        assert (answered.status_code, answered.content_type) == (200, "application/json")
    assert client.post("/admit?timeout=1s", data=review(WRONG | {"spec": 1})).status_code == 400
    after = samples(client)
    assert {word: after[TOTAL, word] for word in ANSWERS} == dict.fromkeys(ANSWERS, 1)
    assert after["ingress_manager_admission_seconds_count", ""] == 4
    assert after["ingress_manager_build_info", version("ingress-manager")] == 1
    assert after["ingress_manager_admission_settings_info", "0" * 64] == 1
    assert after.keys() == before.keys(), "no label grows"
    assert "ingress_manager_settings_info" not in {name for name, _ in after}, "it would look like a hook that answers"
    started, *logged = log_lines(capsys)
    assert (started["event"], started["version"]) == ("started", version("ingress-manager"))
    line = SHOP | {"status": 200, "reasons": ["invalid-value"], "sentence": " · ".join(SENTENCES)}
    assert logged[:-1] == [{"event": "warned", "level": "info"} | line, {"event": "denied", "level": "warning"} | line]
    assert (logged[-1]["event"], logged[-1]["service"], logged[-1]["status"]) == ("unread", "shop", 400)


def test_a_body_that_is_no_review_is_refused_in_text_and_what_is_no_request_is_counted_too() -> None:
    client = client_of(Settings())
    answered = client.post("/admit", data=b"{}")
    assert (answered.status_code, answered.content_type) == (400, "text/plain; charset=utf-8")
    assert answered.text.startswith("not an AdmissionReview (admission.k8s.io/v1): ")
    assert client.post("/sync").status_code == 404
    assert [client.open("/admit", method=method).status_code for method in ("GET", "PUT")] == [405, 405]
    assert samples(client)[TOTAL, "unread"] == 3


def test_each_handshake_gets_the_certificate_that_there_is_then() -> None:
    contexts = [ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) for _ in range(3)]
    serving, connection = admission_conf.ssl_context(None, iter(contexts).__next__), MagicMock()
    assert serving.sni_callback
    for context in contexts[1:]:
        serving.sni_callback(connection, "hook", serving)
        assert connection.context is context


def test_a_step_of_a_handshake_has_little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    limit, ignore = MagicMock(), MagicMock()
    monkeypatch.setattr("socket.setdefaulttimeout", limit)
    monkeypatch.setattr("signal.signal", ignore)
    monkeypatch.setattr("gevent.get_hub", lambda: SimpleNamespace(NOT_ERROR=()))
    admission_conf.post_worker_init(MagicMock())
    limit.assert_called_once_with(admission_conf.HANDSHAKE_SECONDS)
    ignore.assert_called_once_with(signal.SIGINT, signal.SIG_IGN)
