"""Taking an import back: only what still holds the imported value is reverted, and the rest is reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from domain.campaigns import roster
from domain.campaigns.campaign import Campaign

from .plan import PlannedRow
from .rows import Notice

Taken = Literal["removed", "reverted", "kept"]

_ABSENT = object()
# What people call the columns; `bag_language_ended` follows the language and is not spoken of.
_SHOWN = {"first_name": "first_name", "last_name": "last_name", "language": "language"}


@dataclass
class Undone:
    """What the undo of a chunk did: the rows with what has to be said, and how many people it met in which way."""

    rows: list[PlannedRow] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: {"removed": 0, "reverted": 0, "kept": 0})


def undo(campaign: Campaign, rows: Sequence[PlannedRow], created_between: tuple[int, int]) -> Undone:
    """Revert a chunk. `created_between` (epoch ms) tells the people it created from others of the same address."""
    touched = [row for row in rows if row.given is not None and row.outcome in ("created", "updated")]
    now = roster.locked(campaign.id, [_email(row) for row in touched])
    work = _Work(created_between)
    undone = Undone()
    for row in rows:
        if row.given is None or row.outcome not in ("created", "updated"):
            undone.rows.append(row)
            continue
        taken, notices = work.take(row, now.get(_email(row)))
        undone.counts[taken] += 1
        undone.rows.append(row.saying(*notices) if notices else row)
    roster.restore_many(work.restored)
    roster.take_back(campaign.id, work.removed)
    return undone


class _Work:
    """Collects what one chunk's undo has to write."""

    def __init__(self, created_between: tuple[int, int]) -> None:
        self._first, self._last = created_between
        self.removed: list[str] = []
        self.restored: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = []

    def take(self, row: PlannedRow, now: Mapping[str, Any] | None) -> tuple[Taken, list[Notice]]:
        """Decide for one row, given the person as the roster holds it now."""
        if now is None:
            return "kept", [Notice("UNDO_GONE")]
        if row.outcome == "created":
            return self._take_created(now)
        return self._take_updated(row, now)

    def _take_created(self, now: Mapping[str, Any]) -> tuple[Taken, list[Notice]]:
        if not self._first <= now["created_at"] <= self._last:
            return "kept", [Notice("UNDO_GONE")]
        if now["updated_at"] != now["created_at"]:
            return "kept", [Notice("UNDO_PERSON_KEPT")]
        self.removed.append(now["id"])
        return "removed", []

    def _take_updated(self, row: PlannedRow, now: Mapping[str, Any]) -> tuple[Taken, list[Notice]]:
        values, kept = reverted(row.changes, now)
        if values:
            self.restored.append((now, values))
        return ("kept" if kept else "reverted"), [Notice("UNDO_FIELD_KEPT", None, {"field": name}) for name in kept]


def reverted(changes: Mapping[str, Sequence[Any]], now: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The columns to write back, and the names of the fields that somebody has changed since."""
    values: dict[str, Any] = {}
    kept: list[str] = []
    for column, (before, after) in changes.items():
        if column == "bag":
            bag, kept_keys = _reverted_bag(before, after, now["bag"])
            kept.extend(kept_keys)
            if bag != now["bag"]:
                values["bag"] = bag
        elif now[column] == after:
            values[column] = before
        elif column in _SHOWN:
            kept.append(_SHOWN[column])
    return values, kept


def _reverted_bag(
    before: Mapping[str, Any], after: Mapping[str, Any], now: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """The bag with each imported key as it was before, segments axis by axis, and the keys changed since."""
    bag = dict(now)
    kept: list[str] = []
    for key in dict.fromkeys((*before, *after)):
        was, became, is_now = before.get(key, _ABSENT), after.get(key, _ABSENT), now.get(key, _ABSENT)
        if was == became:
            continue
        if is_now == became:
            _put(bag, key, was)
        elif key == "segments" and isinstance(became, dict) and isinstance(is_now, dict) and was is not None:
            inner, kept_axes = _reverted_bag(was if isinstance(was, dict) else {}, became, is_now)
            _put(bag, key, inner or (was if was is not _ABSENT else _ABSENT))
            kept.extend(kept_axes)
        else:
            kept.append(key)
    return bag, kept


def _put(bag: dict[str, Any], key: str, value: Any) -> None:
    if value is _ABSENT:
        bag.pop(key, None)
    else:
        bag[key] = value


def _email(row: PlannedRow) -> str:
    assert row.given is not None
    return str(row.given["email"])
