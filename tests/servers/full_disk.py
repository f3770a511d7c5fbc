"""A database without room for more, as each of the two says it by its own code."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import event, text

from core.db import db, is_postgresql, transaction

_NO_ROOM = """
CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'no space left on device' USING ERRCODE = 'disk_full'; END $$;
CREATE TRIGGER no_room BEFORE {verb} ON {table} EXECUTE FUNCTION no_room();
"""


@contextmanager
def here(table: str) -> Iterator[None]:
    """For this process: SQLite's file may not grow by a page; PostgreSQL refuses what is inserted into `table`."""
    if is_postgresql():
        with on_postgresql("INSERT", table):
            yield
        return
    db.session.rollback()
    with db.engine.connect() as connection:
        connection.exec_driver_sql("COMMIT")  # VACUUM, which leaves no free page, must stand alone
        connection.exec_driver_sql("VACUUM")
    event.listen(db.engine, "checkout", _allow_no_page)
    try:
        yield
    finally:
        event.remove(db.engine, "checkout", _allow_no_page)
        db.session.rollback()
        db.engine.dispose()


@contextmanager
def on_postgresql(verb: str, table: str) -> Iterator[None]:
    """For every process: the server refuses each INSERT or UPDATE of `table` for want of room."""
    _execute(_NO_ROOM.format(verb=verb, table=table))
    try:
        yield
    finally:
        _execute("DROP FUNCTION no_room CASCADE")


def _allow_no_page(connection: sqlite3.Connection, *_: object) -> None:
    connection.execute("PRAGMA max_page_count = 1").close()


def _execute(statement: str) -> None:
    with transaction() as session:
        session.execute(text(statement))
