"""Answers of the API: the envelope in and around everything, unknown paths and methods included."""

from __future__ import annotations

from typing import Any

from flask import Response
from pydantic_core import to_json

from contract.envelope import ErrorCode, success
from contract.errors import ApiError, invalid_body
from core import logs
from core.errors import Refused

ERRORS: dict[int, tuple[ErrorCode, str]] = {
    400: ("INVALID_BODY", "The request could not be read."),
    403: ("FORBIDDEN", "This call is not allowed."),
    404: ("NOT_FOUND", "There is no such resource. Check the path and the ids in it."),
    405: ("METHOD_NOT_ALLOWED", "This path does not take that method. See the Allow header."),
    409: ("CONFLICT", "The change met another one. Read the resource again, then repeat your call."),
    413: ("PAYLOAD_TOO_LARGE", "The body is larger than 1 MiB. Send less at a time."),
    415: ("UNSUPPORTED_MEDIA_TYPE", "Send the body as JSON with Content-Type: application/json."),
    500: ("INTERNAL", "Something went wrong on our side. Tell the operator the requestId."),
    503: ("STORAGE_BUSY", "The database is busy. Nothing was written; try again after the Retry-After seconds."),
    507: ("STORAGE_FULL", "The disk is full. Nothing was written; tell whoever runs this installation."),
}


def is_api(path: str) -> bool:
    """Whether a path speaks JSON."""
    return path == "/api" or path.startswith("/api/")


def answer(data: Any, *, status: int = 200, headers: dict[str, str] | None = None, **meta: Any) -> Response:
    """The success envelope; keywords become `meta`."""
    return _json(success(data, meta), status, headers)


def failure(error: ApiError) -> Response:
    """The failure envelope."""
    return _json(error.body(), error.status, error.headers)


def of_status(
    status: int, refused: Refused | None = None, message: str = "", headers: dict[str, str] | None = None
) -> Response:
    """The failure envelope of an HTTP status; `refused` is the domain's refusal, `message` what it says in English."""
    code, sentence = ERRORS.get(status, ERRORS[500] if status >= 500 else ERRORS[400])
    error = ApiError(status, code, sentence, headers=headers)
    if refused is not None:
        error = invalid_body({"path": refused.path, "message": message})
    if status == 500:
        error.extra["requestId"] = logs.request_id()
    return failure(error)


def _json(body: Any, status: int, headers: dict[str, str] | None) -> Response:
    return Response(to_json(body), status, headers=headers, mimetype="application/json")
