"""Two that change the same deliveries at once: neither waits for the other for ever."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from operator import attrgetter

import pytest
from flask import Flask
from sqlalchemy import select, text, update

from core import clock
from core.db import db, is_postgresql, transaction
from domain.events.delivery import Delivery
from domain.events.delivery.claiming import Claim
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


@pytest.fixture
def claims(app: Flask, world: World) -> list[Claim]:
    """Two deliveries in the hands of a sender, by id."""
    if not is_postgresql():
        pytest.skip("SQLite has one writer")
    hooks.subscribe(world, "http://receiver.example/hook")
    hooks.happen(world, 2)
    with transaction(), hooks.settings(app) as settings:
        return sorted(hooks.claim(settings), key=attrgetter("delivery_id"))


def test_late_results_and_the_leases_they_lost_are_written_in_one_order(app: Flask, claims: list[Claim]) -> None:
    first, second = claims
    lease(second, 1)  # written anew, the first one comes last where the table is read as it lies
    lease(first, 1)
    both_at_once(app, [write_results, put_right], claims, held=first)
    assert hooks.states() == ["accepted", "accepted"]


def test_two_kinds_of_wrong_do_not_stand_in_the_way_of_late_results(app: Flask, claims: list[Claim]) -> None:
    first, second = claims
    lease(second, 1)
    lease(first, clock.now_ms() + clock.DAY_MS)  # by a clock that was set back
    both_at_once(app, [put_right, write_results], claims, held=second)
    assert hooks.states() == ["accepted", "accepted"]


def lease(claim: Claim, until: int) -> None:
    with transaction():
        db.session.execute(update(Delivery).where(Delivery.id == claim.delivery_id).values(lease_until=until))


def write_results(claims: list[Claim]) -> None:
    with transaction():
        settle([Outcome(each, clock.now_ms(), 1, 200, None, b"", None) for each in claims], Ladder(3, [0]))


def put_right(_claims: list[Claim]) -> None:
    hooks.mend(90_000)


def both_at_once(
    app: Flask, both: Sequence[Callable[[list[Claim]], None]], claims: list[Claim], *, held: Claim
) -> None:
    """One after the other they come to wait for a third, who holds this delivery; then it lets go."""

    def begin(each: Callable[[list[Claim]], None]) -> None:
        with app.app_context():
            each(claims)

    with ThreadPoolExecutor(2) as pool, db.engine.connect() as holder:
        holder.execute(select(Delivery.id).where(Delivery.id == held.delivery_id).with_for_update())
        begun: list[Future[None]] = []
        for each in both:
            begun.append(pool.submit(begin, each))
            wait_until_waiting(len(begun), begun)
        holder.rollback()
        for done in begun:
            done.result(60)
