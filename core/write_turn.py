"""Whose turn it is to write, where one lock serves all writers: SQLite.

SQLite lets no writer queue. Who finds the lock taken sleeps, longer each time and 100 ms in the end, and may find it
taken again. So the threads of a process stand in line here, and the first of them looks every 2 ms: it misses no gap
between two chunks of an import, and nobody sleeps while the lock is free.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

LOOK_SECONDS = 0.002


class WriteTurn:
    """The line of one process. Who waits longer than `wait_seconds` is refused as SQLite refuses: the file is busy."""

    def __init__(self, wait_seconds: float) -> None:
        self._wait_seconds = wait_seconds
        self._start_anew()
        # A forked process has the lock of its parent, but not the thread that would give it back.
        os.register_at_fork(after_in_child=self._start_anew)

    def begin(self, connection: Connection, ending: ExitStack) -> None:
        """Begin a writing transaction as soon as nobody else writes; the turn ends with `ending`."""
        deadline = time.monotonic() + self._wait_seconds
        if self._line.acquire(timeout=self._wait_seconds):
            ending.callback(self._line.release)
        with self._refused_at_once(connection):
            while not _began(connection, deadline):
                time.sleep(LOOK_SECONDS)

    def _start_anew(self) -> None:
        self._line = threading.RLock()

    @contextmanager
    def _refused_at_once(self, connection: Connection) -> Iterator[None]:
        """Have SQLite say that the lock is taken instead of sleeping."""
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.execute("PRAGMA busy_timeout=0")
        try:
            yield
        finally:
            driver.execute(f"PRAGMA busy_timeout={self._wait_seconds * 1000:.0f}")


def _began(connection: Connection, deadline: float) -> bool:
    try:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    except OperationalError as error:
        is_busy = isinstance(error.orig, sqlite3.Error) and error.orig.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
        if not is_busy or time.monotonic() >= deadline:
            raise
        return False
    return True
