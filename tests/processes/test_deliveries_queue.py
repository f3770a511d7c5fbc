"""Valkey away, lost with its keys, frozen: at-least-once events come by the sweep, at-most-once ones are counted."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from flask import Flask
from structlog.testing import capture_logs

from app import create_app
from core.db import db, transaction
from domain.events import event
from domain.events.catalogue import AT_MOST_ONCE
from domain.events.delivery import tally
from tests.jobs import hooks
from tests.processes.parts import SWEPT_SECONDS, Parts, all_accepted, each_once, has_taker, on_sqlite, wait_for
from tests.servers.receiver import Receiver
from tests.servers.valkey import Valkey
from tests.world import World

pytestmark = on_sqlite


@contextmanager
def with_queue(app: Flask, redis_url: str) -> Iterator[Parts]:
    """The same installation with a queue of its own, for this process too."""
    settings = replace(app.config["SETTINGS"], redis_url=redis_url)
    other = create_app(settings)
    with other.app_context():
        try:
            with Parts(other) as parts:
                yield parts
        finally:
            db.session.remove()
            db.engine.dispose()


def happens_and_arrives(world: World, hook: Receiver) -> None:
    before = len(hook.got)
    hooks.happen(world)
    wait_for(lambda: len(hook.got) == before + 1, SWEPT_SECONDS)


def announce(world: World, name: str) -> None:
    with transaction():
        event.announce(world.account_id, name, {"number": 1})


def lost() -> dict[str, int]:
    db.session.rollback()
    return {name: count for name, count in tally.counts().items() if name.startswith("lost.")}


def test_a_queue_lost_with_its_keys_costs_seconds_and_no_delivery(
    app: Flask, world: World, hook: Receiver, own_valkey: Valkey
) -> None:
    hook.seconds = 0.1
    hooks.subscribe(world, hook.url)
    with with_queue(app, own_valkey.url) as parts:
        parts.start("taker")
        wait_for(lambda: has_taker(own_valkey.url))
        happens_and_arrives(world, hook)  # by the wake-up: nobody sweeps yet
        parts.start("loop")
        hooks.happen(world, 200)
        wait_for(lambda: len(hook.got) > 50)
        own_valkey.stop()
        hooks.happen(world, 5)
        wait_for(lambda: len(hook.got) == 206)
        time.sleep(0.3)
        happens_and_arrives(world, hook)
        wait_for(lambda: set(hooks.states()) == {"accepted"})
        assert len(hook.got) == 207 == len(set(hook.ids))


def test_a_worker_without_redis_from_its_start_delivers(parts: Parts, world: World, hook: Receiver) -> None:
    hooks.subscribe(world, hook.url)
    parts.start("loop", REDIS_URL="unix:///nonexistent.sock")
    parts.start("taker", REDIS_URL="unix:///nonexistent.sock")
    hooks.happen(world, 5)
    wait_for(all_accepted)
    each_once(hook, 5)


def test_a_frozen_queue_holds_up_a_change_for_a_second_and_the_delivery_for_a_sweep(
    app: Flask, world: World, hook: Receiver, own_valkey: Valkey
) -> None:
    hooks.subscribe(world, hook.url)
    with with_queue(app, own_valkey.url) as parts:
        parts.start()
        wait_for(lambda: has_taker(own_valkey.url))
        own_valkey.freeze()
        try:
            with capture_logs() as said:
                for _ in range(2):
                    hooks.happen(world)
            told = Counter(line["event"] for line in said)
            assert (told["queue_away"], told["nudge_lost"]) == (1, 2), "once, and then the breaker holds"
            wait_for(lambda: len(hook.got) == 2, SWEPT_SECONDS)
        finally:
            own_valkey.thaw()
        wait_for(lambda: hooks.states() == ["accepted"] * 2)
        assert len(set(hook.ids)) == 2


@pytest.mark.parametrize("name", sorted(AT_MOST_ONCE))
def test_an_at_most_once_event_is_sent_while_the_queue_is_there(app: Flask, world: World, name: str) -> None:
    subscription_id = hooks.subscribe(world, "http://127.0.0.1:9/hook", name)
    announce(world, name)
    assert [row.event for row in hooks.rows(subscription_id)] == [name] and lost() == {}


def test_an_at_most_once_event_of_a_cut_queue_is_counted_and_never_comes(
    app: Flask, world: World, hook: Receiver, own_valkey: Valkey
) -> None:
    hooks.subscribe(world, hook.url, *AT_MOST_ONCE, "campaign.updated")
    first, second, third = sorted(AT_MOST_ONCE)
    with with_queue(app, own_valkey.url) as parts:
        parts.start()
        wait_for(lambda: has_taker(own_valkey.url))
        own_valkey.stop()
        announce(world, first)
        own_valkey.start()
        announce(world, second)  # past the breaker: a queue that is back loses nothing
        wait_for(lambda: len(hook.got) == 1, SWEPT_SECONDS)
        own_valkey.freeze()
        announce(world, third)
        own_valkey.thaw()  # which now finds in its socket what was asked in vain
        assert lost() == {f"lost.{first}": 1, f"lost.{third}": 1}
        happens_and_arrives(world, hook)
        time.sleep(3.0)  # longer than from one sweep to the next
    assert [got.json["event"] for got in hook.got] == [second, "campaign.updated"]
    assert sorted(row.event for row in hooks.rows()) == ["campaign.updated", second]
