"""SIGTERM at awkward moments, with POSTs under way: the process ends in time, and no attempt is burnt or repeated."""

from __future__ import annotations

import json
import time

import pytest

from tests.jobs import hooks
from tests.processes.parts import (
    LONG_LEASE,
    Parts,
    all_accepted,
    each_once,
    has_taker,
    on_sqlite,
    stop_in_time,
    wait_for,
)
from tests.servers.receiver import Receiver
from tests.servers.valkey import Valkey
from tests.world import World

# A taker whose SIGTERM another thread takes, so that the main one, which alone can act on it, goes on waiting for jobs.
TOLD_ASIDE = """
import signal, sys, threading, time
from app import create_app
from jobs import taker

class Told(taker.Taker):
    def heartbeat(self, *arguments, **named):
        super().heartbeat(*arguments, **named)
        threading.Thread(target=self.tell, daemon=True).start()

    def tell(self):
        time.sleep(0.3)  # the main thread is in its blocking pop by now
        print("told", flush=True)
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
        time.sleep(60)

taker.Taker = Told
sys.exit(taker.run(create_app()))
"""

# A taker that finds Redis away between two jobs, once.
AWAY_BETWEEN_JOBS = """
import sys
from redis.exceptions import ConnectionError
from app import create_app
from jobs import taker

class Cut(taker.Taker):
    cuts = 1

    def check_for_suspension(self, burst):
        if Cut.cuts:
            Cut.cuts -= 1
            raise ConnectionError("reset by peer")
        super().check_for_suspension(burst)

taker.Taker = Cut
sys.exit(taker.run(create_app()))
"""


@pytest.fixture
def parts(parts: Parts) -> Parts:
    parts.environ |= LONG_LEASE
    return parts


@pytest.mark.parametrize("part", ["loop", "taker"])
def test_a_worker_told_to_stop_finishes_its_posts_and_repeats_none(
    parts: Parts, world: World, hook: Receiver, part: str
) -> None:
    hook.seconds = 1.0
    hooks.subscribe(world, hook.url)
    first = parts.start(part)
    hooks.happen(world, 100)
    wait_for(lambda: len(hook.got) >= 20)
    stop_in_time(first, 15)
    rows = hooks.rows()
    assert {row.id for row in rows if row.state == "accepted"} == set(hook.ids)
    assert all((row.attempts, row.lease_until) == (0, 0) for row in rows if row.state == "queued")
    hook.seconds = 0.0
    parts.start("loop")
    wait_for(all_accepted)
    each_once(hook, 100)


@on_sqlite
def test_the_whole_worker_ends_in_time_beside_a_receiver_that_takes_its_time(
    parts: Parts, world: World, hook: Receiver
) -> None:
    hook.seconds = 6.0
    hooks.subscribe(world, hook.url)
    worker = parts.start()
    hooks.happen(world, 2)
    wait_for(lambda: len(hook.got) == 2)
    stop_in_time(worker, 30)
    assert "is killed" not in parts.said()
    each_once(hook, 2)


@on_sqlite
def test_told_past_its_main_thread_a_taker_ends_all_the_same(parts: Parts) -> None:
    taker = parts.run(["-c", TOLD_ASIDE])
    wait_for(lambda: "told" in parts.said())
    assert taker.wait(15) == 0


@on_sqlite
def test_told_again_and_again_a_taker_still_writes_what_came_of_its_posts(
    parts: Parts, world: World, hook: Receiver
) -> None:
    hook.seconds = 2.0
    hooks.subscribe(world, hook.url)
    taker = parts.start("taker")
    hooks.happen(world, 2)
    wait_for(lambda: len(hook.got) == 2)
    for _ in range(3):
        taker.terminate()
        time.sleep(0.3)
    assert taker.wait(15) == 0
    each_once(hook, 2)


@on_sqlite
def test_told_while_its_queue_is_away_a_taker_ends_well(parts: Parts, own_valkey: Valkey) -> None:
    taker = parts.start("taker", REDIS_URL=own_valkey.url)
    wait_for(lambda: has_taker(own_valkey.url))
    own_valkey.stop()
    wait_for(lambda: "edis" in parts.said())
    stop_in_time(taker, 10)
    assert "Traceback" not in parts.said()


@on_sqlite
def test_an_outage_between_two_jobs_is_a_line_in_the_log_and_the_taker_goes_on(
    parts: Parts, world: World, hook: Receiver
) -> None:
    hooks.subscribe(world, hook.url)
    parts.run(["-c", AWAY_BETWEEN_JOBS])
    wait_for(lambda: "ConnectionError" in parts.said())
    hooks.happen(world, 2)
    wait_for(all_accepted)
    lines = [json.loads(line) for line in parts.said().splitlines()]
    assert [line["error"] for line in lines if line["event"] == "queue_worker"] == ["ConnectionError"]
    assert "Traceback" not in parts.said()
