"""What the rows of a file would do to a roster, row by row and field by field. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from core.errors import Refused
from domain.campaigns import roster

from .record import Outcome
from .rows import Notice, ReadRow


class PlannedRow(NamedTuple):
    """A row and what becomes of it. `given` is the body it writes, as plain JSON; None where it writes nothing.

    `changes` maps columns of the roster to `[before, after]` for a row that is updated; it is empty otherwise.
    """

    number: int
    outcome: Outcome
    cells: list[str]
    notices: list[Notice]
    given: dict[str, Any] | None
    changes: dict[str, list[Any]]

    def saying(self, *notices: Notice) -> PlannedRow:
        """The same row with more to say about it."""
        return self._replace(notices=[*self.notices, *notices])


def plan(rows: Iterable[ReadRow], stored: Mapping[str, Mapping[str, Any]]) -> list[PlannedRow]:
    """Every row becomes created, updated, unchanged or refused; `stored` holds who is on the roster, by address."""
    return [_planned(row, stored) for row in rows]


def tally(rows: Sequence[PlannedRow]) -> dict[str, int]:
    """How many rows have each outcome, and how many have a notice."""
    outcomes = Counter(row.outcome for row in rows)
    return {
        "rows": len(rows),
        "created": outcomes["created"],
        "updated": outcomes["updated"],
        "unchanged": outcomes["unchanged"],
        "refused": outcomes["refused"],
        "noticed": sum(1 for row in rows if row.notices),
    }


def _planned(row: ReadRow, stored: Mapping[str, Mapping[str, Any]]) -> PlannedRow:
    if row.body is None or row.given is None:
        return PlannedRow(row.number, "refused" if row.is_refused else "unchanged", row.cells, row.notices, None, {})
    before = stored.get(row.body.email)
    if before is None and "metadata" not in row.given:
        return PlannedRow(row.number, "created", row.cells, row.notices, row.given, {})
    try:
        merged = roster.merge(before or roster.NOBODY, row.body)
    except Refused as refused:
        return refusing(PlannedRow(row.number, "refused", row.cells, row.notices, None, {}), refused)
    if before is None:
        return PlannedRow(row.number, "created", row.cells, row.notices, row.given, {})
    outcome: Outcome = "updated" if merged.changes else "unchanged"
    return PlannedRow(row.number, outcome, row.cells, row.notices, row.given, merged.changes)


def refusing(row: PlannedRow, refused: Refused) -> PlannedRow:
    """The row, refused by a rule of the roster."""
    notice = Notice(refused.code, None, dict(refused.params))
    return PlannedRow(row.number, "refused", row.cells, [*row.notices, notice], None, {})
