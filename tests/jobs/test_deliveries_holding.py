"""Sends that last longer than their lease, and secrets that cannot be read."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from flask import Flask

from jobs import deliveries
from tests.jobs import hooks
from tests.servers.receiver import Got, Receiver, receiver
from tests.world import World


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


def test_a_post_that_lasts_keeps_its_lease(app: Flask, world: World, hook: Receiver) -> None:
    goes_on = threading.Event()

    def answer(got: Got) -> int:
        goes_on.wait(60)
        return 200

    hook.answer = answer
    with hooks.settings(app, webhook_lease_seconds=8, webhook_timeout_seconds=60) as patient:
        hooks.subscribe(world, hook.url)
        hooks.happen(world)

        def drain() -> None:
            with app.app_context():
                deliveries.Drain(patient).run()

        sender = threading.Thread(target=drain)
        sender.start()
        hooks.until(lambda: len(hook.got) == 1)
        (row,) = hooks.rows()
        first_lease = row.lease_until
        hooks.until(lambda: hooks.rows()[0].lease_until > first_lease)
        assert deliveries.drain() == 0
        goes_on.set()
        sender.join(60)
    assert len(hook.got) == 1 and hooks.states() == ["accepted"]


def test_a_secret_that_cannot_be_read_is_a_failed_attempt_and_no_unsigned_post(
    app: Flask, world: World, hook: Receiver
) -> None:
    hooks.subscribe(world, hook.url)
    hooks.happen(world)
    with hooks.settings(app, secret_key="another key of the installation"):
        deliveries.drain()
    assert hook.got == [] and [row.last_error for row in hooks.rows()] == ["SECRET_UNREADABLE"]
