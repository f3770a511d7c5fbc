"""Webhooks of the tests, their deliveries as they stand, and the addresses of their pages."""

from __future__ import annotations

import html
import re
from typing import Any

from sqlalchemy import select

from core import clock
from core.db import db, transaction
from core.ids import first_of
from domain.events import event, subscription
from domain.events.audit import COMMAND_LINE
from domain.events.delivery import Delivery, DeliveryAttempt
from domain.events.subscription import Subscription
from tests.world import World

OPEN = "https://hooks.example.com/other"
USUAL = "https://hooks.example.com/in"


def given_up(
    world: World, webhook: str, number: int = 1, name: str = "campaign.updated", *, created_at: int = 0, **values: Any
) -> list[str]:
    """Deliveries to the webhook that were given up, with their last attempt; queued at `created_at` (epoch ms)."""
    with transaction():
        event.record_many(world.account_id, name, [{"number": each} for each in range(number)])
        waiting = select(Delivery).where(Delivery.subscription_id == webhook, Delivery.state == "queued")
        ids = []
        for each in db.session.scalars(waiting).all():
            now = clock.now_ms()
            each.state, each.attempts, each.last_status, each.last_error = "exhausted", 3, 500, "BAD_STATUS"
            each.last_sent_at = each.settled_at = now
            if created_at:
                each.id, each.created_at = first_of("dlv", created_at)[:-4] + each.id[-4:], created_at
            for key, value in values.items():
                setattr(each, key, value)
            db.session.add(
                DeliveryAttempt(
                    delivery_id=each.id, round=1, number=3, at=now, milliseconds=12, status=500, error="BAD_STATUS",
                    answer=b"no <b>room</b>\x00", address="192.0.2.1",
                )
            )  # fmt: skip
            ids.append(each.id)
        return ids


def kept_waiting(world: World, webhook: str, number: int = 1) -> None:
    """Deliveries come to wait for the webhook, which is switched off before any of them is sent."""
    with transaction():
        found = subscription.get(world.account_id, webhook, lock=True)
        subscription.set_active(found, True, COMMAND_LINE)
        event.record_many(world.account_id, "campaign.updated", [{"number": each} for each in range(number)])
        subscription.set_active(found, False, COMMAND_LINE)


def state_of(delivery_id: str) -> str:
    db.session.rollback()
    return db.session.scalars(select(Delivery.state).where(Delivery.id == delivery_id)).one()


def only(world: World) -> Subscription:
    db.session.rollback()
    return db.session.scalars(select(Subscription).where(Subscription.account_id == world.account_id)).one()


def at(world: World, webhook: str = "", *more: str) -> str:
    return "/".join((f"{world.acme}/webhooks", *([webhook] if webhook else []), *more))


def form_key(page: str) -> str:
    """The key that a form of the page carries."""
    found = re.search(r'name="form_key"[^>]* value="([^"]+)"', page)
    assert found is not None
    return found[1]


def visible(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
