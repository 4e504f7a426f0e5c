"""How gunicorn is configured: where it listens, what it checks before it starts, and how many files it may open."""

import json
import resource
import socket
from typing import Any

import pytest

from hooks import gunicorn_conf, logs
from ingress_manager.core.settings import FILE_VARIABLE


class NoSocket:
    """A socket of a machine without IPv6."""

    def __init__(self, *_arguments: Any) -> None:
        raise OSError(97, "Address family not supported by protocol")


class Ipv6Only:
    """A socket of a machine on which [::] serves IPv6 alone (Linux with net.ipv6.bindv6only = 1)."""

    def __init__(self, *_arguments: Any) -> None: ...

    def __enter__(self) -> "Ipv6Only":
        return self

    def __exit__(self, *_: object) -> None: ...

    def bind(self, _address: object) -> None: ...

    def getsockopt(self, *_arguments: Any) -> int:
        return 1


def test_it_listens_on_ipv6_and_ipv4_as_the_machine_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    if socket.has_dualstack_ipv6():
        assert gunicorn_conf.addresses(8080) == ["[::]:8080"]
    monkeypatch.setattr(socket, "socket", NoSocket)
    assert gunicorn_conf.addresses(8080) == ["0.0.0.0:8080"]
    monkeypatch.setattr(socket, "socket", Ipv6Only)
    assert gunicorn_conf.addresses(8080) == ["[::]:8080", "0.0.0.0:8080"]


def test_gunicorn_checks_the_settings_before_it_starts_a_worker(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(logs, "log_everything", lambda: None)
    monkeypatch.setattr(gunicorn_conf, "allow_open_files", lambda _count: None)
    monkeypatch.delenv(FILE_VARIABLE, raising=False)
    gunicorn_conf.on_starting(None)
    monkeypatch.setenv(FILE_VARIABLE, "/nowhere/settings.yaml")
    with pytest.raises(SystemExit, match="2"):
        gunicorn_conf.on_starting(None)
    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["level"]) == ("settings", "error")
    assert line["sentence"] == "settings file /nowhere/settings.yaml: No such file or directory"


@pytest.mark.parametrize(
    ("reason", "limits", "raised"),
    [
        ("a low limit is raised", (256, 1_000_000), (1300, 1_000_000)),
        ("as far as the system lets us", (256, 1024), (1024, 1024)),
        ("without an upper limit", (256, resource.RLIM_INFINITY), (1300, resource.RLIM_INFINITY)),
        ("a higher one stays", (resource.RLIM_INFINITY, resource.RLIM_INFINITY), None),
    ],
)
def test_as_many_files_may_be_open_as_there_may_be_connections(
    reason: str, limits: tuple[int, int], raised: tuple[int, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    stated: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _what: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _what, given: stated.append(given))
    gunicorn_conf.allow_open_files(gunicorn_conf.worker_connections + 100)
    assert stated == ([raised] if raised else []), reason
