"""Writing the roster. One person or a batch takes the same way: lock, merge, insert or update, event, audit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from sqlalchemy import Table, bindparam, delete, select, update

from contract.participants import ParticipantChange, ParticipantUpsert
from core import bulk, clock
from core.db import connection, db, is_postgresql, writing_connection
from core.errors import NotFound, Refused
from core.ids import new_ids
from domain.campaigns.campaign import Campaign, Rostered
from domain.events import audit, event
from domain.events.audit import Actor, Done

from . import participant as participants
from .addresses import AMONG, value_of
from .merge import NOBODY, Merged, merge
from .participant import Participant

# The table's columns under the names of the model (`bag` stands in the column `metadata`).
_TABLE = cast(Table, Participant.__table__)
_ROW = select(*(column.label("bag" if column.name == "metadata" else column.name) for column in _TABLE.c))
_OF_CAMPAIGN = _ROW.where(_TABLE.c.campaign_id == bindparam("of_campaign"))
_LOCK = {
    False: _OF_CAMPAIGN.where(_TABLE.c.email.in_(AMONG[False])),
    True: _OF_CAMPAIGN.where(_TABLE.c.email.in_(AMONG[True])).order_by(_TABLE.c.email).with_for_update(of=_TABLE),
}
_CAMPAIGN = cast(Table, Campaign.__table__)
_RESIZE = (
    update(_CAMPAIGN)
    .where(_CAMPAIGN.c.id == bindparam("of_campaign"))
    .values(roster_size=_CAMPAIGN.c.roster_size + bindparam("by"))
)


class Written(NamedTuple):
    """What became of one body: the row after the write, whether it is new, what changed, what was refused."""

    row: Mapping[str, Any]
    created: bool
    changes: dict[str, list[Any]]
    preserved_keys: list[str]


def upsert(campaign: Rostered, body: ParticipantUpsert, by: Actor) -> Written:
    """Add a person to the roster, or bring one up to date; the address decides which.

    Records `participant.joined` for a new row and an audit entry for every call (service.md 4.2). Two callers with
    one new address at once give one row: the second waits for the first and then merges into its row.
    """
    written = upsert_many(campaign, [body])[0]
    changes = {"created": [False, True], **written.changes} if written.created else written.changes
    _log(campaign.account_id, by, "participant.upserted", [(written.row, changes)])
    return written


def add(campaign: Rostered, body: ParticipantUpsert, by: Actor) -> Written:
    """Put a person on the roster who is not there yet; for people, who must not overwrite somebody by a slip.

    Refuses an address that stands there already, with the `participant_id`; the caller's transaction must then roll
    back, since the row was merged into.
    """
    written = upsert(campaign, body, by)
    if not written.created:
        raise Refused("ALREADY_ON_ROSTER", path="email", participant_id=written.row["id"])
    return written


def upsert_many(campaign: Rostered, bodies: Sequence[ParticipantUpsert]) -> list[Written]:
    """Write many people, in the order given; addresses must differ. Leaves the audit log to the caller.

    Refuses the whole batch where one body does not fit its row.
    """
    # Rows are taken in the order of their addresses, so that two batches never wait for each other in a circle.
    ordered = sorted(bodies, key=lambda body: body.email)
    known = _lock(campaign.id, [body.email for body in ordered])
    fresh = [body for body in ordered if body.email not in known]
    inserted = _insert(campaign, fresh)
    overtaken = [body.email for body in fresh if body.email not in inserted]
    if overtaken:  # another caller inserted these between our look and our insert
        known.update(_lock(campaign.id, overtaken))
    updated = _update(known, [body for body in ordered if body.email in known])
    written = {**inserted, **updated}
    return [written[body.email] for body in bodies]


def change(campaign: Rostered, participant_id: str, body: ParticipantChange, by: Actor) -> Written:
    """Change one person who stands on the roster; `NotFound` where none does."""
    row = _locked_row(campaign.id, participant_id)
    written = _update_rows([(row, merge(row, body))])[0]
    _log(campaign.account_id, by, "participant.updated", [(written.row, written.changes)])
    return written


def change_many(campaign: Rostered, participant_ids: Sequence[str], body: ParticipantChange, by: Actor) -> int:
    """The same change for people on the roster, such as a language; returns for how many it changed something."""
    pairs = [(row, merge(row, body)) for row in _locked_rows(campaign.id, participant_ids)]
    changed = [written for written in _update_rows(pairs) if written.changes]
    _log(campaign.account_id, by, "participant.updated", [(each.row, each.changes) for each in changed])
    return len(changed)


def set_status(campaign: Rostered, participant_ids: Sequence[str], status: str, by: Actor) -> int:
    """Set the status of people on the roster; returns how many changed."""
    rows = [row for row in _locked_rows(campaign.id, participant_ids) if row["status"] != status]
    db.session.execute(
        update(_TABLE)
        .where(_TABLE.c.id.in_([row["id"] for row in rows]))
        .values(status=status, updated_at=clock.now_ms())
    )
    _log(campaign.account_id, by, "participant.updated", [(row, {"status": [row["status"], status]}) for row in rows])
    return len(rows)


def remove(campaign: Rostered, participant_ids: Sequence[str], by: Actor) -> int:
    """Take people off the roster; returns how many stood there."""
    rows = _locked_rows(campaign.id, participant_ids)
    db.session.execute(delete(_TABLE).where(_TABLE.c.id.in_([row["id"] for row in rows])))
    _resize(campaign.id, -len(rows))
    _log(campaign.account_id, by, "participant.removed", [(row, {"email": [row["email"], None]}) for row in rows])
    return len(rows)


def _lock(campaign_id: str, emails: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    asked = {"of_campaign": campaign_id, "emails": value_of(emails)}
    rows = connection().execute(_LOCK[is_postgresql()], asked).mappings()
    return {row["email"]: dict(row) for row in rows}


def _locked_rows(campaign_id: str, participant_ids: Sequence[str]) -> list[Mapping[str, Any]]:
    query = _ROW.where(_TABLE.c.campaign_id == campaign_id, _TABLE.c.id.in_(participant_ids))
    return [dict(row) for row in connection().execute(query.order_by(_TABLE.c.email).with_for_update()).mappings()]


def _locked_row(campaign_id: str, participant_id: str) -> Mapping[str, Any]:
    rows = _locked_rows(campaign_id, [participant_id])
    if not rows:
        raise NotFound("participant")
    return rows[0]


def _insert(campaign: Rostered, bodies: Sequence[ParticipantUpsert]) -> dict[str, Written]:
    """Insert who is not there yet; leaves out those whom another caller inserted first."""
    merged = {body.email: merge(NOBODY, body) for body in bodies}
    now = clock.now_ms()
    rows = _new_rows(campaign, list(merged.items()), now)
    landed = _insert_rows(rows)
    joined = [row for row in rows if row["id"] in landed]
    event.record_many(campaign.account_id, "participant.joined", (participants.for_event(row) for row in joined))
    _resize(campaign.id, len(joined))
    return {
        row["email"]: Written(row, True, merged[row["email"]].changes, merged[row["email"]].preserved_keys)
        for row in joined
    }


def _insert_rows(rows: list[dict[str, Any]]) -> set[str]:
    """Insert, and return the ids that landed: another caller may have been first."""
    columns = [{("metadata" if name == "bag" else name): value for name, value in row.items()} for row in rows]
    return bulk.insert_missing(_TABLE, columns, unique=("campaign_id", "email"))


def _new_rows(campaign: Rostered, merged: Sequence[tuple[str, Merged]], now: int) -> list[dict[str, Any]]:
    """The rows of new people, given by their addresses; their ids follow the order given."""
    same: dict[str, Any] = {
        "account_id": campaign.account_id,
        "campaign_id": campaign.id,
        "status": "added",
        "organisation_id": None,
        "labels": {},
        "created_at": now,
        "updated_at": now,
    }
    return [
        {
            "id": participant_id,
            "email": email,
            "name_key": participants.name_key(each.values["first_name"], each.values["last_name"], email),
            **same,
            **each.values,
        }
        for participant_id, (email, each) in zip(new_ids("par", len(merged), now), merged, strict=True)
    ]


def _update(known: Mapping[str, Mapping[str, Any]], bodies: Iterable[ParticipantUpsert]) -> dict[str, Written]:
    written = _update_rows([(known[body.email], merge(known[body.email], body)) for body in bodies])
    return {each.row["email"]: each for each in written}


def _update_rows(pairs: Sequence[tuple[Mapping[str, Any], Merged]]) -> list[Written]:
    """Write the rows that did change; the others keep their `updated_at`."""
    now = clock.now_ms()
    written = [
        Written(
            {**row, **merged.values, "updated_at": now} if merged.changes else row,
            False,
            merged.changes,
            merged.preserved_keys,
        )
        for row, merged in pairs
    ]
    bulk.update_many(_TABLE, [_changeable(each.row) for each in written if each.changes])
    return written


def _changeable(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row's columns as a merge may have left them, to be written where it stands."""
    return {
        "id": row["id"],
        "first_name": row["first_name"],
        "last_name": row["last_name"],
        "name_key": participants.name_key(row["first_name"], row["last_name"], row["email"]),
        "language": row["language"],
        "bag_language_ended": row["bag_language_ended"],
        "metadata": row["bag"],
        "updated_at": row["updated_at"],
    }


def _resize(campaign_id: str, by: int) -> None:
    if by:
        writing_connection().execute(_RESIZE, {"of_campaign": campaign_id, "by": by})


def _log(account_id: str, by: Actor, action: str, done: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> None:
    """Write the audit entries. The bag is logged by the names of its keys: its values are nobody's business there."""
    audit.record_many(
        account_id, by, [Done(action, row["id"], row["email"], _loggable(changes)) for row, changes in done]
    )


def _loggable(changes: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    shown = {name: pair for name, pair in changes.items() if name not in ("bag", "bag_language_ended")}
    if "bag" in changes:
        before, after = changes["bag"]
        keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
        shown["metadata"] = [None, keys]
    return shown
