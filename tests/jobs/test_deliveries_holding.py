"""Sends that last longer than their lease, and secrets that cannot be read."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from flask import Flask

from jobs import deliveries
from tests.jobs import hooks
from tests.servers.receiver import Receiver, receiver
from tests.world import World


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


def test_a_post_that_outlives_its_lease_keeps_it(app: Flask, world: World, hook: Receiver) -> None:
    hook.seconds = 2.5
    with hooks.settings(app, webhook_lease_seconds=1) as short:
        hooks.subscribe(world, hook.url)
        hooks.happen(world)

        def drain() -> None:
            with app.app_context():
                deliveries.Drain(short).run()

        sender = threading.Thread(target=drain)
        sender.start()
        while not hook.got:
            time.sleep(0.01)
        while sender.is_alive():
            assert deliveries.drain() == 0
            time.sleep(0.2)
    assert len(hook.got) == 1 and hooks.states() == ["accepted"]


def test_a_secret_that_cannot_be_read_is_a_failed_attempt_and_no_unsigned_post(
    app: Flask, world: World, hook: Receiver
) -> None:
    hooks.subscribe(world, hook.url)
    hooks.happen(world)
    with hooks.settings(app, secret_key="another key of the installation"):
        deliveries.drain()
    assert hook.got == [] and [row.last_error for row in hooks.rows()] == ["SECRET_UNREADABLE"]
