"""What happened: one row for each occurrence, written in the transaction of the change (service.md 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import structlog
from sqlalchemy import ForeignKey, Index, Table, Text
from sqlalchemy.orm import Mapped, mapped_column

from core import bulk, clock, queue
from core.db import EpochMs, Json, Model, db, primary_key, write_after_commit
from core.errors import Refused
from core.ids import new_ids
from core.queue import QueueAway

from . import audit
from . import subscription as subscriptions
from .audit import Actor
from .catalogue import AT_MOST_ONCE, EVENTS
from .delivery import record as deliveries
from .delivery import tally
from .delivery.record import Occurrence
from .subscription import Subscription

log = structlog.get_logger(__name__)


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
    """Record that `name` happened and queue its deliveries, inside the caller's transaction."""
    record_many(account_id, name, [payload])


def record_many(account_id: str, name: str, payloads: Iterable[Mapping[str, Any]]) -> None:
    """Record `name` once for each payload and queue the deliveries, inside the caller's transaction.

    Raises `ValueError` for a name outside the catalogue, and for one that `announce` is for.
    """
    if name in AT_MOST_ONCE:
        raise ValueError(f"{name} is fanned out after the commit: announce() it")
    _record(account_id, name, list(payloads))


def announce(account_id: str, name: str, payload: Mapping[str, Any]) -> None:
    """Record one of the three at-most-once events right after the transaction under way (service.md 6.3).

    The queue is asked first, past any breaker. Where it cannot be reached nothing is written, then or later, and the
    loss is counted.
    """
    if name not in AT_MOST_ONCE:
        raise ValueError(f"{name} belongs into the transaction of its change: record() it")
    write_after_commit(lambda: _whatever_the_queue_allows(account_id, name, payload))


def test_send(subscription: Subscription, by: Actor, *, event_id: str | None = None) -> None:
    """A real `webhook.test` for this subscription alone, whether or not it lists it; under this id where one is given.

    Refused while it is inactive (`SUBSCRIPTION_INACTIVE`).
    """
    if not subscription.is_active:
        raise Refused("SUBSCRIPTION_INACTIVE")
    payload = {"subscription": subscriptions.as_public(subscription)}
    event_ids = [event_id] if event_id is not None else None
    _record(subscription.account_id, "webhook.test", [payload], to=[subscription.id], event_ids=event_ids)
    audit.record(subscription.account_id, by, "webhook.tested", subscription.id, subscription.url)


def _record(
    account_id: str,
    name: str,
    payloads: Sequence[Mapping[str, Any]],
    *,
    to: Sequence[str] | None = None,
    event_ids: Sequence[str] | None = None,
) -> None:
    """Write events and their deliveries, to these subscriptions or to all that listen, under these ids or new ones."""
    if name not in EVENTS:
        raise ValueError(f"{name} is not in the event catalogue")
    if not payloads:
        return
    now = clock.now_ms()
    happened = [
        Occurrence(event_id, account_id, name, payload)
        for event_id, payload in zip(event_ids or new_ids("evt", len(payloads), now), payloads, strict=True)
    ]
    bulk.insert_many(cast(Table, Event.__table__), [_row(each, now) for each in happened])
    deliveries.add_many(happened, subscriptions.listening(account_id, name) if to is None else to)


def _row(happened: Occurrence, at: int) -> dict[str, Any]:
    return {
        "id": happened.event_id,
        "account_id": happened.account_id,
        "name": happened.name,
        "payload": happened.payload,
        "occurred_at": at,
    }


def _whatever_the_queue_allows(account_id: str, name: str, payload: Mapping[str, Any]) -> Callable[[], object]:
    """What is to be written: the event with its deliveries, or one loss more. Where nobody listens nobody is asked."""
    is_heard = bool(subscriptions.listening(account_id, name))
    db.session.rollback()  # nothing of the database is held while the queue may take its second
    try:
        if is_heard:
            queue.handle().enqueue(deliveries.JOB, past_breaker=True)
    except QueueAway:
        log.warning("event_lost", event_name=name, account_id=account_id)
        return lambda: tally.add({f"lost.{name}": 1})
    return lambda: _record(account_id, name, [payload])
