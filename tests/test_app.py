"""The shell: routes, statuses and headers, as Metacontroller's HTTP client meets them."""

import io
import json
import socket
from types import SimpleNamespace

import msgspec
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from hooks import gunicorn_conf
from hooks.app import LARGEST_BODY, create_app
from hooks.policy import Policy
from hooks.settings import FILE_VARIABLE, SettingsError
from tests.metacontroller import body, service, sync_request

OPTED_IN = body(sync_request(service({"ingress/http": "true"})))


@pytest.fixture
def client() -> FlaskClient:
    return create_app(Policy()).test_client()


def log_lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def shown(response: TestResponse) -> tuple[int, str, str]:
    return response.status_code, response.content_type, response.text


def test_sync_answers_with_the_desired_attachments_as_json(client: FlaskClient) -> None:
    response = client.post("/sync", data=OPTED_IN, content_type="application/json")
    assert (response.status_code, response.content_type) == (200, "application/json")
    assert response.json is not None
    assert [ingress["metadata"]["name"] for ingress in response.json["attachments"]] == ["shop"]


def test_a_refusal_is_one_line_of_plain_text(client: FlaskClient) -> None:
    response = client.post("/sync", data=body(sync_request(service({"ingress/http": "yes"}))))
    text = 'ingress/http: "yes" must be "true" or "false"\n'
    assert shown(response) == (422, "text/plain; charset=utf-8", text)


def test_a_refusal_is_logged_as_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    create_app(Policy()).test_client().post("/sync", data=b"{}")
    started, refused = log_lines(capsys)
    assert (started["event"], started["settings"]) == (
        "started",
        json.loads(msgspec.json.encode(Policy())),
    )
    assert {key: refused[key] for key in ("event", "path", "status")} == {
        "event": "refused",
        "path": "/sync",
        "status": 400,
    }
    assert "timestamp" in refused


def test_an_answer_of_200_is_not_logged(capsys: pytest.CaptureFixture[str]) -> None:
    create_app(Policy()).test_client().post("/sync", data=OPTED_IN)
    assert [line["event"] for line in log_lines(capsys)] == ["started"]


def test_paused_is_answered_429_with_when_to_come_back() -> None:
    response = create_app(Policy(paused=True)).test_client().post("/sync", data=OPTED_IN)
    assert shown(response) == (429, "text/plain; charset=utf-8", "ingress-manager is paused by its settings\n")
    assert response.headers["Retry-After"] == "60"


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_are_answered_200(client: FlaskClient, path: str) -> None:
    assert shown(client.get(path)) == (200, "text/plain; charset=utf-8", "ok\n")


@pytest.mark.parametrize("path", ["/", "/sync/", "//sync", "/Sync", "/customize", "/finalize", "/static/app.py", "/../sync"])
def test_any_other_path_is_answered_404(client: FlaskClient, path: str) -> None:
    response = client.post(path, data=OPTED_IN)
    assert response.status_code == 404
    assert response.text.startswith("404 Not Found: ")
    assert response.text.count("\n") == 1


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "HEAD"])
def test_any_other_method_is_answered_405_with_what_is_allowed(client: FlaskClient, method: str) -> None:
    response = client.open("/sync", method=method)
    assert response.status_code == 405
    assert response.headers["Allow"] == "OPTIONS, POST"


def test_a_body_larger_than_8_mib_is_answered_413(client: FlaskClient) -> None:
    for size, status in ((LARGEST_BODY, 400), (LARGEST_BODY + 1, 413), (LARGEST_BODY + 2, 413)):
        assert client.post("/sync", data=b" " * size).status_code == status


def test_a_body_in_chunks_may_have_8_mib_and_no_more(client: FlaskClient) -> None:
    for size, status in ((LARGEST_BODY, 400), (LARGEST_BODY + 1, 413), (LARGEST_BODY + 2, 413)):
        chunked = {"wsgi.input": io.BytesIO(b" " * size), "wsgi.input_terminated": True}
        assert client.open("/sync", method="POST", environ_overrides=chunked).status_code == status


def test_a_body_that_breaks_off_is_answered_400(client: FlaskClient) -> None:
    class BrokenOff:
        def read(self, _size: int = -1) -> bytes:
            raise RuntimeError("chunk without an end")

    response = client.open(
        "/sync",
        method="POST",
        environ_overrides={"wsgi.input": BrokenOff(), "CONTENT_LENGTH": "10", "wsgi.input_terminated": True},
    )
    assert shown(response) == (400, "text/plain; charset=utf-8", "400 Bad Request: the body can't be read\n")


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_the_content_type_does_not_matter(client: FlaskClient, content_type: str) -> None:
    assert client.post("/sync", data=OPTED_IN, content_type=content_type).status_code == 200


def test_the_hook_does_not_start_with_wrong_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FILE_VARIABLE, "/nowhere/settings.yaml")
    with pytest.raises(SettingsError, match=r"/nowhere/settings\.yaml"):
        create_app()


def test_gunicorn_checks_the_settings_before_it_starts_a_worker(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(FILE_VARIABLE, raising=False)
    gunicorn_conf.on_starting(None)
    monkeypatch.setenv(FILE_VARIABLE, "/nowhere/settings.yaml")
    with pytest.raises(SystemExit, match="2"):
        gunicorn_conf.on_starting(None)
    said = "ingress-manager: settings file /nowhere/settings.yaml: No such file or directory\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("linux", [True, False])
def test_a_connection_without_a_byte_holds_no_thread_where_the_system_can_prevent_it(
    linux: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if linux and not hasattr(socket, "TCP_DEFER_ACCEPT"):
        pytest.skip("Only Linux defers what it accepts, so that it does was not tested.")
    if not linux:
        monkeypatch.delattr(socket, "TCP_DEFER_ACCEPT", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        gunicorn_conf.when_ready(SimpleNamespace(LISTENERS=[SimpleNamespace(sock=listening)]))
        if linux:
            assert listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT) > 0
