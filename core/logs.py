"""Structured logs, one JSON object a line, each with the request's id."""

from __future__ import annotations

import logging
import re
import secrets
import sys
from contextlib import suppress
from typing import TextIO, cast

import structlog
from flask import Flask, Response, g, request

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")


class _Lossy:
    """Standard error, where a line may be lost: work does not end because a full disk has no room for its log."""

    def write(self, line: str) -> None:
        with suppress(OSError):
            sys.stderr.write(line)

    def flush(self) -> None:
        with suppress(OSError):
            sys.stderr.flush()


_standard_error = _Lossy()


def configure(level: int = logging.INFO) -> None:
    """Write the logs of this process to its standard error."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *_: structlog.PrintLogger(cast(TextIO, _standard_error)),
        cache_logger_on_first_use=False,
    )


def init_app(app: Flask) -> None:
    """Give every request an id, bind it to the logs, and send it back as `X-Request-Id`."""
    app.before_request(_begin)
    app.after_request(_finish)


def request_id() -> str:
    """The id of the request under way."""
    return str(g.get("request_id", "-"))


def _begin() -> None:
    offered = request.headers.get("X-Request-Id", "")
    g.request_id = offered if REQUEST_ID.fullmatch(offered) else secrets.token_hex(8)
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(request_id=g.request_id)


def _finish(response: Response) -> Response:
    response.headers["X-Request-Id"] = request_id()
    return response
