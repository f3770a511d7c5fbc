"""SIGTERM at awkward moments, with POSTs under way: the process ends in time, and no attempt is burnt or repeated."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from flask import Flask

from tests.jobs import hooks
from tests.processes.parts import Parts, has_taker, on_sqlite, stop_in_time, wait_for
from tests.servers import valkey
from tests.servers.receiver import Receiver, receiver
from tests.world import World

pytestmark = on_sqlite

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


@pytest.fixture
def parts(app: Flask) -> Iterator[Parts]:
    started = Parts(app, WEBHOOK_LEASE_SECONDS="90")  # so that nothing is taken back that was left behind
    yield started
    started.stop()


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


def each_once(hook: Receiver, deliveries: int) -> None:
    assert hooks.states() == ["accepted"] * deliveries
    assert len(hook.got) == deliveries == len(set(hook.ids))
    assert len(hooks.attempts()) == deliveries


def test_the_whole_worker_ends_in_time_beside_a_receiver_that_takes_its_time(
    parts: Parts, world: World, hook: Receiver
) -> None:
    hook.seconds = 6.0
    hooks.subscribe(world, hook.url)
    worker = parts.start()
    hooks.happen(world, 2)
    wait_for(lambda: len(hook.got) == 2)
    assert 3 < stop_in_time(worker, 15) < 15
    each_once(hook, 2)


def test_told_past_its_main_thread_a_taker_ends_all_the_same(parts: Parts) -> None:
    taker = parts.run(["-c", TOLD_ASIDE])
    wait_for(lambda: "told" in parts.said())
    assert taker.wait(8) == 0


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


def test_told_while_its_queue_is_away_a_taker_ends_well(app: Flask, world: World) -> None:
    with valkey.server() as own_valkey:
        parts = Parts(app, REDIS_URL=own_valkey.url)
        try:
            taker = parts.start("taker")
            wait_for(lambda: has_taker(own_valkey.url))
            own_valkey.stop()
            wait_for(lambda: "could not connect to Redis" in parts.said())
            stop_in_time(taker, 5)
            assert "Traceback" not in parts.said()
        finally:
            parts.stop()
