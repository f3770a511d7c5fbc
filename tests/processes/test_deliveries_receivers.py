"""Receivers that are down, slow or hostile, subscriptions that change between attempts, and an outage's backlog."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise

import pytest
from flask import Flask

from tests.jobs import hooks
from tests.outbound import receivers, test_guarded
from tests.outbound.receivers import Caller
from tests.processes.parts import SWEPT_SECONDS, Parts, on_sqlite, peak_mib, wait_for
from tests.servers.receiver import Got, Receiver, receiver
from tests.world import World

MOST_MIB = 200


@pytest.fixture
def parts(app: Flask) -> Iterator[Parts]:
    started = Parts(app)
    yield started
    started.stop()


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


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


def test_what_an_outage_left_behind_goes_without_holding_anybody_back(
    parts: Parts, world: World, hook: Receiver
) -> None:
    with receiver() as slow:
        slow.seconds = 3.0
        long = hooks.subscribe(world, slow.url, "file.deleted")
        for _ in range(4):
            hooks.subscribe(world, hook.url)
        hooks.happen(world, 100, "file.deleted", filler="x" * 100_000)  # the slow one's wait first, and are long
        hooks.happen(world, 100)
        worker = parts.start("loop")
        wait_for(lambda: slow.got and hook.got)
        began = time.monotonic()
        wait_for(lambda: len(hook.got) == 400)
        assert time.monotonic() - began < 3.0
        hooks.happen(world)
        assert wait_for(lambda: len(hook.got) == 404) < 3.0, "what is new does not wait behind the backlog"
        wait_for(lambda: len(slow.got) >= 20)
        hooks.change(world, long, "delete")
        assert slow.most_at_once <= 44, "some senders are kept free for those who come later"
        wait_for(lambda: set(hooks.states()) == {"accepted", "cancelled"} and not leased())
        assert len(set(hook.ids)) == 404 == len(hook.got) and len(set(slow.ids)) == len(slow.got)
    assert peak_mib(worker) < MOST_MIB


def leased() -> int:
    return sum(row.lease_until > 0 for row in hooks.rows())


def never_answers(caller: Caller) -> None:
    caller.read()
    caller.over.wait(5)


def drips_headers(caller: Caller) -> None:
    caller.read()
    caller.without_end(b"X", pause=0.05)


def floods_a_redirect(caller: Caller) -> None:
    caller.read()
    caller.say(b"HTTP/1.1 307 Elsewhere\r\nLocation: http://127.0.0.1:1/\r\n\r\n")
    caller.without_end(b"a" * 1_000_000)


def after_reading(say: Callable[[Caller], None]) -> Callable[[Caller], None]:
    return test_guarded.after_reading(say)


HOSTILE = (
    never_answers,
    drips_headers,
    floods_a_redirect,
    after_reading(test_guarded.floods_headers),
    after_reading(test_guarded.says_one_long_header),
    after_reading(test_guarded.floods_the_body),
    after_reading(test_guarded.floods_with_small_chunks),
    after_reading(test_guarded.floods_with_trailers),
    receivers.answers(b""),
    receivers.answers(b"\x00\xff garbage" * 1000),
)


@on_sqlite
def test_hostile_receivers_cost_no_memory_and_nobody_else_anything(parts: Parts, world: World, hook: Receiver) -> None:
    with ExitStack() as open_now:
        for behaviour in HOSTILE:
            hostile = open_now.enter_context(receivers.receiver(behaviour))
            hooks.subscribe(world, hostile.url(), "file.deleted")
        hooks.subscribe(world, hook.url)
        hooks.happen(world, 20, "file.deleted", filler="é" * 20_000)
        hooks.happen(world, 50)
        worker = parts.start("loop", WEBHOOK_TIMEOUT_SECONDS="1", WEBHOOK_MAX_ATTEMPTS="1")
        wait_for(lambda: hook.got)
        assert wait_for(lambda: len(hook.got) == 50) < 4.0
        wait_for(lambda: "queued" not in hooks.states(), 40)
        assert peak_mib(worker) < MOST_MIB
    assert len(hook.got) == 50 == len(set(hook.ids))
    assert len(hooks.attempts()) == 250
