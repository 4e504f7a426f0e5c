"""Gunicorn's configuration: listening addresses, checks before the start, and output that is all JSON."""

import json
import logging
import runpy
import socket
import sys
import warnings
from types import SimpleNamespace

import gevent
import pytest
from gunicorn.config import Config
from gunicorn.glogging import Logger

from hooks import gunicorn_conf, logs
from ingress_manager.core.settings_parser import FILE_VARIABLE


def test_it_listens_on_ipv6_and_ipv4_as_the_machine_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for has_both, address in ((True, "[::]:8080"), (False, "0.0.0.0:8080")):
        monkeypatch.setattr(socket, "has_dualstack_ipv6", lambda has_both=has_both: has_both)
        assert runpy.run_path(gunicorn_conf.__file__)["bind"] == [address]


def test_the_settings_are_checked_first(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(logs, "log_uncaught", lambda: None)
    monkeypatch.delenv(FILE_VARIABLE, raising=False)
    gunicorn_conf.on_starting(None)
    monkeypatch.setenv(FILE_VARIABLE, "/nowhere/settings.yaml")
    with pytest.raises(SystemExit, match="2"):
        gunicorn_conf.on_starting(None)
    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["level"]) == ("settings", "error")
    assert line["sentence"] == "settings file /nowhere/settings.yaml: No such file or directory"


def test_after_each_request_other_connections_get_a_turn() -> None:
    other = gevent.spawn(lambda: None)
    gunicorn_conf.post_request(None, None, None, None)
    assert other.dead


def test_everything_printed_is_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in (None, "gunicorn.error", "gunicorn.access"):
        monkeypatch.setattr(logging.getLogger(name), "handlers", [])
    for hook in ("excepthook", "unraisablehook"):
        monkeypatch.setattr(sys, hook, None)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    config = Config()
    config.set("logconfig_dict", gunicorn_conf.logconfig_dict)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logger = Logger(config)
        logs.log_uncaught()
        gunicorn_conf.post_worker_init(SimpleNamespace(log=logger))
        logger.access(None, None, None, None)  # no request is logged
        logger.info("Booting worker with pid: %s", 7)
        try:
            raise ZeroDivisionError
        except ZeroDivisionError:
            logger.exception("Exception in worker process")
        warnings.warn("something is old", stacklevel=1)
        logging.captureWarnings(capture=False)
    logging.getLogger("another.library").error("two\nlines")
    removed = OSError("while it was removed")
    sys.unraisablehook(SimpleNamespace(exc_type=OSError, exc_value=removed, exc_traceback=None))
    sys.excepthook(KeyError, KeyError("nobody catches it"), None)
    printed, lines = capsys.readouterr()
    booted, failed, warned, other, unraisable, uncaught = map(json.loads, lines.splitlines())
    assert (printed, booted["event"], booted["level"]) == ("", "Booting worker with pid: 7", "info")
    for line, event, exception in (
        (failed, "Exception in worker process", "ZeroDivisionError"),
        (uncaught, "uncaught exception", "KeyError: 'nobody catches it'"),
    ):
        assert (line["event"], line["level"], exception in line["exception"]) == (event, "error", True)
    assert ("something is old" in warned["event"], other["event"]) == (True, "two\nlines")
    assert unraisable["exception"] == "OSError: while it was removed"
