"""Delivery rows: the frozen payload, where it stands, and every attempt that was made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from sqlalchemy import (
    ColumnElement,
    ForeignKey,
    Index,
    LargeBinary,
    Table,
    Text,
    TextClause,
    func,
    select,
    text,
    update,
)
from sqlalchemy.orm import Mapped, mapped_column

from core import bulk, clock, ids, queue
from core.db import EpochMs, Model, db, is_postgresql, on_commit, primary_key
from core.json_text import as_text

State = Literal["queued", "accepted", "exhausted", "cancelled"]
STATES: tuple[State, ...] = get_args(State)

JOB = "jobs.deliveries.wake"
# Rows in one statement of a fan-out: a bulk of events times its subscriptions must not stand in memory twice over.
ROWS_AT_ONCE = 5_000


# A question finds an index of its own rows alone where it says these conditions word for word.
QUEUED = "state = 'queued'"
SENT = "last_sent_at IS NOT NULL"
LEASED = "lease_until > 0"
FIRST_ATTEMPT = f"{QUEUED} AND lease_until = 0 AND attempts = 0"
RETRY = f"{QUEUED} AND lease_until = 0 AND attempts > 0"


def _index_where(name: str, *columns: str, where: str) -> Index:
    return Index(name, *columns, sqlite_where=text(where), postgresql_where=text(where))


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

    @property
    def failure(self) -> str | None:
        """The code of what went wrong last in this round; None where nothing did, or nothing was tried yet."""
        return self.last_error if self.attempts and self.state != "accepted" else None

    __table_args__ = (
        Index("uq_delivery_event_id_subscription_id", "event_id", "subscription_id", unique=True),
        # The log in its order: whole, of a state, of an event. What is left of a filter is seen without the rows.
        Index("ix_delivery_log", "subscription_id", "id", "created_at"),
        Index("ix_delivery_log_by_state", "subscription_id", "state", "id", "event", "created_at"),
        Index("ix_delivery_log_by_event", "subscription_id", "event", "id", "state", "created_at"),
        # What was sent, in the order of its last attempt.
        _index_where("ix_delivery_sent", "subscription_id", "last_sent_at", "id", where=SENT),
        # What is to be done, in the order in which it is done. What is settled stands in none of them.
        _index_where("ix_delivery_queued", "due_at", where=QUEUED),
        _index_where("ix_delivery_first_attempts", "subscription_id", "due_at", where=FIRST_ATTEMPT),
        _index_where("ix_delivery_retries", "subscription_id", "due_at", where=RETRY),
        _index_where("ix_delivery_leased", "subscription_id", "lease_until", where=LEASED),
    )


class DeliveryAttempt(Model):
    """One POST that was made. `at` is the timestamp that was signed, `answer` the first KiB of what came back,
    `location` where a redirect would have led: text to look at."""

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
    location: Mapped[str | None] = mapped_column(Text)

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
                "id": ids.new_id("dlv", now),
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


def queued_between(since: int | None, until: int | None) -> list[ColumnElement[bool]]:
    """The conditions of having been queued in a time (epoch ms, both inclusive; None leaves it open)."""
    return ids.made_between("dlv", Delivery.id, Delivery.created_at, since, until)


def cancel_waiting(subscription_id: str) -> None:
    """What waits for a deleted subscription never goes. A POST under way still writes what came of it."""
    waiting = Delivery.subscription_id == subscription_id, Delivery.state == "queued"
    lock_in_order(*waiting)
    db.session.execute(
        update(Delivery)
        .where(*waiting)
        .values(state="cancelled", settled_at=clock.now_ms())
        .execution_options(synchronize_session=False)
    )


def lock_in_order(*conditions: ColumnElement[bool] | TextClause) -> None:
    """Lock deliveries by id, as everybody does who changes several: no two then wait for each other for ever."""
    if is_postgresql():
        held = select(Delivery.id).where(*conditions).order_by(Delivery.id).with_for_update().subquery()
        db.session.execute(select(func.count()).select_from(held))


def body(
    delivery_id: str, event_id: str | None, event: str, account_id: str, timestamp_ms: int, payload: str | bytes
) -> bytes:
    """The exact bytes of one attempt (service.md 2.6); `payload` is the frozen JSON text, or that in UTF-8."""
    named = {"id": delivery_id, "eventId": event_id, "event": event, "accountId": account_id, "timestamp": timestamp_ms}
    head = json.dumps(named, ensure_ascii=False, separators=(",", ":"))
    frozen = payload.encode() if isinstance(payload, str) else payload
    return b'%b,"payload":%b}' % (head[:-1].encode(), frozen)
