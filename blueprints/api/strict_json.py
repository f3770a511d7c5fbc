"""JSON bodies read strictly (contract 1 and 3): what two readers might take differently is refused, never guessed."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from flask import Request

from contract.envelope import Detail
from contract.errors import ApiError, invalid_body

LARGEST_BODY = 1024 * 1024
DEEPEST = 64
LEAST_INTEGER, MOST_INTEGER = -(2**63), 2**63 - 1

_SURROGATE = re.compile("[\ud800-\udfff]")
# A string that never ends is one too, up to the end: looked for again from every quote in it, it would take an hour.
_STRUCTURE = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)


def read(request: Request, *, may_be_empty: bool) -> Any:
    """The request's body as JSON; `{}` where there is none and the operation allows that.

    Raises 413 beyond 1 MiB, 415 for another content type, 400 with the place for anything read two ways.
    """
    raw = _bytes(request)
    if not raw.strip() and may_be_empty:
        return {}
    if request.mimetype != "application/json" and not request.mimetype.endswith("+json"):
        raise ApiError(415, "UNSUPPORTED_MEDIA_TYPE", "Send the body as JSON with Content-Type: application/json.")
    return parse(raw)


def parse(raw: bytes) -> Any:
    """The value of a JSON text in UTF-8; a leading byte order mark is skipped."""
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    _check_depth(raw)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise invalid_body(_at("", f"The body is not UTF-8 (byte {error.start}).")) from None
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_integer
        )
    except json.JSONDecodeError as error:
        raise invalid_body(
            _at("", f"The body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.")
        ) from None
    _check_strings(value, "")
    return value


def _bytes(request: Request) -> bytes:
    too_large = ApiError(413, "PAYLOAD_TOO_LARGE", "The body is larger than 1 MiB. Send less at a time.")
    if (request.content_length or 0) > LARGEST_BODY:
        raise too_large
    raw = request.stream.read(LARGEST_BODY + 1)
    if len(raw) > LARGEST_BODY:
        raise too_large
    return raw


def _check_depth(raw: bytes) -> None:
    """Before parsing, since a deep nesting exhausts the parser's stack."""
    if raw.count(b"{") + raw.count(b"[") <= DEEPEST:
        return
    depth = 0
    for token in _STRUCTURE.finditer(raw):
        sign = token.group()[:1]
        if sign in b"[{":
            depth += 1
            if depth > DEEPEST:
                raise invalid_body(_at("", f"The body is nested deeper than {DEEPEST} levels."))
        elif sign != b'"':
            depth -= 1


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]  # None on purpose
        raise invalid_body(_at(_shown(twice), "The key stands twice in one object."))
    return found


def _constant(name: str) -> NoReturn:
    raise invalid_body(_at("", f"{name} is not a JSON number."))


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise invalid_body(_at("", "A number is out of range."))
    return number


def _integer(text: str) -> int:
    if len(text) > 20 or not LEAST_INTEGER <= int(text) <= MOST_INTEGER:
        raise invalid_body(_at("", "An integer is outside the 64-bit range."))
    return int(text)


def _check_strings(value: Any, path: str) -> None:
    """Refuse what a database cannot hold: NUL characters and lone surrogates, in keys and values."""
    if isinstance(value, str):
        _check_string(value, path)
    elif isinstance(value, dict):
        for key, inner in value.items():
            _check_string(key, path)
            _check_strings(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            _check_strings(inner, f"{path}[{number}]")


def _check_string(text: str, path: str) -> None:
    if "\0" in text:
        raise invalid_body(_at(_shown(path), "A text has a NUL character."))
    if not text.isascii() and _SURROGATE.search(text):
        raise invalid_body(_at(_shown(path), "A text has a lone surrogate."))


def _at(path: str, message: str) -> Detail:
    return {"path": path, "message": message}


def _shown(path: str) -> str:
    return path.encode("utf-8", "replace").decode()[:200]
