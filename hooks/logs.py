"""The log: one JSON object a line on standard error, for what the hook says and for what gunicorn and Python say."""

import logging
import logging.config
import sys
from collections.abc import Sequence
from typing import Any

import structlog
from gunicorn import glogging

# A character that isn't ASCII is written as an escape: in a terminal, some of them are commands.
_RENDERER = structlog.processors.JSONRenderer(ensure_ascii=True)
_PROCESSORS: Sequence[structlog.typing.Processor] = (
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
)

CONFIGURATION: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "json": {
            "()": structlog.stdlib.ProcessorFormatter,
            "foreign_pre_chain": _PROCESSORS,
            "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, _RENDERER],
        }
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json", "stream": "ext://sys.stderr"}},
    "root": {"level": "INFO", "handlers": ["stderr"]},
    "loggers": {
        name: {"level": "INFO", "handlers": ["stderr"], "propagate": False}
        for name in ("gunicorn.error", "gunicorn.access")
    },
}
"""For logging.config.dictConfig."""


class Logger(glogging.Logger):  # type: ignore[misc]
    """gunicorn's logger, which writes the same lines as the hook."""

    def setup(self, cfg: Any) -> None:
        """Configure Python's logging, on which gunicorn's is built."""
        super().setup(cfg)
        logging.config.dictConfig(CONFIGURATION)


def make_logger() -> Any:
    """Return a structlog logger that writes to standard error."""
    return structlog.wrap_logger(structlog.PrintLogger(sys.stderr), processors=[*_PROCESSORS, _RENDERER])


def log_everything() -> None:
    """Send Python's warnings, and exceptions that nobody catches, to the log."""
    logging.captureWarnings(capture=True)
    sys.excepthook = lambda *raised: make_logger().error("uncaught exception", exc_info=raised)
    sys.unraisablehook = lambda raised: sys.excepthook(raised.exc_type, raised.exc_value, raised.exc_traceback)  # type: ignore[arg-type]
