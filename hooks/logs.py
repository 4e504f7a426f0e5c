"""The log: one JSON object per line on standard error, from the hook, gunicorn and Python."""

import logging
import sys
from collections.abc import Sequence
from typing import Any

import structlog
from structlog.stdlib import ProcessorFormatter

# Only ASCII: some other characters control a terminal.
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
"""gunicorn's logconfig_dict, for gunicorn and every library that uses Python's logging."""


def make_logger() -> Any:
    return structlog.wrap_logger(structlog.PrintLogger(sys.stderr), processors=[*_PROCESSORS, _RENDERER])


def log_uncaught() -> None:
    logging.captureWarnings(capture=True)
    sys.excepthook = lambda *raised: make_logger().error("uncaught exception", exc_info=raised)
    sys.unraisablehook = lambda raised: sys.excepthook(raised.exc_type, raised.exc_value, raised.exc_traceback)  # type: ignore[arg-type]
