"""Subscriptions: what may be registered, who sees them, and where their secret is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from pydantic import ValidationError
from sqlalchemy import select, text

from contract.webhooks import WebhookPatch, WebhookRegister
from core import vault
from core.db import db, transaction
from core.errors import NotFound, Refused
from domain.events import event, subscription
from domain.events.audit import ACTIONS, COMMAND_LINE, AuditEntry
from domain.events.subscription import Subscription
from tests.world import World

URL = "https://hooks.example.com/assessor"
SECRET = "sixteen letters and more"


def register(world: World, *events: str, secret: str | None = SECRET) -> str:
    body = WebhookRegister(url=URL, events=list(events or ("participant.joined",)), secret=secret)
    with transaction():
        return subscription.register(world.account_id, body, COMMAND_LINE).id


@pytest.fixture
def subscription_id(world: World) -> Iterator[str]:
    yield register(world)


def test_a_registered_subscription_shows_everything_but_its_secret(world: World, subscription_id: str) -> None:
    shown: dict[str, Any] = {**subscription.as_public(subscription.get(world.account_id, subscription_id))}
    assert shown.pop("createdAt") == shown.pop("updatedAt") > 0
    assert shown == {
        "subscriptionId": subscription_id,
        "url": URL,
        "events": ["participant.joined"],
        "isActive": True,
        "deliveryFailureCount": 0,
        "signed": True,
    }
    unsigned = register(world, secret=None)
    assert subscription.as_public(subscription.get(world.account_id, unsigned))["signed"] is False


def test_a_secret_stands_nowhere_in_the_database(world: World, subscription_id: str) -> None:
    with transaction():
        rotated = subscription.rotate(subscription.get(world.account_id, subscription_id), COMMAND_LINE)
    for secret in (SECRET, rotated):
        for table in ("webhook_subscription", "audit_entry", "event", "delivery"):
            rows = db.session.execute(text(f"SELECT * FROM {table}")).all()
            assert secret not in repr(rows)
    sealed = subscription.get(world.account_id, subscription_id).sealed_secret
    assert sealed is not None and vault.unseal(sealed) == rotated and rotated != SECRET


def test_rotation_gives_an_unsigned_subscription_a_secret(world: World) -> None:
    found = register(world, secret=None)
    with transaction():
        assert len(subscription.rotate(subscription.get(world.account_id, found), COMMAND_LINE)) >= 32
    assert subscription.as_public(subscription.get(world.account_id, found))["signed"] is True


def test_unknown_events_are_refused_by_name(world: World) -> None:
    with pytest.raises(Refused) as refused:
        register(world, "participant.joined", "participant.vanished", "nothing")
    assert refused.value.code == "UNKNOWN_EVENT_TYPES"
    assert refused.value.params["unknown"] == ["participant.vanished", "nothing"]


@pytest.mark.parametrize(
    "body",
    [
        {"url": URL, "events": []},
        {"url": URL, "events": ["participant.joined", "participant.joined"]},
        {"url": URL, "events": ["participant.joined"], "secret": "fifteen letters"},
        {"url": URL, "events": ["participant.joined"], "secret": "x" * 257},
        {"url": URL, "events": ["participant.joined"], "accountId": "acc_1"},
        {"events": ["participant.joined"]},
    ],
)
def test_a_body_outside_the_contract_is_refused(body: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        WebhookRegister.model_validate(body)


def test_only_is_active_can_be_changed() -> None:
    assert WebhookPatch.model_validate({"isActive": False}).is_active is False
    for body in ({}, {"isActive": "no"}, {"isActive": True, "url": URL}):
        with pytest.raises(ValidationError):
            WebhookPatch.model_validate(body)


def test_another_account_sees_nothing(world: World, subscription_id: str) -> None:
    with pytest.raises(NotFound):
        subscription.get(world.other_account_id, subscription_id)
    assert list(db.session.scalars(subscription.of_account(world.other_account_id))) == []
    assert subscription.listening(world.other_account_id, "participant.joined") == []


def test_a_deleted_subscription_is_gone_and_forgets_its_secret(world: World, subscription_id: str) -> None:
    with transaction():
        subscription.delete(subscription.get(world.account_id, subscription_id, lock=True), COMMAND_LINE)
    with pytest.raises(NotFound):
        subscription.get(world.account_id, subscription_id)
    assert subscription.listening(world.account_id, "participant.joined") == []
    assert db.session.scalars(select(Subscription.sealed_secret)).one() is None


def test_every_change_is_logged_once(world: World, subscription_id: str) -> None:
    for is_active in (True, False, False, True):
        with transaction():
            subscription.set_active(subscription.get(world.account_id, subscription_id), is_active, COMMAND_LINE)
    with transaction():
        found = subscription.get(world.account_id, subscription_id)
        subscription.rotate(found, COMMAND_LINE)
        event.test_send(found, COMMAND_LINE)
        subscription.delete(found, COMMAND_LINE)
    logged = db.session.execute(
        select(AuditEntry.action, AuditEntry.changes).where(AuditEntry.action.like("webhook.%")).order_by(AuditEntry.id)
    ).all()
    assert [action for action, _changes in logged] == [
        "webhook.registered",
        "webhook.updated",
        "webhook.updated",
        "webhook.secret.rotated",
        "webhook.tested",
        "webhook.deleted",
    ]
    assert {action for action, _changes in logged} <= set(ACTIONS)


def test_a_secret_sealed_with_another_key_cannot_be_read(app: Flask, world: World, subscription_id: str) -> None:
    sealed = subscription.get(world.account_id, subscription_id).sealed_secret
    assert sealed is not None and SECRET not in sealed
    assert vault.seal(SECRET) != sealed, "the same secret looks different each time"
