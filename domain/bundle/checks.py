"""What can be said about a bundle before anything is written, each with its place in the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from contract.bundle import Bundle, Part
from core.errors import Refused

# Lists of the contract whose part of the product does not exist yet: their shape is checked, nothing of them is stored.
NOT_YET = frozenset({"reviewLevels", "scales", "statements", "libraryItems", "templates", "assessments", "submissions"})
_IDENTITIES = ("key", "email", "id")


def require_distinct(bundle: Bundle) -> None:
    """Refuse a list in which one key, address or language stands twice, naming the later one's place."""
    for place, parts in lists_of(bundle):
        seen: set[str] = set()
        for number, part in enumerate(parts):
            name, identity = _identity(part)
            if identity in seen:
                at = f"{place}[{number}].{name}" if name else f"{place}[{number}]"
                raise Refused("BUNDLE_REPEATS", path=at, key=identity)
            seen.add(identity)


def skipped(bundle: Bundle) -> list[str]:
    """The places of the lists that hold something and are not loaded, such as `accounts[0].scales (2)`."""
    numbers = Counter[str]()
    for place, parts in lists_of(bundle):
        if place.rpartition(".")[2] in NOT_YET and parts:
            numbers[place] += len(parts)
    return [f"{place} ({number})" for place, number in numbers.items()]


def lists_of(part: Part, place: str = "") -> Iterator[tuple[str, Sequence[Any]]]:
    """Every list of parts or languages under `part`, with its place; a list that is absent is left out.

    Reviews are known by no key, so that theirs are left out too.
    """
    for name, info in type(part).model_fields.items():
        parts = getattr(part, name)
        if not isinstance(parts, list) or name in ("reviews", "points"):
            continue
        at = f"{place}.{info.alias}" if place else str(info.alias)
        yield at, parts
        for number, each in enumerate(parts):
            if isinstance(each, Part):
                yield from lists_of(each, f"{at}[{number}]")


def _identity(part: Any) -> tuple[str, str]:
    """The property by which a part is known, and its value; a bare code stands for itself."""
    if not isinstance(part, Part):
        return "", str(part)
    name = next(name for name in _IDENTITIES if name in type(part).model_fields)
    return name, getattr(part, name)
