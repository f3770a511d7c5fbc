"""A database that is locked, restarted or out of room while POSTs are under way: each goes once, and all heals."""

from __future__ import annotations

import resource
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy.exc import DBAPIError

from core.db import db, is_postgresql
from tests.jobs import hooks
from tests.processes.parts import LONG_LEASE, Parts, all_accepted, each_once, kill, on_postgresql, on_sqlite, wait_for
from tests.servers import full_disk
from tests.servers.postgresql import PostgreSQL
from tests.servers.receiver import Receiver
from tests.world import World


def in_the_middle(parts: Parts, world: World, hook: Receiver) -> subprocess.Popen[bytes]:
    """A loop in the middle of a hundred POSTs that take their time."""
    hook.seconds = 0.5
    hooks.subscribe(world, hook.url)
    hooks.happen(world, 100)
    started = parts.start("loop", **LONG_LEASE)
    wait_for(lambda: len(hook.got) >= 20)
    return started


@on_sqlite
def test_a_database_that_is_locked_for_longer_than_anybody_waits(parts: Parts, world: World, hook: Receiver) -> None:
    worker = in_the_middle(parts, world, hook)
    db.session.rollback()
    with closing(sqlite3.connect(str(db.engine.url.database), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        time.sleep(7)
        with pytest.raises(DBAPIError, match="locked"):
            hooks.happen(world)
        other.execute("ROLLBACK")
    wait_for(all_accepted)
    each_once(hook, 100)
    assert worker.poll() is None and "deliveries_wait_for_the_database" in parts.said()


@on_postgresql
def test_a_database_server_that_crashes_and_comes_back(
    parts: Parts, world: World, hook: Receiver, cluster: PostgreSQL
) -> None:
    worker = in_the_middle(parts, world, hook)
    cluster.stop()
    time.sleep(2)
    cluster.start()
    wait_for(all_accepted)
    each_once(hook, 100)
    assert worker.poll() is None and "deliveries_wait_for_the_database" in parts.said()


def test_a_disk_without_room_for_results_or_for_the_log(parts: Parts, world: World, hook: Receiver) -> None:
    parts.log = Path("/dev/full")
    worker = in_the_middle(parts, world, hook)
    with no_room(worker):
        wait_for(lambda: len(hook.got) == hooks.count("accepted") + hooks.leased())
        sent = len(hook.got)
        time.sleep(2)
        assert len(hook.got) == sent < 100, "what cannot be claimed is not sent"
        assert hooks.leased() > 0, "what came back waits to be written"
    wait_for(all_accepted)
    each_once(hook, 100)
    assert worker.poll() is None


@contextmanager
def no_room(worker: subprocess.Popen[bytes]) -> Iterator[None]:
    """For what the worker writes: on SQLite its files may not grow, on PostgreSQL the server says so."""
    if is_postgresql():
        with full_disk.on_postgresql("UPDATE", "delivery"):
            yield
    else:
        before = resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        yield
        resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, before)


def test_a_worker_frozen_beyond_its_lease_changes_nothing_when_it_goes_on(
    parts: Parts, world: World, hook: Receiver
) -> None:
    hook.seconds = 1.0
    hooks.subscribe(world, hook.url)
    hooks.happen(world, 20)
    first = parts.start("loop")
    wait_for(lambda: len(hook.got) == 20)
    first.send_signal(signal.SIGSTOP)
    parts.start("loop", **LONG_LEASE)
    wait_for(all_accepted)
    attempts = [attempt.id for attempt in hooks.attempts()]
    first.send_signal(signal.SIGCONT)
    hooks.happen(world)
    wait_for(all_accepted)
    kill(first)
    assert [attempt.id for attempt in hooks.attempts()][:-1] == attempts
    assert [row.attempts for row in hooks.rows()] == [1] * 21
    assert len(hook.got) == 41, "what nobody could know was sent goes again, under the same ids"
