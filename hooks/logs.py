"""The log: one JSON object a line on standard error, for what the hook says and for what gunicorn and Python say."""

import logging
import sys
from collections.abc import Sequence
from typing import Any

import structlog
from structlog.stdlib import ProcessorFormatter

# A character that isn't ASCII is written as an escape: in a terminal, some of them are commands.
_RENDERER = structlog.processors.JSONRenderer(ensure_ascii=True)
_PROCESSORS: Sequence[structlog.typing.Processor] = (
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
)

CONFIGURATION: dict[str, Any] = {
    "formatters": {"json": {"()": ProcessorFormatter, "foreign_pre_chain": _PROCESSORS, "processor": _RENDERER}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json", "stream": "ext://sys.stderr"}},
    "root": {"level": "INFO", "handlers": ["stderr"]},
    "loggers": {"gunicorn.error": {"propagate": True}},
}
"""What gunicorn, and all that uses Python's logging, writes: gunicorn's logconfig_dict."""


def make_logger() -> Any:
    """Return a structlog logger that writes to standard error."""
    return structlog.wrap_logger(structlog.PrintLogger(sys.stderr), processors=[*_PROCESSORS, _RENDERER])


def log_everything() -> None:
    """Send Python's warnings, and exceptions that nobody catches, to the log."""
    logging.captureWarnings(capture=True)
    sys.excepthook = lambda *raised: make_logger().error("uncaught exception", exc_info=raised)
    sys.unraisablehook = lambda raised: sys.excepthook(raised.exc_type, raised.exc_value, raised.exc_traceback)  # type: ignore[arg-type]
