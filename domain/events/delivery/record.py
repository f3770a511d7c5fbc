"""Delivery rows: the frozen payload, where it stands, and every attempt that was made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from sqlalchemy import ForeignKey, Index, LargeBinary, Table, Text, text, update
from sqlalchemy.orm import Mapped, mapped_column

from core import bulk, clock, queue
from core.db import EpochMs, Model, db, on_commit, primary_key
from core.ids import new_id
from core.json_text import as_text

State = Literal["queued", "accepted", "exhausted", "cancelled"]
STATES: tuple[State, ...] = get_args(State)

JOB = "jobs.deliveries.wake"
# Rows in one statement of a fan-out: a bulk of events times its subscriptions must not stand in memory twice over.
ROWS_AT_ONCE = 5_000


class Delivery(Model):
    """One event for one subscription; every attempt shares its id.

    `payload` is JSON text, frozen when the event happened; the envelope around it is made for each attempt.
    `attempts` counts those of this `round`, which begins anew with a re-fire. `lease_until` is 0 unless a sender has
    it, under `lease_generation`. `last_error` is a code of `outbound.guarded`, or None.
    """

    __tablename__ = "delivery"

    id: Mapped[str] = primary_key("dlv")
    account_id: Mapped[str] = mapped_column(Text)
    subscription_id: Mapped[str] = mapped_column(Text, ForeignKey("webhook_subscription.id", ondelete="CASCADE"))
    event_id: Mapped[str | None] = mapped_column(Text)
    event: Mapped[str] = mapped_column(Text)
    payload: Mapped[str] = mapped_column(Text, deferred=True)
    state: Mapped[State] = mapped_column(Text, default="queued")
    attempts: Mapped[int] = mapped_column(default=0)
    round: Mapped[int] = mapped_column(default=1)
    due_at: Mapped[int] = mapped_column(EpochMs)
    lease_until: Mapped[int] = mapped_column(EpochMs, default=0)
    lease_generation: Mapped[int] = mapped_column(default=0)
    last_status: Mapped[int | None]
    last_error: Mapped[str | None] = mapped_column(Text)
    first_sent_at: Mapped[int | None] = mapped_column(EpochMs)
    last_sent_at: Mapped[int | None] = mapped_column(EpochMs)
    settled_at: Mapped[int | None] = mapped_column(EpochMs)
    created_at: Mapped[int] = mapped_column(EpochMs)

    __table_args__ = (
        Index("uq_delivery_event_id_subscription_id", "event_id", "subscription_id", unique=True),
        Index("ix_delivery_state_due_at", "state", "due_at"),
        # First attempts come before retries, so that both are found in the order in which they are claimed.
        Index("ix_delivery_subscription_id_state_attempts_due_at", "subscription_id", "state", "attempts", "due_at"),
        Index("ix_delivery_subscription_id_id", "subscription_id", "id"),
        Index(
            "ix_delivery_leased", "subscription_id", "lease_until",
            sqlite_where=text("lease_until > 0"), postgresql_where=text("lease_until > 0"),
        ),
    )  # fmt: skip


class DeliveryAttempt(Model):
    """One POST that was made. `at` is the timestamp that was signed, `answer` the first KiB of what came back."""

    __tablename__ = "delivery_attempt"

    id: Mapped[str] = primary_key("att")
    delivery_id: Mapped[str] = mapped_column(Text, ForeignKey("delivery.id", ondelete="CASCADE"))
    round: Mapped[int]
    number: Mapped[int]
    at: Mapped[int] = mapped_column(EpochMs)
    milliseconds: Mapped[int]
    status: Mapped[int | None]
    error: Mapped[str | None] = mapped_column(Text)
    answer: Mapped[bytes] = mapped_column(LargeBinary)
    address: Mapped[str | None] = mapped_column(Text)

    __table_args__ = (Index("ix_delivery_attempt_delivery_id_id", "delivery_id", "id"),)


TABLE = cast(Table, Delivery.__table__)


@dataclass(frozen=True)
class Occurrence:
    """An event as deliveries need it."""

    event_id: str
    account_id: str
    name: str
    payload: Any


def add_many(occurrences: Sequence[Occurrence], subscription_ids: Sequence[str]) -> None:
    """Queue every occurrence for every one of these subscriptions, inside the caller's transaction."""
    if not occurrences or not subscription_ids:
        return
    step = max(1, ROWS_AT_ONCE // len(subscription_ids))
    for start in range(0, len(occurrences), step):
        bulk.insert_many(TABLE, list(_rows(occurrences[start : start + step], subscription_ids)))
    wake_after_commit()


def _rows(occurrences: Iterable[Occurrence], subscription_ids: Sequence[str]) -> Iterable[dict[str, Any]]:
    now = clock.now_ms()
    for each in occurrences:
        payload = as_text(each.payload)
        for subscription_id in subscription_ids:
            yield {
                "id": new_id("dlv", now),
                "account_id": each.account_id,
                "subscription_id": subscription_id,
                "event_id": each.event_id,
                "event": each.name,
                "payload": payload,
                "state": "queued",
                "attempts": 0,
                "round": 1,
                "due_at": now,
                "lease_until": 0,
                "lease_generation": 0,
                "created_at": now,
            }


def wake_after_commit() -> None:
    """Wake a drain once the transaction under way is on disk."""
    on_commit(wake)


def wake() -> None:
    """Wake a drain. Losing this costs latency only: the loop looks every 2 s."""
    queue.nudge_once(JOB)


def cancel_waiting(subscription_id: str) -> None:
    """What waits for a deleted subscription never goes. A POST under way still writes what came of it."""
    db.session.execute(
        update(Delivery)
        .where(Delivery.subscription_id == subscription_id, Delivery.state == "queued")
        .values(state="cancelled", settled_at=clock.now_ms())
        .execution_options(synchronize_session=False)
    )


def body(delivery_id: str, event_id: str | None, event: str, account_id: str, timestamp_ms: int, payload: str) -> bytes:
    """The exact bytes of one attempt (service.md 2.6); `payload` is the frozen JSON text."""
    named = {"id": delivery_id, "eventId": event_id, "event": event, "accountId": account_id, "timestamp": timestamp_ms}
    head = json.dumps(named, ensure_ascii=False, separators=(",", ":"))
    return f'{head[:-1]},"payload":{payload}}}'.encode()
