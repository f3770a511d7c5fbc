"""Two that change the same deliveries at once: neither waits for the other for ever."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from flask import Flask
from sqlalchemy import select, text, update

from core import clock
from core.db import db, is_postgresql, transaction
from domain.events.delivery import Delivery, claiming
from domain.events.delivery.results import Ladder, Outcome, settle
from tests.jobs import hooks
from tests.world import World


def wait_until_waiting(count: int, others: list[Future[None]]) -> None:
    """Until so many transactions wait for a lock of another."""
    waiting = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    deadline = time.monotonic() + 60
    while db.session.execute(waiting).scalar_one() < count:
        db.session.rollback()
        assert time.monotonic() < deadline and not any(each.done() for each in others), "nobody waits"
        time.sleep(0.02)
    db.session.rollback()


def test_late_results_and_the_leases_they_lost_are_written_in_one_order(app: Flask, world: World) -> None:
    if not is_postgresql():
        pytest.skip("SQLite has one writer")
    hooks.subscribe(world, "http://receiver.example/hook")
    hooks.happen(world, 2)
    now = clock.now_ms()
    with transaction():
        claims = claiming.claim(claiming.waiting(now), 2, 0, now, 90_000, 1 << 20)
    first = min(each.delivery_id for each in claims)
    with transaction():  # written anew, the first one comes last where the table is read as it lies
        db.session.execute(update(Delivery).where(Delivery.id != first).values(lease_until=1))
        db.session.execute(update(Delivery).where(Delivery.id == first).values(lease_until=1))

    def write_results() -> None:
        outcomes = [Outcome(each, now, 1, 200, None, b"", None) for each in claims]
        with app.app_context(), transaction():
            settle(outcomes, Ladder(3, [0]))

    def take_back() -> None:
        with app.app_context(), transaction():
            claiming.mend(90_000, clock.DAY_MS, take_back=True)

    with ThreadPoolExecutor(2) as pool, db.engine.connect() as holder:
        holder.execute(select(Delivery.id).where(Delivery.id == first).with_for_update())
        begun: list[Future[None]] = []
        both: list[Callable[[], None]] = [write_results, take_back]
        for each in both:
            begun.append(pool.submit(each))
            wait_until_waiting(len(begun), begun)
        holder.rollback()
        for done in begun:
            done.result(60)
    assert hooks.states() == ["accepted", "accepted"]
