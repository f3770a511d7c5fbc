"""How a drain is woken, with a real Valkey: at once, once, and never twice for what must come at most once."""

from __future__ import annotations

import socketserver
import threading
import time
from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.pool import QueuePool

from core import queue
from core.db import db, transaction
from core.metrics import exposition
from core.settings import Settings
from domain.events import event
from domain.events.delivery import record
from domain.events.event import Event
from jobs import deliveries, stopping
from tests.jobs import hooks
from tests.servers.receiver import Receiver, receiver
from tests.servers.valkey import Valkey
from tests.world import World

NAMES = ("registration.accepted", "communication.created", "communication.dispatch.queued")


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


@pytest.fixture
def settings(app: Flask) -> Iterator[Settings]:
    app.extensions["assessor_queue"].breaker._open_until = 0
    with hooks.settings(app) as made:
        yield made


@pytest.fixture
def cut_valkey(shared_valkey: Valkey) -> Iterator[Valkey]:
    """The queue, gone; it is back after the test."""
    shared_valkey.stop()
    yield shared_valkey
    shared_valkey.start()


def waiting_jobs() -> int:
    return int(queue.handle().queue.count)


def announce(world: World, name: str) -> None:
    with transaction():
        event.announce(world.account_id, name, {"registration": {}})


def test_many_changes_wake_one_drain(
    settings: Settings, world: World, hook: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "WAITING_SECONDS", 600)
    hooks.subscribe(world, hook.url)
    before = waiting_jobs()
    for _ in range(5):
        hooks.happen(world, 3)
    assert waiting_jobs() == before + 1
    queue.handle().begin(record.JOB)
    hooks.happen(world)
    assert waiting_jobs() == before + 2, "one that has begun may have looked already"


def test_what_nobody_listens_to_wakes_nobody(settings: Settings, world: World) -> None:
    before = waiting_jobs()
    hooks.happen(world)
    assert waiting_jobs() == before


def test_what_is_rolled_back_wakes_nobody(settings: Settings, world: World, hook: Receiver) -> None:
    hooks.subscribe(world, hook.url)
    before = waiting_jobs()
    with pytest.raises(ZeroDivisionError), transaction():
        event.record(world.account_id, "campaign.updated", {})
        raise ZeroDivisionError
    assert waiting_jobs() == before and hooks.rows() == []


def test_the_wake_up_drains_on_a_thread_of_its_own(settings: Settings, world: World, hook: Receiver) -> None:
    hooks.subscribe(world, hook.url)
    hooks.happen(world, 3)
    deliveries.wake()
    hooks.until(lambda: len(hook.got) == 3 and not deliveries.background.is_running())
    assert set(hooks.states()) == {"accepted"}


def test_a_wake_up_during_a_drain_is_not_lost(settings: Settings, world: World, hook: Receiver) -> None:
    hook.seconds = 0.02
    hooks.subscribe(world, hook.url)
    for _ in range(20):
        hooks.happen(world)
        deliveries.wake()
        time.sleep(0.01)
    hooks.until(lambda: len(hook.got) == 20 and not deliveries.background.is_running())
    assert len(set(hook.ids)) == 20


def test_the_sweep_drains_without_redis(settings: Settings, world: World, hook: Receiver, cut_valkey: Valkey) -> None:
    hooks.subscribe(world, hook.url)
    hooks.happen(world, 2)
    deliveries.sweep_aside()
    hooks.until(lambda: len(hook.got) == 2 and not deliveries.background.is_running())


@pytest.mark.parametrize("name", NAMES)
def test_an_at_most_once_event_comes_after_the_commit(
    settings: Settings, world: World, hook: Receiver, name: str
) -> None:
    hooks.subscribe(world, hook.url, name)
    announce(world, name)
    assert deliveries.drain() == 1 and hook.got[0].json["event"] == name


@pytest.mark.parametrize("name", NAMES)
def test_an_at_most_once_event_without_its_queue_never_comes(
    settings: Settings, world: World, hook: Receiver, shared_valkey: Valkey, name: str
) -> None:
    subscription_id = hooks.subscribe(world, hook.url, name)
    shared_valkey.stop()
    try:
        announce(world, name)
    finally:
        shared_valkey.start()
    assert f'assessor_webhook_events_lost_total{{event="{name}"}} 1.0' in exposition().decode()
    deliveries.sweep_aside()
    assert deliveries.drain() == 0 and hook.got == [] and hooks.rows(subscription_id) == []
    assert db.session.scalar(select(func.count()).select_from(Event).where(Event.name == name)) == 0
    announce(world, name)
    assert deliveries.drain() == 1, "the queue is asked afresh, past the breaker"


def test_no_connection_to_the_database_is_held_while_the_queue_is_asked(
    app: Flask, settings: Settings, world: World, hook: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[int] = []

    class Refusing(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            pool = engine.pool
            assert isinstance(pool, QueuePool)
            held.append(pool.checkedout())

    hooks.subscribe(world, hook.url, NAMES[0])
    engine = db.engine
    with socketserver.TCPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        away = queue.QueueHandle(f"redis://127.0.0.1:{server.server_address[1]}")
        monkeypatch.setitem(app.extensions, "assessor_queue", away)
        announce(world, NAMES[0])
        server.shutdown()
    assert held and set(held) == {0}


def test_an_at_most_once_event_of_a_change_that_fails_never_comes(
    settings: Settings, world: World, hook: Receiver
) -> None:
    hooks.subscribe(world, hook.url, NAMES[0])
    with pytest.raises(ZeroDivisionError), transaction():
        event.announce(world.account_id, NAMES[0], {})
        raise ZeroDivisionError
    assert deliveries.drain() == 0


def test_each_event_has_one_way(world: World) -> None:
    with pytest.raises(ValueError, match="announce"), transaction():
        event.record(world.account_id, NAMES[0], {})
    with pytest.raises(ValueError, match="record"), transaction():
        event.announce(world.account_id, "campaign.updated", {})


def test_a_drain_told_to_stop_finishes_its_posts_and_claims_no_more(
    settings: Settings, world: World, hook: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook.seconds = 0.3
    hooks.subscribe(world, hook.url)
    hooks.happen(world, 100)
    deliveries.wake()
    hooks.until(lambda: len(hook.got) >= 5)
    stop = [False]
    monkeypatch.setattr(stopping, "is_asked", lambda: stop[0])
    stop[0] = True
    deliveries.background.finish(10)
    rows = hooks.rows()
    assert {row.id for row in rows if row.state == "accepted"} == set(hook.ids)
    assert len(hook.ids) == len(set(hook.ids)) < 100
    left = [row for row in rows if row.state == "queued"]
    assert all((row.attempts, row.lease_until) == (0, 0) for row in left)
    stop[0] = False
    while deliveries.drain():
        pass
    assert len(hook.ids) == len(set(hook.ids)) == 100
