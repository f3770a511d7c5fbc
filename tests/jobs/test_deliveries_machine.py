"""Claim, send, crash, expire, result, in any order: nothing is lost, and nothing is sent twice without a crash."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import pytest
from flask import Flask
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule, run_state_machine_as_test

from core import clock
from core.db import db, transaction
from domain.events.audit import COMMAND_LINE
from domain.events.delivery import claiming, refiring
from domain.events.delivery.claiming import Claim
from domain.events.delivery.results import GivenBack, Ladder, Outcome, settle
from tests import world as worlds
from tests.conftest import _empty
from tests.jobs import hooks
from tests.world import World

LADDER = Ladder(3, [0])
LEASE_MS = 60_000


class Senders(RuleBasedStateMachine):
    """Senders hold claims. `accepted` counts the POSTs that a receiver took, `excused` those that a crash repeats."""

    held: Bundle[Claim] = Bundle("held")

    def __init__(self) -> None:
        super().__init__()
        _empty()
        self.world: World = worlds.build()
        self.subscription = hooks.subscribe(self.world, "http://receiver.example/hook")
        self.queued = 0
        self.posts: Counter[tuple[str, int]] = Counter()
        self.crashes: Counter[str] = Counter()
        self.accepted: set[str] = set()
        self.posted: dict[str, bool] = {}

    @rule(times=st.integers(1, 3))
    def happen(self, times: int) -> None:
        hooks.happen(self.world, times)
        self.queued += times

    @rule(target=held)
    def claim(self) -> Claim | None:
        """One sender claims one delivery."""
        now = clock.now_ms()
        with transaction():
            found = claiming.claim(claiming.waiting(now), 1, 0, now, LEASE_MS, 1 << 20)
        if not found:
            return None
        assert found[0].delivery_id not in self.accepted, "an accepted delivery was claimed again"
        return found[0]

    @rule(claim=consumes(held), accepts=st.booleans())
    def send_and_write(self, claim: Claim | None, accepts: bool) -> None:
        if claim is None:
            return
        is_ours = self._generation(claim) == claim.generation
        self._post(claim)
        outcome = Outcome(claim, clock.now_ms(), 1, 200 if accepts else 500, None if accepts else "BAD_STATUS", b"", "")
        with transaction():
            settle([outcome], LADDER)
        if accepts and is_ours:
            self.accepted.add(claim.delivery_id)

    @rule(claim=consumes(held), has_posted=st.booleans())
    def crash(self, claim: Claim | None, has_posted: bool) -> None:
        """The process is killed before or after the POST; its lease runs out in time."""
        if claim is None:
            return
        if has_posted:
            self._post(claim)
        self.crashes[claim.delivery_id] += 1

    @rule(claim=consumes(held))
    def stop(self, claim: Claim | None) -> None:
        """SIGTERM before the POST: no attempt is burnt."""
        if claim is None:
            return
        before = self._attempts(claim)
        with transaction():
            settle([GivenBack(claim)], LADDER)
        assert self._attempts(claim) == before

    @rule(claim=consumes(held))
    def suspend_until_the_lease_is_over(self, claim: Claim | None) -> None:
        """A sender is frozen, its lease is taken back, and its result comes late: it may repeat, as a crash does."""
        if claim is None:
            return
        self.crashes[claim.delivery_id] += 1
        self._post(claim)
        self.expire()
        taken = self.claim_all()
        standing = hooks.rows()
        with transaction():
            settle([Outcome(claim, clock.now_ms(), 1, 500, "BAD_STATUS", b"", None)], LADDER)
        assert [_seen(row) for row in hooks.rows()] == [_seen(row) for row in standing] or not taken
        with transaction():
            settle([GivenBack(each) for each in taken], LADDER)

    @rule()
    def expire(self) -> None:
        """Time goes by: every lease runs out, and what was held is excused to be sent again."""
        for row in hooks.rows():
            if row.lease_until:
                self.crashes[row.id] += 1
        hooks.let_leases_run_out()
        hooks.mend(LEASE_MS)

    @rule()
    def refire(self) -> None:
        with transaction():
            refiring.refire_range(self.world.account_id, self.subscription, COMMAND_LINE, since=0, until=clock.now_ms())

    @rule()
    def pause_and_resume(self) -> None:
        hooks.change(self.world, self.subscription, "set_active", False)
        assert claiming.waiting(clock.now_ms()) == []
        hooks.change(self.world, self.subscription, "set_active", True)

    @invariant()
    def nothing_is_lost(self) -> None:
        rows = hooks.rows()
        assert len(rows) == self.queued
        assert {row.id for row in rows if row.state == "accepted"} >= self.accepted
        assert all(row.state in ("queued", "accepted", "exhausted") for row in rows)

    @invariant()
    def the_failures_are_counted_once_for_each_round(self) -> None:
        exhausted = sum(row.round - 1 + (row.state == "exhausted") for row in hooks.rows())
        assert hooks.failure_count(self.subscription) == exhausted

    @invariant()
    def nothing_is_sent_twice_without_a_crash(self) -> None:
        for (delivery_id, _attempt), posts in self.posts.items():
            assert posts <= 1 + self.crashes[delivery_id]

    def teardown(self) -> None:
        """At last somebody sends everything that waits, and each delivery ends accepted or exhausted."""
        self.expire()
        for _ in range(20):
            claims = self.claim_all()
            outcomes = [Outcome(claim, clock.now_ms(), 1, 200, None, b"", None) for claim in claims]
            with transaction():
                settle(outcomes, LADDER)
            if not claims:
                break
        assert all(row.state in ("accepted", "exhausted") for row in hooks.rows())
        db.session.rollback()

    def claim_all(self) -> list[Claim]:
        now = clock.now_ms()
        with transaction():
            return claiming.claim(claiming.waiting(now), 64, 0, now, LEASE_MS, 1 << 20)

    def _post(self, claim: Claim) -> None:
        self.posts[claim.delivery_id, claim.round * 100 + claim.attempts] += 1

    def _generation(self, claim: Claim) -> int:
        return next(row.lease_generation for row in hooks.rows() if row.id == claim.delivery_id)

    def _attempts(self, claim: Claim) -> int:
        return next(row.attempts for row in hooks.rows() if row.id == claim.delivery_id)


def _seen(row: object) -> tuple[object, ...]:
    return tuple(getattr(row, name) for name in ("id", "state", "attempts", "round", "lease_generation", "last_error"))


@pytest.fixture
def _quiet(app: Flask) -> Iterator[None]:
    """Without a queue: thousands of wake-ups would only slow the machine."""
    app.extensions["assessor_queue"].breaker._open_until = math.inf
    yield
    app.extensions["assessor_queue"].breaker._open_until = 0


def test_no_order_of_things_loses_or_repeats(app: Flask, _quiet: None) -> None:
    few = settings(
        max_examples=40,
        stateful_step_count=25,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    run_state_machine_as_test(Senders, settings=few)
