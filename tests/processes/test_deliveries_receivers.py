"""Receivers that are down, slow or hostile, subscriptions that change between attempts, and an outage's backlog."""

from __future__ import annotations

import hashlib
import hmac
from itertools import pairwise

from tests.jobs import hooks
from tests.processes.parts import LONG_LEASE, SWEPT_SECONDS, Parts, on_sqlite, wait_for
from tests.servers.receiver import Got, Receiver, receiver
from tests.world import World


@on_sqlite
def test_a_receiver_that_is_back_in_time_gets_what_waited_and_one_that_is_not_is_given_up(
    parts: Parts, world: World
) -> None:
    with receiver() as first, receiver() as second:
        back, gone = first.url, second.url
        port = first.server.server_port
    subscribed, given_up = hooks.subscribe(world, back), hooks.subscribe(world, gone)
    parts.start("loop", WEBHOOK_BACKOFF_SECONDS="1,2,4")
    hooks.happen(world, 5)
    wait_for(lambda: {row.attempts for row in hooks.rows()} == {2})
    with receiver(port) as there:
        wait_for(lambda: hooks.states(subscribed) == ["accepted"] * 5)
        assert len(there.got) == 5
    wait_for(lambda: hooks.states(given_up) == ["exhausted"] * 5)
    assert {row.last_error for row in hooks.rows(given_up)} == {"CONNECT_REFUSED"}
    assert [hooks.failure_count(each) for each in (subscribed, given_up)] == [0, 5]
    assert {row.attempts for row in hooks.rows()} == {3}
    one = [attempt.at for attempt in hooks.attempts() if attempt.delivery_id == hooks.rows(given_up)[0].id]
    waits = [(later - earlier) / 1000 for earlier, later in pairwise(one)]
    assert all(rung <= wait < rung + SWEPT_SECONDS for rung, wait in zip((1, 2), waits, strict=True)), waits


def test_a_worker_sees_each_change_of_a_subscription_at_its_next_attempt(
    parts: Parts, world: World, hook: Receiver
) -> None:
    fails = True
    hook.answer = lambda got: 500 if fails else 200
    paused, deleted, rotated = (hooks.subscribe(world, f"{hook.url}/{name}") for name in ("paused", "gone", "new"))
    hooks.happen(world)
    parts.start("loop", WEBHOOK_BACKOFF_SECONDS="1.5")
    wait_for(lambda: len(hook.got) == 3)
    wait_for(lambda: {row.lease_until for row in hooks.rows()} == {0})
    hooks.change(world, paused, "set_active", False)
    hooks.change(world, deleted, "delete")
    secret = hooks.change(world, rotated, "rotate")
    fails = False
    wait_for(lambda: hooks.states(rotated) == ["accepted"])
    assert hooks.states(deleted) == ["cancelled"] and hooks.states(paused) == ["queued"]
    hooks.change(world, paused, "set_active", True)
    wait_for(lambda: hooks.states(paused) == ["accepted"])
    assert [got.path.split("/")[-1] for got in hook.got[3:]] == ["new", "paused"]
    assert [is_signed_with(got, hooks.SECRET) for got in hook.got] == [True, True, True, False, True]
    assert is_signed_with(hook.got[3], secret)


def is_signed_with(got: Got, secret: str) -> bool:
    expected = hmac.new(secret.encode(), got.body, hashlib.sha256).hexdigest()
    return got.headers["x-service-signature"] == f"sha256={expected}"


def test_fifty_given_up_by_two_workers_at_once_count_fifty(parts: Parts, world: World, hook: Receiver) -> None:
    hook.answer = lambda got: 500
    hook.seconds = 0.2
    failing = hooks.subscribe(world, hook.url)
    hooks.happen(world, 50)
    for part in ("loop", "loop"):
        parts.start(part, WEBHOOK_MAX_ATTEMPTS="1", **LONG_LEASE)
    wait_for(lambda: hooks.count("exhausted") == 50)
    assert hooks.failure_count(failing) == 50 == len(hook.got)
