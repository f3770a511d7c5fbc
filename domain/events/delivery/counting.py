"""Counts of deliveries for screens: how an account's went lately, and how many a re-fire would begin again."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, select

from core import clock
from core.db import db

from ..subscription import Subscription
from . import refiring
from .record import Delivery, queued_between


@dataclass(frozen=True)
class Lately:
    """An account's deliveries: what waits and what is given up now, and what came of those queued in 24 hours."""

    subscriptions: int
    waiting: int
    given_up: int
    accepted: int
    exhausted: int

    @property
    def success_rate(self) -> float | None:
        """Accepted among settled, 0 to 1; None where nothing was settled."""
        settled = self.accepted + self.exhausted
        return self.accepted / settled if settled else None


def lately(account_id: str) -> Lately:
    """How the account's deliveries stand. Looks at the subscriptions that are not deleted."""
    mine = list(
        db.session.scalars(
            select(Subscription.id).where(Subscription.account_id == account_id, Subscription.deleted_at.is_(None))
        )
    )
    if not mine:
        return Lately(0, 0, 0, 0, 0)
    today = queued_between(clock.now_ms() - clock.DAY_MS, None)
    return Lately(
        len(mine),
        waiting=_count(Delivery.subscription_id.in_(mine), Delivery.state == "queued"),
        given_up=_count(Delivery.subscription_id.in_(mine), Delivery.state == "exhausted"),
        accepted=_count(Delivery.subscription_id.in_(mine), Delivery.state == "accepted", *today),
        exhausted=_count(Delivery.subscription_id.in_(mine), Delivery.state == "exhausted", *today),
    )


def exhausted(subscription_id: str, since: int, until: int, event: str = "") -> int:
    """How many deliveries `refiring.refire_range` would begin again; times are epoch ms, inclusive."""
    mine = Delivery.subscription_id == subscription_id
    return _count(mine, refiring.EXHAUSTED, *refiring.of_range(since, until, event))


def _count(*conditions: ColumnElement[bool]) -> int:
    return db.session.scalar(select(func.count()).select_from(Delivery).where(*conditions)) or 0
