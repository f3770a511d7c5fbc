"""What screens ask of deliveries: a subscription's log by key, one delivery with its attempts, and its health."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, select, text
from sqlalchemy.orm import undefer

from core.db import db
from core.errors import NotFound
from core.ids import is_id

from ..subscription import Subscription
from .record import SENT, Delivery, DeliveryAttempt, queued_between

# Health looks at this many of a subscription's latest deliveries.
LATEST = 100


@dataclass(frozen=True)
class Wanted:
    """Which deliveries of a log; empty or None leaves a filter out. `since` and `until` are epoch ms, inclusive.

    `id` is a delivery's or an event's.
    """

    state: str = ""
    event: str = ""
    since: int | None = None
    until: int | None = None
    id: str = ""


@dataclass(frozen=True)
class LogPage:
    """Deliveries, newest first. `older` and `newer` are keys of the neighbouring pages, None where there is none."""

    rows: Sequence[Delivery]
    older: str | None
    newer: str | None


@dataclass(frozen=True)
class Health:
    """How a subscription's latest deliveries went: `success_rate` is of the `settled` among them, None without any.

    `given_up` counts the deliveries that stand so now, `failure_count` every time that one was given up.
    """

    success_rate: float | None
    settled: int
    last_sent_at: int | None
    last_status: int | None
    last_error: str | None
    waiting: int
    given_up: int
    failure_count: int

    @property
    def is_failing(self) -> bool:
        """Whether what was sent last did not arrive."""
        return self.last_error is not None


def log(
    account_id: str,
    subscription_id: str,
    wanted: Wanted | None = None,
    *,
    older_than: str | None = None,
    newer_than: str | None = None,
    limit: int = 50,
) -> LogPage:
    """A page of a subscription's log, by the id of the delivery that the page before or after it ended with.

    Works for a deleted subscription too.
    """
    query = _filtered(account_id, subscription_id, wanted or Wanted())
    if newer_than is not None:
        rows = _rows(query.where(Delivery.id > newer_than).order_by(Delivery.id), limit + 1)
        kept = rows[:limit][::-1]
        return LogPage(kept, kept[-1].id if kept else None, kept[0].id if len(rows) > limit else None)
    if older_than is not None:
        query = query.where(Delivery.id < older_than)
    rows = _rows(query.order_by(Delivery.id.desc()), limit + 1)
    kept = rows[:limit]
    newer = kept[0].id if kept and older_than is not None else None
    return LogPage(kept, kept[-1].id if len(rows) > limit else None, newer)


def _filtered(account_id: str, subscription_id: str, wanted: Wanted) -> Select[Delivery]:
    query = select(Delivery).where(Delivery.account_id == account_id, Delivery.subscription_id == subscription_id)
    if wanted.state:
        query = query.where(Delivery.state == wanted.state)
    if wanted.event:
        query = query.where(Delivery.event == wanted.event)
    if wanted.id:
        query = query.where((Delivery.event_id if is_id(wanted.id, "evt") else Delivery.id) == wanted.id)
    return query.where(*queued_between(wanted.since, wanted.until))


def _rows(query: Select[Delivery], limit: int) -> list[Delivery]:
    return list(db.session.scalars(query.limit(limit)))


def get(account_id: str, delivery_id: str) -> Delivery:
    """A delivery with its payload, or `NotFound` where there is none in this account."""
    query = select(Delivery).where(Delivery.id == delivery_id, Delivery.account_id == account_id)
    found = db.session.scalar(query.options(undefer(Delivery.payload)))
    if found is None:
        raise NotFound("delivery")
    return found


def attempts(delivery: Delivery) -> Sequence[DeliveryAttempt]:
    """Every POST that was made, in order."""
    query = select(DeliveryAttempt).where(DeliveryAttempt.delivery_id == delivery.id)
    return db.session.scalars(query.order_by(DeliveryAttempt.id)).all()


def health(account_id: str, subscription_id: str | None = None) -> dict[str, Health]:
    """The health of each of the account's subscriptions (or of one of them), by its id, in one query."""
    query = select(
        Subscription.id,
        Subscription.failure_count,
        _settled_as("accepted"),
        _settled_as("exhausted"),
        _standing_as("queued"),
        _standing_as("exhausted"),
        *(_of_the_last_sent(name) for name in ("last_sent_at", "last_status", "last_error")),
    ).where(Subscription.account_id == account_id, Subscription.deleted_at.is_(None))
    if subscription_id is not None:
        query = query.where(Subscription.id == subscription_id)
    return {found: _health(*rest) for found, *rest in db.session.execute(query)}


def _latest() -> Any:
    """What was sent last, which is not what was queued last: thousands may wait, or old ones be sent again."""
    query = select(Delivery.id, Delivery.state, Delivery.last_sent_at, Delivery.last_status, Delivery.last_error)
    sent = query.where(Delivery.subscription_id == Subscription.id, text(SENT))
    latest_first = sent.order_by(Delivery.last_sent_at.desc(), Delivery.id.desc())
    return latest_first.limit(LATEST).correlate(Subscription).subquery()


def _settled_as(state: str) -> Any:
    latest = _latest()
    return select(func.count()).select_from(latest).where(latest.c.state == state).scalar_subquery()


def _of_the_last_sent(name: str) -> Any:
    latest = _latest()
    latest_first = select(latest.c[name]).order_by(latest.c.last_sent_at.desc(), latest.c.id.desc())
    return latest_first.limit(1).scalar_subquery()


def _standing_as(state: str) -> Any:
    mine = select(func.count(Delivery.id)).where(Delivery.subscription_id == Subscription.id, Delivery.state == state)
    return mine.correlate(Subscription).scalar_subquery()


def _health(
    failures: int,
    accepted: int,
    exhausted: int,
    waiting: int,
    given_up: int,
    at: int | None,
    status: int | None,
    error: str | None,
) -> Health:
    settled = accepted + exhausted
    return Health(accepted / settled if settled else None, settled, at, status, error, waiting, given_up, failures)
