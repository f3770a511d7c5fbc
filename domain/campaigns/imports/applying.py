"""Planned rows reach the roster, by the same `upsert_many` as every other way, and are told what really happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contract.participants import ParticipantUpsert
from core.db import db
from core.errors import Refused
from domain.campaigns import roster
from domain.campaigns.campaign import Campaign
from domain.campaigns.roster import Written

from .plan import PlannedRow, refusing
from .record import Outcome

Result = Written | Refused


def bodies(rows: Sequence[PlannedRow]) -> list[ParticipantUpsert]:
    """The bodies that these rows write."""
    return [ParticipantUpsert.model_validate(row.given) for row in rows if row.given is not None]


def apply(campaign: Campaign, rows: Sequence[PlannedRow], asked: Sequence[ParticipantUpsert]) -> list[PlannedRow]:
    """Write `asked` (the bodies of `rows`); returns the rows as they came out.

    The roster may have moved on since the plan: each row is merged afresh, and its outcome is what really happened.
    """
    results = _write(campaign, asked)
    return [_told(row, results) for row in rows]


def _write(campaign: Campaign, asked: Sequence[ParticipantUpsert]) -> dict[str, Result]:
    """A refused body must not lose its neighbours: a batch that is refused is halved until it stands alone."""
    if not asked:
        return {}
    try:
        with db.session.begin_nested():
            return {written.row["email"]: written for written in roster.upsert_many(campaign, asked)}
    except Refused as refused:
        if len(asked) == 1:
            return {asked[0].email: refused}
    middle = len(asked) // 2
    return {**_write(campaign, asked[:middle]), **_write(campaign, asked[middle:])}


def _told(row: PlannedRow, results: Mapping[str, Result]) -> PlannedRow:
    if row.given is None:
        return row
    result = results[row.given["email"]]
    if isinstance(result, Refused):
        return refusing(row, result)
    changes = {} if result.created else result.changes
    outcome: Outcome = "created" if result.created else "updated" if changes else "unchanged"
    if outcome == row.outcome and changes == row.changes:
        return row
    return row._replace(outcome=outcome, changes=changes)
