"""How gunicorn is configured: where it listens, and what it checks before it starts."""

import json
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
    monkeypatch.delenv(FILE_VARIABLE, raising=False)
    gunicorn_conf.on_starting(None)
    monkeypatch.setenv(FILE_VARIABLE, "/nowhere/settings.yaml")
    with pytest.raises(SystemExit, match="2"):
        gunicorn_conf.on_starting(None)
    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["level"]) == ("settings", "error")
    assert line["sentence"] == "settings file /nowhere/settings.yaml: No such file or directory"
