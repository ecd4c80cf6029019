"""Structured logs: one JSON object a line on stderr, with nothing secret in it.

Routes are logged as templates, so neither ids nor query texts reach the log. Whatever still looks
like a token is struck out at the last step, whoever wrote the line: our own events, the libraries'
and tracebacks alike.
"""

from __future__ import annotations

import logging
import re
import sys

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

SECRET = re.compile(
    r"\b((?:mv|csk)_[a-z0-9]{8})_[A-Za-z0-9_-]{20,}"
    r"|((?:Bearer|X-API-Key)[\"':=\s]+)[^\s\"',]{8,}"
    r"|\b(eyJ)[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_.-]+",
    re.IGNORECASE,
)
_QUIET = ("httpx", "httpcore", "asyncio", "filelock", "alembic", "multipart", "python_multipart")


def without_secrets(text: str) -> str:
    """The text with everything that looks like a credential cut down to its public start."""
    return SECRET.sub(lambda found: f"{next(filter(None, found.groups()), '')}[hidden]", text)


def configure(*, debug: bool = False) -> None:
    """Send all logs of this process to stderr as JSON lines."""
    level = logging.DEBUG if debug else logging.INFO
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                structlog.processors.JSONRenderer(ensure_ascii=False),
                _strike_out,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers[:] = []
        logger.propagate = name != "uvicorn.access"
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def _strike_out(logger: WrappedLogger, method: str, line: EventDict | str) -> str:
    return without_secrets(str(line))
