from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.exc import OperationalError

from core.db import storage_trouble
from core.write_turn import WriteTurn

# SQLite left to itself looks once, and sleeps until the wait is over; an own look each 2 ms takes a fifth of a second.
MANY_LOOKS = 100
PATIENCE_SECONDS = 20.0


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = create_engine(f"sqlite:///{tmp_path / 'turn.db'}", connect_args={"isolation_level": None})
    yield engine
    engine.dispose()


def write(engine: Engine, turn: WriteTurn) -> None:
    """One writing transaction, from its turn to its end."""
    with ExitStack() as ending, engine.connect() as connection:
        turn.begin(connection, ending)
        connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS written (at INTEGER)")
        connection.exec_driver_sql("INSERT INTO written VALUES (1)")
        connection.commit()


def other(engine: Engine) -> sqlite3.Connection:
    """A writer in another process' place."""
    return sqlite3.connect(str(engine.url.database), isolation_level=None, check_same_thread=False)


def test_who_waits_looks_often_so_that_no_short_gap_of_a_busy_writer_is_missed(engine: Engine):
    busy, looks, has_looked = other(engine), 0, threading.Event()
    busy.execute("BEGIN IMMEDIATE")

    @event.listens_for(engine, "before_cursor_execute")
    def _count(_connection: Any, _cursor: Any, statement: str, *_others: Any) -> None:
        nonlocal looks
        looks += statement == "BEGIN IMMEDIATE"
        if looks == MANY_LOOKS:
            has_looked.set()

    waiting = threading.Thread(target=write, args=(engine, WriteTurn(60.0)))
    waiting.start()
    looked = has_looked.wait(PATIENCE_SECONDS)
    busy.execute("COMMIT")
    waiting.join()
    assert looked, "SQLite itself would sleep, longer each time"
    assert busy.execute("SELECT count(*) FROM written").fetchone() == (1,)
    busy.close()


def test_who_waits_too_long_is_told_that_the_storage_is_busy_and_gives_the_place_back(engine: Engine):
    turn, busy = WriteTurn(0.05), other(engine)
    busy.execute("BEGIN IMMEDIATE")
    with pytest.raises(OperationalError) as refused:
        write(engine, turn)
    assert storage_trouble(refused.value) == "STORAGE_BUSY"
    busy.execute("COMMIT")
    in_another_thread(lambda: write(engine, turn))
    assert busy.execute("SELECT count(*) FROM written").fetchone() == (1,)
    busy.close()


def test_the_threads_of_a_process_write_one_after_the_other(engine: Engine):
    turn = WriteTurn(60.0)
    threads = [threading.Thread(target=write, args=(engine, turn)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with other(engine) as seen:
        assert seen.execute("SELECT count(*) FROM written").fetchone() == (8,)
    seen.close()


@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_a_forked_process_does_not_inherit_a_turn_that_nobody_would_give_back(engine: Engine, tmp_path: Path):
    turn, is_held, is_over = WriteTurn(60.0), threading.Event(), threading.Event()

    def hold() -> None:
        with ExitStack() as ending, engine.connect() as connection:
            turn.begin(connection, ending)
            is_held.set()
            is_over.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    is_held.wait()
    child = os.fork()
    if child == 0:
        write(create_engine(f"sqlite:///{tmp_path / 'own.db'}", connect_args={"isolation_level": None}), turn)
        os._exit(0)
    try:
        assert has_ended_well(child)
    finally:
        is_over.set()
        holder.join()


def has_ended_well(child: int) -> bool:
    """Whether a process ends with 0 in half the time that it would wait for a turn."""
    deadline = time.monotonic() + 30.0
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def in_another_thread(work: Callable[[], object]) -> None:
    """Run it where a turn that this thread still held would stand in the way."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
