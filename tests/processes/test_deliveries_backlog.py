"""Many deliveries at once, and many workers: what an outage left behind, and workers that come and go."""

from __future__ import annotations

import threading
from collections import Counter
from functools import partial

from flask.testing import FlaskClient

from tests import world as worlds
from tests.jobs import hooks
from tests.processes.parts import (
    LONG_LEASE,
    MOST_MIB,
    Parts,
    all_accepted,
    each_once,
    family,
    on_sqlite,
    peak_mib,
    stop_in_time,
    wait_for,
)
from tests.servers.receiver import Got, Receiver, receiver
from tests.world import World


def test_what_an_outage_left_behind_goes_without_holding_anybody_back(
    parts: Parts, world: World, hook: Receiver
) -> None:
    with receiver() as slow:
        goes_on = threading.Event()

        def in_the_end(_got: Got) -> int:
            goes_on.wait(10)
            return 200

        slow.answer = in_the_end
        long = hooks.subscribe(world, slow.url, "file.deleted")
        for _ in range(4):
            hooks.subscribe(world, hook.url)
        hooks.happen(world, 100, "file.deleted", filler="x" * 100_000)  # the slow one's wait first, and are long
        hooks.happen(world, 100)
        worker = parts.start("loop", WEBHOOK_TIMEOUT_SECONDS="14", **LONG_LEASE)
        wait_for(lambda: slow.got and hook.got)
        wait_for(lambda: len(hook.got) == 400)
        hooks.happen(world)
        wait_for(lambda: len(hook.got) == 404)
        assert len(slow.got) < 100, "neither they nor what is new waits behind the slow one's"
        wait_for(lambda: len(slow.got) >= 20)
        hooks.change(world, long, "delete")
        goes_on.set()
        assert slow.most_at_once <= 44, "some senders are kept free for those who come later"
        wait_for(lambda: set(hooks.states()) == {"accepted", "cancelled"} and not hooks.leased())
        assert len(set(hook.ids)) == 404 == len(hook.got) and len(set(slow.ids)) == len(slow.got)
    assert peak_mib(worker.pid) < MOST_MIB


def has_got(hook: Receiver, number: int) -> bool:
    return len(hook.got) >= number


def test_two_workers_and_a_loop_send_each_once(parts: Parts, world: World, hook: Receiver) -> None:
    hooks.subscribe(world, hook.url)
    for part in ("taker", "taker", "loop"):
        parts.start(part, **LONG_LEASE)
    for count in range(1, 31):
        hooks.happen(world)
        wait_for(partial(has_got, hook, count))
    hooks.happen(world, 300)
    wait_for(all_accepted)
    each_once(hook, 330)


def test_ten_thousand_due_at_once_after_an_outage_go_once_while_pages_answer(
    parts: Parts, world: World, hook: Receiver, alice: FlaskClient
) -> None:
    down, up = (hooks.subscribe(world, hook.url) for _ in range(2))
    hooks.happen(world, 5_000)
    hooks.failed_once(down)
    worker = parts.start(**LONG_LEASE)

    def all_sent_while_people_work() -> bool:
        assert alice.get(f"{world.acme}/webhooks/{up}").status_code == 200
        worlds.add_participant(world, f"p{len(hook.got)}@example.com")
        return hooks.count("accepted") == 10_000

    wait_for(all_sent_while_people_work, 120)
    assert len(hook.got) == 10_000 == len(set(hook.ids))
    assert Counter(attempt.number for attempt in hooks.attempts()) == {1: 5_000, 2: 5_000}
    peaks = {(pid, command): peak_mib(pid) for pid, command in family(worker).items()}
    assert max(peaks.values()) < MOST_MIB, peaks


@on_sqlite
def test_a_worker_that_is_started_anew_again_and_again_under_load_sends_each_once(
    parts: Parts, world: World, hook: Receiver
) -> None:
    hook.seconds = 0.1
    hooks.subscribe(world, hook.url)
    for times in (1, 2):
        worker = parts.start(**LONG_LEASE)
        hooks.happen(world, 300)
        wait_for(partial(has_got, hook, 200 * times + 1))
        stop_in_time(worker, 20)
    parts.start("loop")
    wait_for(all_accepted)
    each_once(hook, 600)
