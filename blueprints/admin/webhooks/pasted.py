"""A captured request as people paste it: our headers out of whatever a program printed, and the body after them.

Headers are found by their names, wherever they stand: lines, with or without the marks of a trace, JSON in its shapes,
the variables of CGI, lists of names and values, what languages print of a dictionary. The body is never touched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from outbound import signing

_NAMES = {name.upper(): name for name in signing.NAMES}
_ONE_OF_THEM = "|".join(_NAMES).replace("-", "[-_]")
_NAME = re.compile(rf"(?<![A-Za-z0-9])(?:HTTP[-_])?({_ONE_OF_THEM})(?![-_]?[A-Za-z0-9])", re.IGNORECASE)
# What follows a name, up to the next one. It fits every text, so that no text is tried twice.
_VALUE = re.compile(
    r"""
    ["'`]?[ \t]*[\])]?                        # the end of the name
    [ \t]*(?:=>|[:=,;|])?                     # what stands between
    (?P<gap>\s*)
    (?:["']?value["']?\s*(?:=>|[:=])\s*)?     # {"name": ..., "value": ...}
    (?:array\s*\(\s*|string\(\d+\)\s*)?       # as PHP prints lists and strings
    (?:\[?0\]?\s*=>\s*)?
    [\[(]?\s*                                # one value in a list
    (?:b?"(?P<double>[^"\n]*)"|b?'(?P<single>[^'\n]*)'|["']?(?P<bare>[^"'\n]*))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NEXT = re.compile(r"(?<!\s)\s+(?!sha256=|t=)[A-Za-z][\w-]*\s*[:=]")
_AROUND = " \t\r,;[](){}|\\`^"
_NOTHING = {"", "null", "none", "nil", "undefined"}
_ESCAPED = re.compile(r"\\{1,4}(u003d|[rnt\"'])", re.IGNORECASE)
_MEANT = {"u003d": "=", "r": "\n", "n": "\n", "t": "\t"}
_ANY_HEADER = re.compile(r"^[ \t<>*\"'{\[(,]*[A-Za-z][\w-]*[\"']?[ \t]?:", re.MULTILINE)
# A delivery is a JSON object, so a blank line between headers that were copied with wide spacing ends none.
_END_OF_HEADERS = re.compile(r"\n[ \t<>*]*\r?\n(?=\{)")


@dataclass(frozen=True)
class Pasted:
    """`headers` has those of a delivery alone, under the names of the reference; `is_whole` says that one field held
    the headers and the body."""

    headers: dict[str, str]
    body: str
    is_whole: bool = False


def read(headers: str, body: str) -> Pasted:
    """The request in the two fields; where one of them is empty the other may hold it whole."""
    alone = (headers or body) if not headers.strip() or not body.strip() else ""
    end = _end_of_headers(alone)
    if end is None:
        return Pasted(headers_in(headers), body)
    return Pasted(headers_in(alone[:end]), alone[end:], is_whole=True)


def is_readable(headers: str) -> bool:
    """Whether any header is found, be it of a delivery or not."""
    return _NAME.search(headers) is not None or _ANY_HEADER.search(headers) is not None


def headers_in(text: str) -> dict[str, str]:
    """The headers of a delivery in `text`. One that stands there with two values has both, as servers join them."""
    plain = _ESCAPED.sub(lambda found: _MEANT.get(found[1].lower(), found[1]), text)
    names = list(_NAME.finditer(plain))
    ends = [*(each.start() for each in names[1:]), len(plain)]
    values: dict[str, dict[str, None]] = {}
    for name, end in zip(names, ends, strict=False):
        value = _value(plain[name.end() : end])
        if value.lower() not in _NOTHING:
            values.setdefault(_NAMES[name[1].upper().replace("_", "-")], {})[value] = None
    return {name: ", ".join(several) for name, several in values.items()}


def _value(after: str) -> str:
    found = _VALUE.match(after)
    assert found is not None
    quoted = found["double"] if found["double"] is not None else found["single"]
    if quoted is not None:
        return quoted.strip()
    if "\n" in found["gap"] and ":" in found["bare"]:  # the next header: this one is empty
        return ""
    return _NEXT.split(found["bare"], 1)[0].strip(_AROUND)


def _end_of_headers(text: str) -> int | None:
    """Where the body begins, after the blank line; None where `text` is not a whole request."""
    first = _NAME.search(text)
    end = _END_OF_HEADERS.search(text, first.end() if first else 0)
    return end.end() if end else None
