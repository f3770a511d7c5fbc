"""What a refusal looks like: a page for people, the failure envelope for the API. Never a stack trace."""

from __future__ import annotations

import errno
from contextlib import nullcontext
from typing import Any

import structlog
from flask import Flask, Response, g, render_template, request
from flask_babel import force_locale
from flask_wtf.csrf import CSRFError
from sqlalchemy.exc import DBAPIError, IntegrityError
from werkzeug.exceptions import HTTPException

from contract.errors import ApiError
from core import logs
from core.db import db, storage_trouble
from core.errors import NotFound, Refused

from .api import answers
from .sentences import sentence

log = structlog.get_logger(__name__)

# The disk, the user's quota or the process's largest file is used up.
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
PAGES = frozenset({400, 403, 404, 405, 413, 429, 500, 503})


def init_app(app: Flask) -> None:
    app.register_error_handler(ApiError, lambda error: answers.failure(error))
    app.register_error_handler(CSRFError, _csrf)
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(NotFound, lambda error: _show(404))
    app.register_error_handler(Refused, _refused)
    app.register_error_handler(DBAPIError, _storage)
    app.register_error_handler(OSError, _file_system)
    app.register_error_handler(Exception, _unexpected)


def _refused(error: Refused) -> Any:
    with force_locale("en") if answers.is_api(request.path) else nullcontext():
        return _show(400, sentence(error), error)


def _http(error: HTTPException) -> Any:
    if error.code is not None and error.code < 400:
        return error
    headers = {name: value for name, value in error.get_headers() if name in ("Allow", "Retry-After")}
    return _show(error.code or 500, headers=headers)


def _csrf(error: CSRFError) -> Any:
    log.info("csrf_refused", reason=error.description)
    return _show(400, sentence(Refused("CSRF")))


def _storage(error: DBAPIError) -> Any:
    db.session.rollback()
    if isinstance(error, IntegrityError):
        log.warning("integrity", error=str(error.orig))
        return _show(409, sentence(Refused("CONFLICT")))
    trouble = storage_trouble(error)
    if trouble is None:
        return _unexpected(error)
    log.error("storage", trouble=trouble, error=str(error.orig))
    if trouble == "STORAGE_FULL":
        return _show(507, sentence(Refused("STORAGE_FULL")))
    return _show(503, sentence(Refused("STORAGE_BUSY")), headers={"Retry-After": "5"})


def _file_system(error: OSError) -> Any:
    if error.errno not in NO_ROOM:
        return _unexpected(error)
    db.session.rollback()
    log.error("storage", trouble="STORAGE_FULL", error=str(error))
    return _show(507, sentence(Refused("STORAGE_FULL")))


def _unexpected(error: Exception) -> Any:
    db.session.rollback()
    log.error("unexpected", exc_info=error, path=request.path)
    return _show(500)


def _show(
    status: int, message: str = "", refused: Refused | None = None, headers: dict[str, str] | None = None
) -> Response:
    if answers.is_api(request.path):
        return answers.of_status(status, refused, message, headers)
    g.without_database = status >= 500
    page = f"errors/{status if status in PAGES else 503 if status >= 500 else 400}.html"
    html = render_template(page, message=message, request_id=logs.request_id(), status=status)
    return Response(html, status, headers=headers, mimetype="text/html")
