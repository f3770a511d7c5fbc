"""Many rows in one statement: what is written is what was given, and only where it was meant for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
from flask import Flask
from sqlalchemy import Table, select

from core.bulk import insert_many, insert_missing, update_many
from core.db import db, transaction
from domain.accounts.account import Account
from domain.events.delivery import Delivery, DeliveryAttempt
from tests.jobs import hooks
from tests.world import World

ACCOUNTS = cast(Table, Account.__table__)
ATTEMPTS = cast(Table, DeliveryAttempt.__table__)


@pytest.fixture
def accounts(app: Flask) -> list[str]:
    """Three accounts, created at 1, 2 and 3."""
    found = [f"acc_{number}" for number in (1, 2, 3)]
    with transaction():
        insert_many(ACCOUNTS, [_account(each, number) for number, each in enumerate(found, 1)])
    return found


def _account(account_id: str, at: int) -> dict[str, Any]:
    return {
        "id": account_id, "name": account_id, "bundle_key": None, "languages": ["en"], "created_at": at,
        "updated_at": at,
    }  # fmt: skip


def updated(rows: Sequence[dict[str, Any]], *by: str) -> int:
    with transaction():
        return update_many(ACCOUNTS, rows, by or ("id",))


def column_of(name: str) -> list[Any]:
    db.session.rollback()
    return list(db.session.scalars(select(ACCOUNTS.c[name]).order_by(ACCOUNTS.c.id)))


def test_each_row_gets_its_own_values(accounts: list[str]) -> None:
    rows = [
        {"name": f'"{each}" \\ é\n', "languages": ["fr", each], "bundle_key": each, "id": each} for each in accounts
    ]
    assert updated(rows) == 3
    for name in ("name", "languages", "bundle_key"):
        assert column_of(name) == [row[name] for row in rows]
    assert column_of("created_at") == [1, 2, 3], "what was not named is left alone"


def test_what_stands_otherwise_is_left_alone_and_not_counted(accounts: list[str]) -> None:
    rows = [{"id": each, "created_at": 2, "name": "Changed"} for each in (*accounts, "acc_unknown")]
    assert updated(rows, "id", "created_at") == 1
    assert column_of("name") == ["acc_1", "Changed", "acc_3"]


def test_null_is_written_and_equals_nothing(accounts: list[str]) -> None:
    assert updated([{"id": "acc_1", "bundle_key": "key"}]) == 1
    assert updated([{"id": each, "bundle_key": None, "name": "Changed"} for each in accounts], "id", "bundle_key") == 0
    assert updated([{"id": "acc_1", "bundle_key": None}]) == 1
    assert column_of("bundle_key") == [None] * 3


def test_no_rows_are_no_statement(accounts: list[str]) -> None:
    assert updated([]) == 0


@pytest.mark.parametrize(
    "write",
    [
        lambda: insert_many(ACCOUNTS, [_account("acc_4", 4)]),
        lambda: insert_missing(ACCOUNTS, [_account("acc_4", 4)], ("id",)),
        lambda: update_many(ACCOUNTS, [{"id": "acc_1", "name": "Changed"}]),
    ],
)
def test_what_nobody_would_commit_is_refused(accounts: list[str], write: Callable[[], object]) -> None:
    with pytest.raises(RuntimeError, match="outside transaction"):
        write()
    assert column_of("name") == accounts


def test_bytes_come_back_as_they_were(world: World) -> None:
    hooks.subscribe(world, "http://receiver.example/hook")
    hooks.happen(world)
    every_byte = bytes(range(256))
    attempt = {
        "id": "att_1", "delivery_id": db.session.scalars(select(Delivery.id)).one(), "round": 1, "number": 1, "at": 1,
        "milliseconds": 1, "answer": every_byte,
    }  # fmt: skip
    with transaction():
        insert_many(ATTEMPTS, [attempt, {**attempt, "id": "att_2", "answer": b""}])
        assert update_many(ATTEMPTS, [{"id": "att_2", "answer": every_byte[::-1]}]) == 1
    assert [row.answer for row in hooks.attempts()] == [every_byte, every_byte[::-1]]
