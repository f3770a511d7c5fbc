"""What an import asks of the roster beside `upsert_many`: many rows at once, and putting back what was there before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, delete, select

from core import bulk, clock
from core.db import connection, db, is_postgresql

from .addresses import AMONG, value_of
from .merge import COLUMNS
from .write import _TABLE, _changeable, _lock, _resize

_COLUMNS = select(_TABLE.c.email, *(_TABLE.c["metadata" if name == "bag" else name] for name in COLUMNS))
_STORED = {
    kind: _COLUMNS.where(_TABLE.c.campaign_id == bindparam("of_campaign"), _TABLE.c.email.in_(among))
    for kind, among in AMONG.items()
}


def stored(campaign_id: str, emails: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The columns that a merge looks at (`COLUMNS`) of those of these addresses who stand on the roster. No lock."""
    asked = {"of_campaign": campaign_id, "emails": value_of(emails)}
    found = connection().execute(_STORED[is_postgresql()], asked)
    return {row[0]: dict(zip(COLUMNS, row[1:], strict=True)) for row in found}


def locked(campaign_id: str, emails: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
    """The whole rows of those of these addresses who stand on the roster, held until the transaction ends."""
    return _lock(campaign_id, emails)


def restore_many(rows: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> None:
    """Give locked rows back values of `COLUMNS`, unlike an upsert also those that only a clearing sets."""
    now = clock.now_ms()
    bulk.update_many(_TABLE, [_changeable({**row, **values, "updated_at": now}) for row, values in rows])


def take_back(campaign_id: str, participant_ids: Sequence[str]) -> None:
    """Remove locked rows that an import created. The import's own audit entry stands for all of them."""
    if participant_ids:
        db.session.execute(delete(_TABLE).where(_TABLE.c.id.in_(participant_ids)))
        _resize(campaign_id, -len(participant_ids))
