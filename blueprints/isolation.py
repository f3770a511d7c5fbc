"""What a sentence is filled in with keeps its direction to itself.

A name may run from right to left, or hold a character that turns what follows, as "A\\u202egnp.exe" does. Between two
marks of Unicode it stands as it is written, and the sentence around it stays as it was.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from functools import cached_property, wraps
from typing import Any

import flask_babel
from flask import Flask

BEGIN, END = "\u2068", "\u2069"
_OPENING = frozenset({"LRI", "RLI", "FSI"})
_TURNING = _OPENING | {"R", "AL", "LRE", "RLE", "LRO", "RLO", "PDF", "PDI"}


def _isolating(say: Callable[..., str]) -> Callable[..., str]:
    @wraps(say)  # with the mark by which Jinja hands over its context
    def said(*sentence: Any, **values: Any) -> str:
        return say(*sentence, **_each(values))

    return said


class _Sentences(flask_babel.Domain):
    gettext = _isolating(flask_babel.Domain.gettext)
    ngettext = _isolating(flask_babel.Domain.ngettext)


class Babel(flask_babel.Babel):
    """Fills in every sentence this way, in views and in templates."""

    def init_app(self, app: Flask, *args: Any, **options: Any) -> None:
        super().init_app(app, *args, **options)
        words: dict[str, Any] = app.jinja_env.globals
        words.update({name: _isolating(words[name]) for name in ("gettext", "ngettext")})

    @cached_property
    def domain_instance(self) -> flask_babel.Domain:
        return _Sentences()


def filled(sentence: Any, values: Mapping[str, Any]) -> str:
    """A sentence of a table (lazy) with its values."""
    return str(sentence) % _each(values)


def isolated(value: Any) -> Any:
    """A text that may turn what stands around it, between the two marks; anything else as it is."""
    if not isinstance(value, str) or value.isascii() or _TURNING.isdisjoint(map(unicodedata.bidirectional, value)):
        return value
    return type(value)(f"{BEGIN}{_closed(value)}{END}")


def _each(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: isolated(value) for name, value in values.items()}


def _closed(text: str) -> str:
    """The text with as many ends as beginnings of its own: one more would end what stands around it."""
    kept, depth = [], 0
    for char in text:
        if unicodedata.bidirectional(char) in _OPENING:
            depth += 1
        elif char == END and depth == 0:
            continue
        elif char == END:
            depth -= 1
        kept.append(char)
    return "".join(kept) + END * depth
