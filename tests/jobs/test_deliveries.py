"""Deliveries by a drain of this process, to real receivers on loopback, on both databases."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator

import pytest
from flask import Flask

from core import clock
from core.settings import Settings
from jobs import deliveries
from tests.jobs import hooks
from tests.servers.receiver import Receiver, receiver
from tests.world import World


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


@pytest.fixture
def settings(app: Flask) -> Iterator[Settings]:
    with hooks.settings(app) as made:
        yield made


def test_an_event_reaches_its_subscription_signed(settings: Settings, world: World, hook: Receiver) -> None:
    subscription_id = hooks.subscribe(world, hook.url)
    before = clock.now_ms()
    hooks.happen(world, word="é\u2028")
    assert deliveries.drain() == 1
    (got,) = hook.got
    (row,) = hooks.rows(subscription_id)
    assert got.json | {"timestamp": 0} == {
        "id": row.id,
        "eventId": row.event_id,
        "event": "campaign.updated",
        "accountId": world.account_id,
        "timestamp": 0,
        "payload": {"number": 0, "word": "é\u2028"},
    }
    stamp = got.headers["x-service-timestamp"]
    assert before <= int(stamp) == got.json["timestamp"] <= clock.now_ms()
    assert got.headers["content-type"] == "application/json"
    assert got.headers["x-service-event"] == "campaign.updated"
    assert got.headers["x-service-delivery"] == row.id
    v1 = hmac.new(hooks.SECRET.encode(), got.body, hashlib.sha256).hexdigest()
    v2 = hmac.new(hooks.SECRET.encode(), stamp.encode() + b"." + got.body, hashlib.sha256).hexdigest()
    assert got.headers["x-service-signature"] == f"sha256={v1}"
    assert got.headers["x-service-signature-v2"] == f"t={stamp},sha256={v2}"
    assert (row.state, row.attempts, row.last_status, row.last_error) == ("accepted", 1, 200, None)
    (attempt,) = hooks.attempts()
    assert (attempt.number, attempt.round, attempt.status, attempt.answer) == (1, 1, 200, b"ok")
    assert attempt.at == int(stamp)
