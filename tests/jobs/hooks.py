"""What tests of deliveries share: subscriptions, events, and the rows as they stand."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from flask import Flask
from sqlalchemy import func, select, update

from contract.webhooks import WebhookRegister
from core import clock
from core.db import db, transaction
from core.settings import Settings
from domain.events import event, subscription
from domain.events.audit import COMMAND_LINE
from domain.events.delivery import Delivery, DeliveryAttempt, claiming, mending
from domain.events.delivery.claiming import Claim
from domain.events.subscription import Subscription
from tests.world import World

SECRET = "a secret of the receiver"


@contextmanager
def settings(app: Flask, **values: Any) -> Iterator[Settings]:
    """The app with other settings for a while; private receivers are allowed, and the ladder does not wait."""
    kept = app.config["SETTINGS"]
    wanted = {"webhook_allow_private_hosts": True, "webhook_backoff_seconds": (0.0,), **values}
    app.config["SETTINGS"] = replace(kept, **wanted)
    try:
        yield app.config["SETTINGS"]
    finally:
        app.config["SETTINGS"] = kept


def subscribe(world: World, url: str, *events: str, secret: str | None = SECRET) -> str:
    body = WebhookRegister.model_validate(
        {"url": url, "events": list(events or ("campaign.updated",)), "secret": secret}
    )
    with transaction():
        return subscription.register(world.account_id, body, COMMAND_LINE).id


def happen(world: World, times: int = 1, name: str = "campaign.updated", **payload: Any) -> None:
    """The event happens, some times, in one transaction."""
    with transaction():
        event.record_many(world.account_id, name, [{"number": number, **payload} for number in range(times)])


def change(world: World, subscription_id: str, what: str, *arguments: Any) -> Any:
    """Call a verb of the subscription in a transaction of its own."""
    with transaction():
        found = subscription.get(world.account_id, subscription_id, lock=True)
        return getattr(subscription, what)(found, *arguments, COMMAND_LINE)


def rows(subscription_id: str | None = None) -> list[Delivery]:
    db.session.rollback()
    query = select(Delivery).order_by(Delivery.id).execution_options(populate_existing=True)
    if subscription_id is not None:
        query = query.where(Delivery.subscription_id == subscription_id)
    return list(db.session.scalars(query))


def states(subscription_id: str | None = None) -> list[str]:
    return [row.state for row in rows(subscription_id)]


def count(state: str) -> int:
    """How many stand in this state, where there are too many to load."""
    db.session.rollback()
    return db.session.scalar(select(func.count()).select_from(Delivery).where(Delivery.state == state)) or 0


def failed_once(subscription_id: str) -> None:
    """What waits for this subscription has been tried in vain, and its next attempt is due."""
    with transaction():
        db.session.execute(update(Delivery).where(Delivery.subscription_id == subscription_id).values(attempts=1))


def leased() -> int:
    """How many are in the hands of a sender."""
    return sum(row.lease_until > 0 for row in rows())


def attempts() -> list[DeliveryAttempt]:
    db.session.rollback()
    return list(db.session.scalars(select(DeliveryAttempt).order_by(DeliveryAttempt.id)))


def failure_count(subscription_id: str) -> int:
    db.session.rollback()
    return db.session.scalars(select(Subscription.failure_count).where(Subscription.id == subscription_id)).one()


def claim(settings: Settings, most: int = 64) -> list[Claim]:
    """What a sender does first, inside the caller's transaction."""
    now = clock.now_ms()
    return claiming.claim(claiming.waiting(now), most, 0, now, settings.webhook_lease_ms, 1 << 20)


def mend(lease_ms: int, longest_wait_ms: int = clock.DAY_MS) -> None:
    """What a drain does once a second: each wrong is put right in a transaction of its own."""
    for wrong in mending.found_wrong(lease_ms, longest_wait_ms, take_back=True):
        with transaction():
            mending.mend(wrong)


def let_leases_run_out() -> None:
    """What their seconds come to when the sender is gone."""
    with transaction():
        db.session.execute(update(Delivery).where(Delivery.lease_until > 0).values(lease_until=1))


def make_due() -> None:
    """What waits for its time is due now."""
    with transaction():
        db.session.execute(update(Delivery).where(Delivery.state == "queued").values(due_at=clock.now_ms()))


def until(question: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until it is so; the seconds are patience, not a measure."""
    deadline = time.monotonic() + seconds
    while not question():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)
