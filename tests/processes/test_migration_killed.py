"""A migration killed with -9 half-way leaves the schema as it was, and the next one makes it whole."""

from __future__ import annotations

from flask import Flask
from flask_migrate import upgrade

from core.db import Model
from tests.house.test_migrations import MIGRATIONS, differences, empty_app, tables  # noqa: F401  (a fixture)
from tests.processes.parts import Parts, kill, wait_for

# `flask db upgrade` that stops once it has made a table and two indexes, and waits for its end.
STOPS = """
import time
from flask_migrate import upgrade
from sqlalchemy import event
from app import create_app
from core.db import db

left = 3

def count(connection, cursor, statement, *_):
    global left
    left -= statement.lstrip().startswith("CREATE")
    if not left:
        print("here", flush=True)
        time.sleep(60)

with create_app().app_context():
    event.listen(db.engine, "after_cursor_execute", count)
    upgrade()
"""
UPGRADE = ["-m", "flask", "--app", "app", "db", "upgrade"]


def test_killed_half_way_it_leaves_what_stood_and_can_be_run_again(empty_app: Flask) -> None:  # noqa: F811  (the fixture)
    upgrade(directory=str(MIGRATIONS), revision="0001")
    before = tables()
    with Parts(empty_app) as parts:
        upgrading = parts.run(["-c", STOPS])
        wait_for(lambda: "here" in parts.said())
        kill(upgrading)
        assert tables() == before
        assert parts.run(UPGRADE).wait(30) == 0
    assert tables() == set(Model.metadata.tables) and differences() == []
