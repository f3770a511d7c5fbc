"""How a body meets a row: pure, the same for one call of the API and for a hundred thousand rows of a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import MISSING

from contract.participants import MOST_KEYS, SYSTEM_OWNED_KEYS, ParticipantChange
from core.errors import Refused


class Merged(NamedTuple):
    """The columns after the merge, which of them changed (`column: [before, after]`), and what was refused."""

    values: dict[str, Any]
    changes: dict[str, list[Any]]
    preserved_keys: list[str]


COLUMNS = ("first_name", "last_name", "language", "bag_language_ended", "bag")

NOBODY: Mapping[str, Any] = {
    "first_name": None,
    "last_name": None,
    "language": None,
    "bag_language_ended": False,
    "bag": {},
}


def merge(before: Mapping[str, Any], body: ParticipantChange, *, by_service: bool = False) -> Merged:
    """What `body` makes of the row `before` (a mapping with `COLUMNS`): absent leaves alone, null clears.

    The system-owned keys are written where `by_service` says that this is the service's own doing, a bundle's load.
    Refuses a bag of more than 50 keys after the merge, the system-owned ones not counted (contract 2).
    """
    after = {column: before[column] for column in COLUMNS}
    for column in ("first_name", "last_name", "language"):
        given = getattr(body, column)
        if given is not MISSING:
            after[column] = given
    if body.language is None:
        after["bag_language_ended"] = True
    after["bag"], preserved = merge_bag(before["bag"], body, by_service=by_service)
    changes = {column: [before[column], after[column]] for column in COLUMNS if after[column] != before[column]}
    if before["bag"] != after["bag"] or not _same_text(before["bag"], after["bag"]):
        changes["bag"] = [before["bag"], after["bag"]]
    return Merged(after, changes, preserved)


def merge_bag(
    before: Mapping[str, Any], body: ParticipantChange, *, by_service: bool = False
) -> tuple[dict[str, Any], list[str]]:
    """The bag after `metadata` and then `segments` were applied, and the system-owned keys named in vain."""
    bag = dict(before)
    preserved: list[str] = []
    given: Mapping[str, Any] = {} if body.metadata is MISSING else body.metadata
    for key, value in given.items():
        if key in SYSTEM_OWNED_KEYS and not by_service:
            preserved.append(key)
        elif value is None:
            bag.pop(key, None)
        else:
            bag[key] = value
    if body.segments is not MISSING:
        _apply_segments(bag, body.segments)
    own = len(bag) - len(SYSTEM_OWNED_KEYS & bag.keys())
    if own > MOST_KEYS:
        raise Refused("TOO_MANY_METADATA_KEYS", path="metadata", own=own, most=MOST_KEYS)
    return bag, preserved


def _apply_segments(bag: dict[str, Any], axes: Mapping[str, str | None]) -> None:
    """Write each named axis to `metadata.segments`; null drops it. Dropping an absent axis is a no-op."""
    stored = bag.get("segments")
    segments = dict(stored) if isinstance(stored, dict) else None
    for axis, value in axes.items():
        if value is not None:
            segments = {**(segments or {}), axis: value}
        elif segments is not None:
            segments.pop(axis, None)
    if segments is not None:
        bag["segments"] = segments


def _same_text(before: Any, after: Any) -> bool:
    """Whether two equal bags are also written alike: to Python `1`, `1.0`, `True` are equal and `0.0`, `-0.0`, to a
    reader not."""
    if isinstance(before, dict) and isinstance(after, dict):
        return before.keys() == after.keys() and all(_same_text(before[key], after[key]) for key in before)
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(_same_text, before, after))
    return type(before) is type(after) and repr(before) == repr(after)
