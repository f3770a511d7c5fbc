"""Codes in the domain, sentences at the edge: what a verb says when it may not do what it was asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One thing wrong at one place of the input: `path` such as `metadata.x`, empty for the whole."""

    code: str
    path: str = ""
    params: tuple[tuple[str, Any], ...] = ()


class Refused(Exception):
    """A rule of the field says no. `code` is stable; the edge turns it into a sentence in the reader's language."""

    def __init__(self, code: str, path: str = "", **params: Any) -> None:
        super().__init__(code)
        self.code = code
        self.path = path
        self.params = params


class NotFound(Exception):
    """There is no such thing, or it belongs to another account: the two are not told apart (service.md 7)."""

    def __init__(self, what: str = "resource") -> None:
        super().__init__(what)
        self.what = what
