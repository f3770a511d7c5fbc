"""Deliveries by a drain of this process, to real receivers on loopback, on both databases."""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections.abc import Iterator
from functools import partial

import pytest
import time_machine
from flask import Flask

from core import clock, metrics
from core.db import transaction
from core.errors import Refused
from core.settings import Settings
from domain.events import event, subscription
from domain.events.audit import COMMAND_LINE
from domain.events.delivery import refiring
from domain.events.delivery.results import GivenBack, Ladder, Outcome, settle
from jobs import deliveries
from jobs.deliveries import trust
from tests.jobs import hooks
from tests.servers.receiver import Got, Receiver, receiver
from tests.world import World


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


@pytest.fixture
def settings(app: Flask) -> Iterator[Settings]:
    with hooks.settings(app) as made:
        yield made


def test_an_event_reaches_its_subscription_signed(settings: Settings, world: World, hook: Receiver) -> None:
    subscription_id = hooks.subscribe(world, hook.url)
    before = clock.now_ms()
    hooks.happen(world, word="é\u2028")
    assert deliveries.drain() == 1
    (got,) = hook.got
    (row,) = hooks.rows(subscription_id)
    assert got.json | {"timestamp": 0} == {
        "id": row.id,
        "eventId": row.event_id,
        "event": "campaign.updated",
        "accountId": world.account_id,
        "timestamp": 0,
        "payload": {"number": 0, "word": "é\u2028"},
    }
    stamp = got.headers["x-service-timestamp"]
    assert before <= int(stamp) == got.json["timestamp"] <= clock.now_ms()
    assert got.headers["content-type"] == "application/json"
    assert got.headers["x-service-event"] == "campaign.updated"
    assert got.headers["x-service-delivery"] == row.id
    v1 = hmac.new(hooks.SECRET.encode(), got.body, hashlib.sha256).hexdigest()
    v2 = hmac.new(hooks.SECRET.encode(), stamp.encode() + b"." + got.body, hashlib.sha256).hexdigest()
    assert got.headers["x-service-signature"] == f"sha256={v1}"
    assert got.headers["x-service-signature-v2"] == f"t={stamp},sha256={v2}"
    assert (row.state, row.attempts, row.last_status, row.last_error) == ("accepted", 1, 200, None)
    (attempt,) = hooks.attempts()
    assert (attempt.number, attempt.round, attempt.status, attempt.answer) == (1, 1, 200, b"ok")
    assert attempt.at == int(stamp)


def test_without_a_secret_nothing_is_signed(settings: Settings, world: World, hook: Receiver) -> None:
    hooks.subscribe(world, hook.url, secret=None)
    hooks.happen(world)
    deliveries.drain()
    assert not [name for name in hook.got[0].headers if "signature" in name]


def test_only_who_listens_is_told(settings: Settings, world: World, hook: Receiver) -> None:
    listens = [hooks.subscribe(world, hook.url), hooks.subscribe(world, hook.url, "campaign.updated", "file.deleted")]
    hooks.subscribe(world, hook.url, "file.deleted")
    paused = hooks.subscribe(world, hook.url)
    hooks.change(world, paused, "set_active", False)
    hooks.happen(world)
    assert deliveries.drain() == 2
    assert sorted(row.subscription_id for row in hooks.rows()) == sorted(listens)
    assert len({got.json["eventId"] for got in hook.got}) == 1 and len(set(hook.ids)) == 2


def test_another_account_is_not_told(settings: Settings, world: World, hook: Receiver) -> None:
    hooks.subscribe(world, hook.url)
    with transaction():
        event.record(world.other_account_id, "campaign.updated", {"secret": True})
    assert deliveries.drain() == 0 and hook.got == []


def test_a_failing_receiver_is_asked_on_three_rungs_and_then_given_up(app: Flask, world: World, hook: Receiver) -> None:
    hook.answer = lambda got: 500
    with hooks.settings(app, webhook_backoff_seconds=(60, 120, 240)):
        subscription_id = hooks.subscribe(world, hook.url)
        start = clock.now_ms()
        hooks.happen(world)
        waited = []
        with time_machine.travel(start / 1000, tick=True) as traveller:
            for at in (0.2, 55, 90, 200, 240, 100_000):  # far from the rungs, for a machine that is slow
                traveller.move_to(start / 1000 + at)
                deliveries.drain()
                waited.append(len(hook.got))
        assert waited == [1, 1, 2, 2, 3, 3]
    (row,) = hooks.rows()
    assert (row.state, row.attempts, row.last_status, row.last_error) == ("exhausted", 3, 500, "BAD_STATUS")
    assert hooks.failure_count(subscription_id) == 1
    assert len(set(hook.ids)) == 1
    stamps = [got.json["timestamp"] for got in hook.got]
    assert stamps == sorted(set(stamps)) == [attempt.at for attempt in hooks.attempts()]


def test_a_receiver_that_comes_back_gets_what_waited(settings: Settings, world: World, hook: Receiver) -> None:
    answers = iter([503, 204])
    hook.answer = lambda got: next(answers)
    subscription_id = hooks.subscribe(world, hook.url)
    hooks.happen(world)
    assert [deliveries.drain(), deliveries.drain(), deliveries.drain()] == [1, 1, 0]
    assert hooks.states() == ["accepted"] and hooks.failure_count(subscription_id) == 0


@pytest.mark.parametrize(("status", "error"), [(301, "REDIRECT"), (404, "BAD_STATUS"), (503, "BAD_STATUS")])
def test_anything_but_a_2xx_is_a_failure(
    settings: Settings, world: World, hook: Receiver, status: int, error: str
) -> None:
    hook.answer = lambda got: status
    hooks.subscribe(world, hook.url)
    hooks.happen(world)
    deliveries.drain()
    assert [(row.state, row.last_error) for row in hooks.rows()] == [("queued", error)]


def test_fifty_deliveries_exhausted_at_once_count_fifty(settings: Settings, world: World, hook: Receiver) -> None:
    hook.answer = lambda got: 500
    subscription_id = hooks.subscribe(world, hook.url)
    hooks.happen(world, 50)
    assert [deliveries.drain() for _ in range(4)] == [50, 50, 50, 0]
    assert set(hooks.states()) == {"exhausted"} and hooks.failure_count(subscription_id) == 50


def test_two_drains_at_once_send_nothing_twice(app: Flask, settings: Settings, world: World, hook: Receiver) -> None:
    hook.seconds = 0.01
    for _ in range(3):
        hooks.subscribe(world, hook.url)
    hooks.happen(world, 100)

    def drain() -> None:
        with app.app_context():
            deliveries.Drain(settings).run()

    threads = [threading.Thread(target=drain) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(hook.got) == 300 == len(set(hook.ids))
    assert set(hooks.states()) == {"accepted"}


def test_one_subscription_alone_has_more_than_four_in_flight(settings: Settings, world: World, hook: Receiver) -> None:
    hook.seconds = 0.1
    hooks.subscribe(world, hook.url)
    hooks.happen(world, 60)
    deliveries.drain()
    assert 4 < hook.most_at_once <= deliveries.THREADS - deliveries.RESERVE + 4


def test_a_slow_receiver_does_not_hold_back_the_others(app: Flask, world: World, hook: Receiver) -> None:
    others_have_theirs = threading.Event()
    in_time: list[bool] = []

    def answer_at_last(got: Got) -> int:
        in_time.append(others_have_theirs.wait(45))
        return 200

    def answer(got: Got) -> int:
        if len(hook.got) == 100:
            others_have_theirs.set()
        return 200

    hook.answer = answer
    with receiver() as slow, hooks.settings(app, webhook_timeout_seconds=60):
        slow.answer = answer_at_last
        hooks.subscribe(world, slow.url, "file.deleted")
        hooks.subscribe(world, hook.url)
        hooks.happen(world, 100, "file.deleted")
        hooks.happen(world, 100)
        assert deliveries.drain() == 200
    assert in_time == [True] * 100


def test_what_waits_goes_when_the_subscription_is_active_again(
    settings: Settings, world: World, hook: Receiver
) -> None:
    subscription_id = hooks.subscribe(world, hook.url)
    hooks.happen(world, 2)
    hooks.change(world, subscription_id, "set_active", False)
    assert deliveries.drain() == 0 and hooks.states() == ["queued", "queued"]
    hooks.happen(world)
    assert len(hooks.rows()) == 2, "an inactive subscription gets no new deliveries"
    hooks.change(world, subscription_id, "set_active", True)
    assert deliveries.drain() == 2


def test_deleting_cancels_what_waits(settings: Settings, world: World, hook: Receiver) -> None:
    hook.answer = lambda got: 500
    subscription_id = hooks.subscribe(world, hook.url)
    hooks.happen(world, 2)
    deliveries.drain()
    hooks.change(world, subscription_id, "delete")
    assert deliveries.drain() == 0 and hooks.states() == ["cancelled", "cancelled"]
    assert [row.attempts for row in hooks.rows()] == [1, 1]


@pytest.mark.parametrize(("status", "state"), [(200, "accepted"), (500, "cancelled")])
def test_a_subscription_deleted_during_the_post_keeps_what_came_of_it(
    app: Flask, settings: Settings, world: World, hook: Receiver, status: int, state: str
) -> None:
    subscription_id = hooks.subscribe(world, hook.url)

    def answer(got: Got) -> int:
        with app.app_context():
            hooks.change(world, subscription_id, "delete")
        return status

    hook.answer = answer
    hooks.happen(world)
    deliveries.drain()
    deliveries.drain()
    assert hooks.states() == [state] and len(hook.got) == 1
    assert len(hooks.attempts()) == 1


def test_a_rotated_secret_signs_the_next_attempt(settings: Settings, world: World, hook: Receiver) -> None:
    hook.answer = lambda got: 500
    subscription_id = hooks.subscribe(world, hook.url)
    hooks.happen(world)
    deliveries.drain()
    secret = hooks.change(world, subscription_id, "rotate")
    deliveries.drain()
    keys = [hooks.SECRET, secret]
    for got, key in zip(hook.got, keys, strict=True):
        expected = hmac.new(key.encode(), got.body, hashlib.sha256).hexdigest()
        assert got.headers["x-service-signature"] == f"sha256={expected}"


def test_a_lost_lease_is_taken_back_under_the_same_id(settings: Settings, world: World, hook: Receiver) -> None:
    hooks.subscribe(world, hook.url)
    hooks.happen(world)
    with transaction():
        (lost,) = hooks.claim(settings)
    assert deliveries.drain() == 0, "somebody has it"
    hooks.let_leases_run_out()
    assert deliveries.drain() == 1 and hook.ids == [lost.delivery_id]


def test_a_late_result_changes_nothing(settings: Settings, world: World, hook: Receiver) -> None:
    subscription_id = hooks.subscribe(world, hook.url)
    hooks.happen(world)
    with transaction():
        (late,) = hooks.claim(settings)
    hooks.let_leases_run_out()
    assert deliveries.drain() == 1
    with transaction():
        settle([Outcome(late, 1, 1, 500, "BAD_STATUS", b"", None)], Ladder(1, [0]))
        settle([GivenBack(late)], Ladder(1, [0]))
    (row,) = hooks.rows()
    assert (row.state, row.attempts, row.last_status) == ("accepted", 1, 200)
    assert len(hooks.attempts()) == 1 and hooks.failure_count(subscription_id) == 0


def test_a_clock_set_back_does_not_hold_deliveries_for_an_hour(
    settings: Settings, world: World, hook: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks.subscribe(world, hook.url)
    with time_machine.travel(time.time() + 3600, tick=True):
        hooks.happen(world)
        with transaction():
            hooks.claim(settings)
        hooks.happen(world)
    assert deliveries.Drain(settings).run() == 1
    with time_machine.travel(time.time() + settings.webhook_lease_seconds + 1, tick=True):
        monkeypatch.setattr(trust, "leases", trust.LeaseTrust())
        assert deliveries.drain() == 1


def test_a_clock_set_back_by_minutes_does_not_hold_a_first_attempt(app: Flask, world: World, hook: Receiver) -> None:
    hook.answer = lambda got: 500
    with hooks.settings(app, webhook_backoff_seconds=(60, 120, 240)) as settings:
        hooks.subscribe(world, hook.url)
        with time_machine.travel(time.time() + 280, tick=True):
            hooks.happen(world)
        assert deliveries.Drain(settings).run() == 1
        assert deliveries.Drain(settings).run() == 0, "a retry waits for its rung"


def test_a_clock_that_jumps_ahead_ends_no_lease_whose_sender_may_live(
    settings: Settings, world: World, hook: Receiver
) -> None:
    hooks.subscribe(world, hook.url)
    hooks.happen(world)
    with transaction():
        hooks.claim(settings)
    leases = trust.LeaseTrust()
    assert leases.is_given(0.2)
    with time_machine.travel(time.time() + 3600, tick=True):
        assert not leases.is_given(0.2)
        hooks.until(lambda: leases.is_given(0.2))


def test_a_test_send_goes_to_that_subscription_alone(settings: Settings, world: World, hook: Receiver) -> None:
    tested, _other = hooks.subscribe(world, hook.url), hooks.subscribe(world, hook.url, "webhook.test")
    with transaction():
        event.test_send(subscription.get(world.account_id, tested), COMMAND_LINE)
    assert deliveries.drain() == 1
    assert hook.got[0].json["event"] == "webhook.test"
    assert hook.got[0].json["payload"]["subscription"]["subscriptionId"] == tested
    hooks.change(world, tested, "set_active", False)
    with pytest.raises(Refused, match="SUBSCRIPTION_INACTIVE"), transaction():
        event.test_send(subscription.get(world.account_id, tested), COMMAND_LINE)


def test_an_exhausted_delivery_is_fired_again_once(settings: Settings, world: World, hook: Receiver) -> None:
    hook.answer = lambda got: 500
    subscription_id = hooks.subscribe(world, hook.url)
    hooks.happen(world)
    (row,) = hooks.rows()
    refire = partial(refiring.refire, world.account_id, row.id, COMMAND_LINE)
    with pytest.raises(Refused, match="DELIVERY_NOT_EXHAUSTED"), transaction():
        refire()
    for _ in range(3):
        deliveries.drain()
    hook.answer = lambda got: 200
    with transaction():
        refire()
    with pytest.raises(Refused, match="DELIVERY_NOT_EXHAUSTED"), transaction():
        refire()
    assert deliveries.drain() == 1 and set(hook.ids) == {row.id}
    (row,) = hooks.rows()
    assert (row.state, row.round, row.attempts) == ("accepted", 2, 1)
    assert [(attempt.round, attempt.number) for attempt in hooks.attempts()] == [(1, 1), (1, 2), (1, 3), (2, 1)]
    assert hooks.failure_count(subscription_id) == 1, "it never resets"


def test_many_exhausted_deliveries_are_fired_again(settings: Settings, world: World, hook: Receiver) -> None:
    hook.answer = lambda got: 500
    subscription_id = hooks.subscribe(world, hook.url)
    hooks.happen(world, 5)
    for _ in range(3):
        deliveries.drain()
    chosen = [row.id for row in hooks.rows()][:2]
    with transaction():
        assert refiring.refire_selected(world.account_id, subscription_id, chosen, COMMAND_LINE) == 2
    with transaction():
        assert refiring.refire_selected(world.account_id, subscription_id, chosen, COMMAND_LINE) == 0
    now = clock.now_ms()
    with transaction():
        found = refiring.refire_range(world.account_id, subscription_id, COMMAND_LINE, since=now + 1, until=now + 9)
        assert found == 0
        found = refiring.refire_range(world.account_id, subscription_id, COMMAND_LINE, since=0, until=now)
        assert found == 3
    hook.answer = lambda got: 200
    assert deliveries.drain() == 5
    hooks.change(world, subscription_id, "delete")
    with pytest.raises(Refused, match="SUBSCRIPTION_DELETED"), transaction():
        refiring.refire(world.account_id, chosen[0], COMMAND_LINE)


def test_a_private_address_is_refused_and_counted(app: Flask, world: World, hook: Receiver) -> None:
    with hooks.settings(app, webhook_allow_private_hosts=False):
        hooks.subscribe(world, hook.url)
        hooks.happen(world)
        assert deliveries.drain() == 1
    assert hook.got == []
    assert [row.last_error for row in hooks.rows()] == ["ADDRESS_REFUSED"]
    shown = metrics.exposition().decode()
    assert "assessor_webhook_addresses_blocked_total 1.0" in shown
    assert 'assessor_webhook_first_post_seconds_bucket{le="+Inf"} 1.0' in shown


def test_the_command_sends_what_is_due_and_says_how_much(
    app: Flask, settings: Settings, world: World, hook: Receiver
) -> None:
    hooks.subscribe(world, hook.url)
    hooks.happen(world, 3)
    ran = app.test_cli_runner().invoke(args=["drain"])
    assert (ran.exit_code, ran.output) == (0, "3\n")
    assert len(hook.got) == 3
