"""Sending an exhausted delivery again: a new round of attempts under the same id (service.md 6.3, contract 3)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, CursorResult, select, update

from core import clock
from core.db import db
from core.errors import NotFound, Refused

from .. import audit
from ..audit import Actor
from ..subscription import Subscription, get
from .record import Delivery, lock_in_order, queued_between, wake_after_commit

EXHAUSTED = Delivery.state == "exhausted"


def refire(account_id: str, delivery_id: str, by: Actor) -> None:
    """Begin a new round. Refuses with `DELIVERY_NOT_EXHAUSTED` or `SUBSCRIPTION_DELETED`; a second press is refused.

    For an inactive subscription it waits until that is active again.
    """
    of_it = Delivery.id == delivery_id
    query = select(Subscription).join(Delivery, Delivery.subscription_id == Subscription.id)
    subscription = db.session.scalar(query.where(of_it, Delivery.account_id == account_id))
    if subscription is None:
        raise NotFound("delivery")
    if subscription.deleted_at is not None:
        raise Refused("SUBSCRIPTION_DELETED")
    if not _begin_round(of_it):
        raise Refused("DELIVERY_NOT_EXHAUSTED")
    audit.record(account_id, by, "webhook.refired", delivery_id, subscription.url, {"deliveries": [None, 1]})


def refire_selected(account_id: str, subscription_id: str, delivery_ids: Sequence[str], by: Actor) -> int:
    """Begin a new round for those of these that are exhausted; returns how many that were."""
    return _refire(account_id, subscription_id, by, Delivery.id.in_(delivery_ids))


def refire_range(account_id: str, subscription_id: str, by: Actor, *, since: int, until: int, event: str = "") -> int:
    """Begin a new round for what was queued from `since` to `until` (epoch ms, inclusive) and is exhausted.

    Returns how many deliveries that were; `event` leaves out the others.
    """
    return _refire(account_id, subscription_id, by, *of_range(since, until, event))


def of_range(since: int, until: int, event: str) -> list[ColumnElement[bool]]:
    """The conditions of what `refire_range` looks for among a subscription's `EXHAUSTED` ones."""
    conditions = queued_between(since, until)
    if event:
        conditions.append(Delivery.event == event)
    return conditions


def _refire(account_id: str, subscription_id: str, by: Actor, *conditions: ColumnElement[bool]) -> int:
    subscription = get(account_id, subscription_id)
    count = _begin_round(Delivery.subscription_id == subscription.id, *conditions)
    if count:
        changes = {"deliveries": [None, count]}
        audit.record(account_id, by, "webhook.refired", subscription.id, subscription.url, changes)
    return count


def _begin_round(*conditions: ColumnElement[bool]) -> int:
    again = EXHAUSTED, *conditions
    lock_in_order(*again)
    begun = db.session.execute(
        update(Delivery)
        .where(*again)
        .values(
            state="queued", attempts=0, round=Delivery.round + 1, due_at=clock.now_ms(), settled_at=None, lease_until=0
        )
        .execution_options(synchronize_session=False)
    )
    assert isinstance(begun, CursorResult)
    if begun.rowcount:
        wake_after_commit()
    return begun.rowcount
