"""A machine that has no thread left: nothing is lost, nothing is sent twice, and no attempt is burnt."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from flask import Flask
from sqlalchemy import text

from core.db import db, is_postgresql, transaction
from core.settings import Settings
from domain.events.delivery.claiming import CLAIM_LOCK
from jobs import deliveries
from tests.jobs import hooks
from tests.servers.receiver import Got, Receiver, receiver
from tests.world import World

# No address space has room for such a stack.
TOO_MUCH = 1 << 47


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


@pytest.fixture
def settings(app: Flask) -> Iterator[Settings]:
    with hooks.settings(app, webhook_timeout_seconds=60) as made:  # a receiver may be held meanwhile
        yield made


@contextmanager
def no_thread_left() -> Iterator[None]:
    """Whoever starts a thread is refused."""
    kept = threading.stack_size(TOO_MUCH)
    try:
        yield
    finally:
        threading.stack_size(kept)


def test_what_no_thread_can_be_had_for_is_given_back(settings: Settings, world: World, hook: Receiver) -> None:
    hooks.subscribe(world, hook.url)
    hooks.happen(world, 3)
    with no_thread_left():
        assert deliveries.Drain(settings).run() == 0
    assert given_back() == 3
    hooks.make_due()
    assert deliveries.drain() == 3 and len(set(hook.ids)) == 3


def test_a_drain_that_is_woken_meanwhile_keeps_no_claim_that_it_never_sent(
    settings: Settings, world: World, hook: Receiver
) -> None:
    hooks.subscribe(world, hook.url)
    hooks.happen(world, 3)
    with nobody_claims():
        deliveries.background.wake()
        deliveries.background.wake()
        kept = threading.stack_size(TOO_MUCH)
    try:
        hooks.until(lambda: not deliveries.background.is_running())
    finally:
        threading.stack_size(kept)
    assert given_back() == 3
    hooks.make_due()
    deliveries.sweep_aside()
    hooks.until(lambda: len(hook.got) == 3 and not deliveries.background.is_running())
    assert set(hooks.states()) == {"accepted"}


@contextmanager
def nobody_claims() -> Iterator[None]:
    """Who wants to claim waits until the end."""
    with transaction():
        db.session.execute(text(f"SELECT pg_advisory_xact_lock({CLAIM_LOCK})" if is_postgresql() else "SELECT 1"))
        yield


def test_results_under_way_are_written_where_no_further_thread_can_be_had(
    settings: Settings, world: World, hook: Receiver
) -> None:
    goes_on = threading.Event()

    def answer(got: Got) -> int:
        goes_on.wait(60)
        return 200

    hook.answer = answer
    hooks.subscribe(world, hook.url)
    hooks.happen(world, 3)
    deliveries.background.wake()
    hooks.until(lambda: len(hook.got) == 3)
    with no_thread_left():
        hooks.happen(world, 5)
        deliveries.background.wake()
        hooks.until(lambda: given_back() == 5)
    goes_on.set()
    hooks.until(lambda: hooks.count("accepted") == 8 and not deliveries.background.is_running())
    assert len(hook.ids) == len(set(hook.ids)) == 8


def given_back() -> int:
    """How many were claimed once, and are now as if nobody ever had."""
    claimed = [row for row in hooks.rows() if row.lease_generation]
    return sum((row.state, row.attempts, row.lease_until) == ("queued", 0, 0) for row in claimed)


def test_a_drain_that_could_not_start_is_started_by_the_next_sweep(
    settings: Settings, world: World, hook: Receiver
) -> None:
    hooks.subscribe(world, hook.url)
    hooks.happen(world, 3)
    with no_thread_left(), pytest.raises(RuntimeError, match="thread"):
        deliveries.sweep_aside()
    assert not deliveries.background.is_running()
    deliveries.sweep_aside()
    hooks.until(lambda: len(hook.got) == 3 and not deliveries.background.is_running())
