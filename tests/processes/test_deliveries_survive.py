"""Real workers and a real receiver: killed in the middle, told to stop, without Redis; and how soon events arrive."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from flask import Flask

from tests.jobs import hooks
from tests.servers.receiver import Receiver, receiver
from tests.world import World

ROOT = Path(__file__).parent.parent.parent
PATIENCE_SECONDS = 60.0


class Parts:
    """Parts of the worker on the test's own installation, with a ladder that does not wait."""

    def __init__(self, app: Flask) -> None:
        settings = app.config["SETTINGS"]
        self.environ = os.environ | {
            "DATABASE_URL": settings.database_url,
            "REDIS_URL": settings.redis_url,
            "INSTANCE_PATH": str(settings.instance_path),
            "SECRET_KEY": settings.secret_key,
            "BASE_URL": settings.base_url,
            "WEBHOOK_ALLOW_PRIVATE_HOSTS": "1",
            "WEBHOOK_BACKOFF_SECONDS": "0.2",
            "WEBHOOK_LEASE_SECONDS": "5",
        }
        self._said = (Path(settings.instance_path) / "parts.log").open("ab")
        self._living: list[subprocess.Popen[bytes]] = []

    def start(self, part: str, **environ: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "worker.py", part]
        process = subprocess.Popen(command, cwd=ROOT, env=self.environ | environ, stdout=self._said, stderr=self._said)
        self._living.append(process)
        return process

    def stop(self) -> None:
        for process in self._living:
            with suppress(ProcessLookupError):
                process.kill()
            process.wait()
        self._said.close()


@pytest.fixture
def parts(app: Flask) -> Iterator[Parts]:
    started = Parts(app)
    yield started
    started.stop()


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


def until(question: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not question():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def all_accepted() -> bool:
    return set(hooks.states()) == {"accepted"}


@pytest.mark.parametrize("part", ["loop", "taker"])
def test_a_worker_killed_in_the_middle_of_its_posts_loses_nothing(
    parts: Parts, world: World, hook: Receiver, part: str
) -> None:
    hook.seconds = 0.2
    hooks.subscribe(world, hook.url)
    first = parts.start(part)
    hooks.happen(world, 200)
    until(lambda: len(hook.got) > 60)
    first.send_signal(signal.SIGKILL)
    first.wait()
    sent = len(hook.got)
    parts.start("loop")
    until(all_accepted)
    assert set(hook.ids) == {row.id for row in hooks.rows()}
    assert sent < 200 and len(hook.ids) - len(set(hook.ids)) <= 64, "only what was under way may be repeated"


@pytest.mark.parametrize("part", ["loop", "taker"])
def test_a_worker_told_to_stop_finishes_its_posts_and_repeats_none(
    parts: Parts, world: World, hook: Receiver, part: str
) -> None:
    hook.seconds = 1.0
    hooks.subscribe(world, hook.url)
    first = parts.start(part)
    hooks.happen(world, 100)
    until(lambda: len(hook.got) >= 20)
    first.send_signal(signal.SIGTERM)
    assert first.wait(15) == 0
    rows = hooks.rows()
    assert {row.id for row in rows if row.state == "accepted"} == set(hook.ids)
    assert all((row.attempts, row.lease_until) == (0, 0) for row in rows if row.state == "queued")
    hook.seconds = 0.0
    parts.start("loop")
    until(all_accepted)
    assert len(hook.ids) == 100 == len(set(hook.ids))


def test_a_worker_without_redis_from_its_start_delivers(parts: Parts, world: World, hook: Receiver) -> None:
    hooks.subscribe(world, hook.url)
    parts.start("loop", REDIS_URL="unix:///nonexistent.sock")
    parts.start("taker", REDIS_URL="unix:///nonexistent.sock")
    hooks.happen(world, 5)
    until(all_accepted)
    assert len(hook.ids) == 5


def test_two_workers_and_a_loop_send_each_once_and_soon(parts: Parts, world: World, hook: Receiver) -> None:
    hooks.subscribe(world, hook.url)
    for part in ("taker", "taker", "loop"):
        parts.start(part)
    hooks.happen(world)
    until(all_accepted)
    waited = []
    for count in range(2, 32):
        committed = time.time()
        hooks.happen(world)
        until(lambda count=count: len(hook.got) == count)  # type: ignore[misc]
        waited.append(hook.got[-1].at - committed)
        time.sleep(0.05)
    hooks.happen(world, 300)
    until(lambda: all_accepted() and len(hook.ids) >= 331)
    assert len(hook.ids) == len(set(hook.ids)) == 331
    assert sorted(waited)[28] < 1.0, "the 95th percentile from commit to first POST"
