"""Subscriptions of other systems to an account's events (contract 2, service.md 4.2 and 6)."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, cast

from sqlalchemy import ForeignKey, Index, Select, Table, Text, bindparam, select
from sqlalchemy.orm import Mapped, mapped_column

import contract.webhooks as public
from contract.webhooks import WebhookRegister
from core import clock, vault
from core.db import EpochMs, Json, Model, as_created, connection, db, primary_key
from core.errors import NotFound, Refused
from core.ids import new_id

from . import audit
from .audit import Actor
from .catalogue import EVENTS
from .delivery import record as delivery


class Subscription(Model):
    """A URL and the events it is told. `sealed_secret` is encrypted; None means that deliveries are unsigned.

    A deleted row stays for the log of its deliveries; `failure_count` never resets.
    """

    __tablename__ = "webhook_subscription"

    id: Mapped[str] = primary_key("whk")
    account_id: Mapped[str] = mapped_column(Text, ForeignKey("account.id", ondelete="CASCADE"))
    url: Mapped[str] = mapped_column(Text)
    events: Mapped[Any] = mapped_column(Json)
    is_active: Mapped[bool] = mapped_column(default=True)
    failure_count: Mapped[int] = mapped_column(default=0)
    sealed_secret: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[int] = mapped_column(EpochMs, default=clock.now_ms)
    updated_at: Mapped[int] = mapped_column(EpochMs, default=as_created)
    deleted_at: Mapped[int | None] = mapped_column(EpochMs)

    __table_args__ = (Index("ix_webhook_subscription_account_id_id", "account_id", "id"),)


def register(account_id: str, body: WebhookRegister, by: Actor, *, subscription_id: str | None = None) -> Subscription:
    """A new, active subscription, under this id where one is given.

    Refuses events outside the catalogue by name; the URL was checked at the edge.
    """
    unknown = [name for name in body.events if name not in EVENTS]
    if unknown:
        raise Refused("UNKNOWN_EVENT_TYPES", path="events", unknown=unknown)
    sealed = vault.seal(body.secret) if body.secret is not None else None
    made = Subscription(
        id=subscription_id or new_id("whk"),
        account_id=account_id,
        url=body.url,
        events=list(body.events),
        sealed_secret=sealed,
    )
    db.session.add(made)
    db.session.flush()
    audit.record(account_id, by, "webhook.registered", made.id, made.url, {"events": [None, made.events]})
    return made


def set_active(subscription: Subscription, is_active: bool, by: Actor) -> None:
    """Pause or resume. What waits stays queued and goes when the subscription is active again."""
    if subscription.is_active == is_active:
        return
    subscription.is_active = is_active
    subscription.updated_at = clock.now_ms()
    db.session.flush()
    audit.record(
        subscription.account_id, by, "webhook.updated", subscription.id, subscription.url,
        {"isActive": [not is_active, is_active]},
    )  # fmt: skip
    if is_active:
        delivery.wake_after_commit()


def delete(subscription: Subscription, by: Actor) -> None:
    """End a subscription; what waited for it is cancelled."""
    subscription.deleted_at = subscription.updated_at = clock.now_ms()
    subscription.is_active = False
    subscription.sealed_secret = None
    db.session.flush()
    delivery.cancel_waiting(subscription.id)
    audit.record(subscription.account_id, by, "webhook.deleted", subscription.id, subscription.url)


def rotate(subscription: Subscription, by: Actor) -> str:
    """A new secret, returned this once; the next attempt of everything queued is signed with it."""
    secret = f"whsec_{secrets.token_urlsafe(32)}"
    subscription.sealed_secret = vault.seal(secret)
    subscription.updated_at = clock.now_ms()
    db.session.flush()
    audit.record(subscription.account_id, by, "webhook.secret.rotated", subscription.id, subscription.url)
    return secret


def get(account_id: str, subscription_id: str, *, lock: bool = False) -> Subscription:
    """The subscription, or `NotFound` where there is none in this account or it was deleted."""
    query = of_account(account_id).where(Subscription.id == subscription_id)
    found = db.session.scalar(query.with_for_update() if lock else query)
    if found is None:
        raise NotFound("webhook")
    return found


def of_account(account_id: str) -> Select[Subscription]:
    """The account's subscriptions in the order of their registration."""
    query = select(Subscription).where(Subscription.account_id == account_id, Subscription.deleted_at.is_(None))
    return query.order_by(Subscription.id)


_TABLE = cast(Table, Subscription.__table__)
# Made once: it is asked for every event.
_ACTIVE = select(_TABLE.c.id, _TABLE.c.events).where(
    _TABLE.c.account_id == bindparam("account_id"), _TABLE.c.is_active, _TABLE.c.deleted_at.is_(None)
)


def listening(account_id: str, name: str) -> Sequence[str]:
    """The ids of the active subscriptions that are told of this event."""
    active = connection().execute(_ACTIVE, {"account_id": account_id})
    return [subscription_id for subscription_id, events in active if name in events]


def as_public(subscription: Subscription) -> public.WebhookSubscription:
    """The public projection."""
    return {
        "subscriptionId": subscription.id,
        "url": subscription.url,
        "events": subscription.events,
        "isActive": subscription.is_active,
        "deliveryFailureCount": subscription.failure_count,
        "signed": subscription.sealed_secret is not None,
        "createdAt": subscription.created_at,
        "updatedAt": subscription.updated_at,
    }
