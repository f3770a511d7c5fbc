"""A refusal of the API: its status, its code, and what it says."""

from __future__ import annotations

from typing import Any

from contract.envelope import Detail, ErrorCode, Failure


class ApiError(Exception):
    """Raised anywhere on the way through an operation; answered as the failure envelope.

    `extra` holds the further properties that a code carries, such as `requiredScope`; `headers` such as `Retry-After`.
    """

    def __init__(
        self,
        status: int,
        code: ErrorCode,
        error: str,
        *,
        details: list[Detail] | None = None,
        headers: dict[str, str] | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(error)
        self.status = status
        self.code: ErrorCode = code
        self.error = error
        self.details = details
        self.headers = headers or {}
        self.extra = extra

    def body(self) -> Failure:
        """The failure envelope."""
        body: Failure = {"success": False, "error": self.error, "code": self.code}
        if self.details is not None:
            body["details"] = self.details
        body.update(self.extra)  # type: ignore[typeddict-item]  # every key given is one of Failure's own
        return body


def invalid_body(*details: Detail) -> ApiError:
    """400 for a body, each thing wrong with its place."""
    first = details[0]
    place = f"{first['path']}: " if first["path"] else ""
    return ApiError(400, "INVALID_BODY", f"{place}{first['message']}", details=list(details))


def unknown_event_types(names: list[str], message: str) -> ApiError:
    """400 for a registration that names events outside the catalogue: `names` has all of them."""
    detail: Detail = {"path": "events", "message": message}
    return ApiError(400, "UNKNOWN_EVENT_TYPES", message, details=[detail], unknownEvents=names)


def webhook_url_refused(message: str) -> ApiError:
    """400 for a URL that a webhook may not have."""
    return ApiError(400, "WEBHOOK_URL_REFUSED", message, details=[{"path": "url", "message": message}])


def invalid_filter(name: str, message: str) -> ApiError:
    """400 for a query parameter with a value outside its closed set."""
    return ApiError(400, "INVALID_FILTER", f"{name}: {message}", details=[{"path": name, "message": message}])
