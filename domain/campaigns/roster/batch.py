"""What an import asks of the roster beside `upsert_many`: many rows at once, and putting back what was there before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import delete, select

from core import clock
from core.db import db

from .merge import COLUMNS
from .participant import Participant
from .write import _TABLE, _UPDATE, _lock, _resize, _update_parameters, _wanted

_STORED = select(Participant.email, *(getattr(Participant, name) for name in COLUMNS))


def stored(campaign_id: str, emails: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The columns that a merge looks at (`COLUMNS`) of those of these addresses who stand on the roster. No lock."""
    of_these = _STORED.where(Participant.campaign_id == campaign_id, Participant.email.in_(_wanted(emails)))
    found = db.session.connection().execute(of_these)
    return {row[0]: dict(zip(COLUMNS, row[1:], strict=True)) for row in found}


def locked(campaign_id: str, emails: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
    """The whole rows of those of these addresses who stand on the roster, held until the transaction ends."""
    return _lock(campaign_id, emails)


def restore_many(rows: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> None:
    """Give locked rows back values of `COLUMNS`, unlike an upsert also those that only a clearing sets."""
    now = clock.now_ms()
    parameters = [_update_parameters({**row, **values, "updated_at": now}) for row, values in rows]
    if parameters:
        db.session.connection().execute(_UPDATE, parameters)


def take_back(campaign_id: str, participant_ids: Sequence[str]) -> None:
    """Remove locked rows that an import created. The import's own audit entry stands for all of them."""
    if participant_ids:
        db.session.execute(delete(_TABLE).where(_TABLE.c.id.in_(participant_ids)))
        _resize(campaign_id, -len(participant_ids))
