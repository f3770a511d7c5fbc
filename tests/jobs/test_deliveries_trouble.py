"""A database that is away for a while, and a drain that breaks: what living senders have is not sent again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from core import clock
from core.db import db, transaction
from core.settings import Settings
from domain.events.delivery.results import Ladder, Outcome, settle
from jobs import deliveries
from tests.jobs import hooks
from tests.servers.receiver import Got, Receiver, receiver
from tests.world import World


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


@pytest.fixture
def settings(app: Flask) -> Iterator[Settings]:
    with hooks.settings(app, webhook_timeout_seconds=60) as made:  # a receiver may be held meanwhile
        yield made


@contextmanager
def no_deliveries_to_be_had() -> Iterator[None]:
    """Whoever asks the database for deliveries is refused."""
    with transaction():
        db.session.execute(text("ALTER TABLE delivery RENAME TO delivery_away"))
    try:
        yield
    finally:
        with transaction():
            db.session.execute(text("ALTER TABLE delivery_away RENAME TO delivery"))


@pytest.mark.parametrize("look", [deliveries.sweep_aside, deliveries.drain])
def test_after_trouble_with_the_database_whoever_has_results_writes_them_first(
    settings: Settings, world: World, hook: Receiver, look: Callable[[], object]
) -> None:
    hooks.subscribe(world, hook.url)
    hooks.happen(world)
    with transaction():
        claims = hooks.claim(settings)
    with no_deliveries_to_be_had(), suppress(DBAPIError):
        look()
    hooks.let_leases_run_out()
    assert deliveries.drain() == 0, "its sender could not say that it goes on"
    with transaction():
        settle([Outcome(each, clock.now_ms(), 1, 200, None, b"", None) for each in claims], Ladder(3, [0]))
    assert hooks.states() == ["accepted"] and hook.got == []


def test_what_is_under_way_is_written_though_the_drain_breaks(
    app: Flask, settings: Settings, world: World, hook: Receiver
) -> None:
    goes_on = threading.Event()

    def answer(got: Got) -> int:
        goes_on.wait(60)
        return 200

    hook.answer = answer
    first, second = hooks.subscribe(world, hook.url), hooks.subscribe(world, hook.url, "file.deleted")
    hooks.happen(world, 3)

    def drain() -> int:
        with app.app_context():
            return deliveries.Drain(settings).run()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(drain)
        hooks.until(lambda: len(hook.got) == 3)
        with hooks.settings(app, secret_key=None):  # no secret that is not known yet can be read
            hooks.happen(world, 1, "file.deleted")
            hooks.until(lambda: bool(hooks.rows(second)[0].lease_generation))
            goes_on.set()
            assert isinstance(running.exception(60), AttributeError)
    assert set(hooks.states(first)) == {"accepted"} and len(hook.got) == 3
    hooks.let_leases_run_out()
    assert deliveries.drain() == 1 and len(set(hook.ids)) == 4
