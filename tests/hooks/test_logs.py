"""The log: whatever the process prints is one JSON object a line."""

import json
import logging
import sys
import warnings
from types import SimpleNamespace

import pytest
from gunicorn.config import Config

from hooks import logs


def test_what_python_and_gunicorn_print_is_json_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in (None, "gunicorn.error", "gunicorn.access"):
        monkeypatch.setattr(logging.getLogger(name), "handlers", [])
    for hook in ("excepthook", "unraisablehook"):
        monkeypatch.setattr(sys, hook, None)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logger = logs.Logger(Config())
        logs.log_everything()
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
    assert printed == ""
    assert (booted["event"], booted["level"]) == ("Booting worker with pid: 7", "info")
    assert (failed["event"], failed["level"]) == ("Exception in worker process", "error")
    assert "ZeroDivisionError" in failed["exception"]
    assert "something is old" in warned["event"]
    assert other["event"] == "two\nlines"
    assert unraisable["exception"] == "OSError: while it was removed"
    assert (uncaught["event"], uncaught["level"]) == ("uncaught exception", "error")
    assert uncaught["exception"] == "KeyError: 'nobody catches it'"
