"""One page of an import's rows as a person reads it: each cell with what it changes and what is to be said of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from blueprints.page import language_name
from domain.campaigns.imports import Import, PlannedRow

from . import words


@dataclass(frozen=True)
class Cell:
    """`text` as the file has it; `change` is before and after where a stored value changes; `meant` explains a code."""

    text: str
    change: tuple[str, str] | None = None
    meant: str = ""
    notices: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Line:
    """One row: its number in the file, its outcome, its cells in the columns that are read, its own notices."""

    number: int
    outcome: str
    cells: list[Cell]
    notices: list[str]


def shown_columns(import_: Import) -> list[tuple[int, str, str]]:
    """The columns that are read: place, name in the file, what it means."""
    return [
        (place, name or str(place + 1), words.target(target, name))
        for place, (name, target) in enumerate(zip(import_.header, import_.mapping, strict=True))
        if target != "ignore"
    ]


def lines(import_: Import, rows: Iterable[PlannedRow]) -> list[Line]:
    """The rows of a page, for the table."""
    shown = [place for place, _name, _meaning in shown_columns(import_)]
    return [_line(import_, row, shown) for row in rows]


def _line(import_: Import, row: PlannedRow, shown: list[int]) -> Line:
    whole = [words.sentence(notice) for notice in row.notices if notice.column not in shown]
    return Line(row.number, row.outcome, [_cell(import_, row, place) for place in shown], whole)


def _cell(import_: Import, row: PlannedRow, place: int) -> Cell:
    target, text = import_.mapping[place], row.cells[place]
    notices = [words.sentence(notice) for notice in row.notices if notice.column == place]
    is_used = bool(text) and not notices and row.given is not None
    change = _change(row, target, import_.header[place]) if is_used else None
    meant = ""
    if is_used and target == "language" and row.given is not None and row.given.get("language"):
        meant = language_name(row.given["language"])
    return Cell(text, change, "" if meant.casefold() == text.casefold() else meant, notices)


def _change(row: PlannedRow, target: str, name: str) -> tuple[str, str] | None:
    if target in ("first_name", "last_name", "language"):
        if target not in row.changes:
            return None
        before, after = row.changes[target]
        return (language_name(before), language_name(after)) if target == "language" else (_text(before), _text(after))
    if target not in ("metadata", "segment") or "bag" not in row.changes:
        return None
    before, after = (_of_bag(bag, target, name) for bag in row.changes["bag"])
    return None if before == after else (_text(before), _text(after))


def _of_bag(bag: dict[str, Any], target: str, name: str) -> Any:
    if target == "metadata":
        return bag.get(name)
    segments = bag.get("segments")
    return segments.get(name) if isinstance(segments, dict) else None


def _text(value: Any) -> str:
    return "—" if value is None else str(value)
