"""JSON values as the text that a column holds: written alike everywhere, and read back exactly."""

from __future__ import annotations

from typing import Any

from pydantic_core import from_json, to_json


def as_text(value: Any) -> str | None:
    """A JSON value as text; None stays None. `to_json` takes a fourth of the time of Python's own encoder."""
    return None if value is None else to_json(value).decode()


def from_text(text: str | None) -> Any:
    """The value again; None stays None."""
    return None if text is None else from_json(text)


def from_texts(texts: list[str]) -> list[Any]:
    """Many values at once, which costs a fifth of reading them one by one."""
    return from_json("[" + ",".join(texts) + "]")  # type: ignore[no-any-return]  # a list in, a list out
