"""Success and failure as every answer of the API carries them (service.md 4.3, contract 1)."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

ErrorCode = Literal[
    "TOKEN_INVALID",
    "TOKEN_EXPIRED_PREFIX",
    "ACCOUNT_NOT_IN_SCOPE",
    "SCOPE_REQUIRED",
    "REVIEW_SCOPE_REQUIRED",
    "COMPILE_SCOPES_REQUIRED",
    "FORBIDDEN",
    "RATE_LIMITED",
    "NOT_FOUND",
    "METHOD_NOT_ALLOWED",
    "INVALID_BODY",
    "INVALID_FILTER",
    "UNKNOWN_EVENT_TYPES",
    "WEBHOOK_URL_REFUSED",
    "PAYLOAD_TOO_LARGE",
    "UNSUPPORTED_MEDIA_TYPE",
    "MODEL_DISABLED",
    "BLUEPRINT_NOT_READY",
    "CONFLICT",
    "MODEL_UNAVAILABLE",
    "STORAGE_BUSY",
    "STORAGE_FULL",
    "INTERNAL",
]


class Detail(TypedDict):
    """One thing wrong with a body or a filter; `path` names the place, such as `metadata.x`."""

    path: str
    message: str


class Failure(TypedDict):
    """A refused call. `error` is one sentence that a person can act on."""

    success: Literal[False]
    error: str
    code: ErrorCode
    details: NotRequired[list[Detail]]
    requiredScope: NotRequired[str]
    missingScopes: NotRequired[list[str]]
    unknownEvents: NotRequired[list[str]]
    requestId: NotRequired[str]


class ListMeta(TypedDict):
    """Where a list's page stands. `total` is exact."""

    page: int
    limit: int
    total: int
    totalPages: int


def success(data: Any, meta: dict[str, Any] | None = None) -> dict[str, Any]:
    """The envelope of a call that did what it was asked."""
    return {"success": True, "data": data, "meta": meta or {}}
