"""The log: whatever the process prints is one JSON object a line."""

import json
import logging
import subprocess
import sys

import pytest
from gunicorn import glogging

from hooks import logs


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_what_python_and_gunicorn_print_is_json_too() -> None:
    """In a process of its own: Python's logging is configured for the whole of one."""
    program = """
import logging, warnings
from gunicorn import glogging

from hooks import logs
from gunicorn.config import Config
logger = logs.Logger(Config())
logs.log_everything()
logger.info("Booting worker with pid: %s", 7)
try:
    1 / 0
except ZeroDivisionError:
    logger.exception("Exception in worker process")
warnings.warn("something is old")
logging.getLogger("another.library").error("two\\nlines")
class Leaving:
    def __del__(self):
        raise OSError("while it was removed")
Leaving()
raise KeyError("nobody catches it")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stdout == ""
    booted, failed, warned, other, removed, uncaught = (json.loads(line) for line in ended.stderr.splitlines())
    assert (booted["event"], booted["level"]) == ("Booting worker with pid: 7", "info")
    assert (failed["event"], failed["level"]) == ("Exception in worker process", "error")
    assert "ZeroDivisionError" in failed["exception"]
    assert "something is old" in warned["event"]
    assert other["event"] == "two\nlines"
    assert "OSError: while it was removed" in removed["exception"]
    assert (uncaught["event"], uncaught["level"]) == ("uncaught exception", "error")
    assert "KeyError: 'nobody catches it'" in uncaught["exception"]


def test_warnings_and_uncaught_exceptions_are_sent_to_the_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
    try:
        logs.log_everything()
        sys.excepthook(ValueError, ValueError("x"), None)
        assert lines(capsys)[0]["exception"] == "ValueError: x"
    finally:
        logging.captureWarnings(capture=False)


def test_gunicorns_logger_takes_over_our_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    configured: list[object] = []
    monkeypatch.setattr(glogging.Logger, "setup", lambda _self, _cfg: None)
    monkeypatch.setattr(logging.config, "dictConfig", configured.append)
    object.__new__(logs.Logger).setup(None)
    assert configured == [logs.CONFIGURATION]
