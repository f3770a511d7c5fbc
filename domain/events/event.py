"""What happened: one row for each occurrence, written in the transaction of the change (service.md 6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from sqlalchemy import ForeignKey, Index, Table, Text
from sqlalchemy.orm import Mapped, mapped_column

from core import bulk, clock
from core.db import EpochMs, Json, Model, primary_key
from core.ids import new_id

from .catalogue import EVENTS


class Event(Model):
    """One occurrence of a catalogue event. `payload` is the resource in its public projection, under its own name."""

    __tablename__ = "event"

    id: Mapped[str] = primary_key("evt")
    account_id: Mapped[str] = mapped_column(Text, ForeignKey("account.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(Text)
    payload: Mapped[Any] = mapped_column(Json)
    occurred_at: Mapped[int] = mapped_column(EpochMs)

    __table_args__ = (Index("ix_event_account_id_id", "account_id", "id"),)


def record(account_id: str, name: str, payload: Mapping[str, Any]) -> None:
    """Record that `name` happened, inside the caller's transaction."""
    record_many(account_id, name, [payload])


def record_many(account_id: str, name: str, payloads: Iterable[Mapping[str, Any]]) -> None:
    """Record `name` once for each payload, inside the caller's transaction, in one statement."""
    if name not in EVENTS:
        raise ValueError(f"{name} is not in the event catalogue")
    now = clock.now_ms()
    rows = [
        {"id": new_id("evt", now), "account_id": account_id, "name": name, "payload": payload, "occurred_at": now}
        for payload in payloads
    ]
    bulk.insert_many(cast(Table, Event.__table__), rows)
