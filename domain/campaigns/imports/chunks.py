"""The rows of an import in chunks: packed into one text each, written, and read again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from pydantic_core import from_json, to_json
from sqlalchemy import ColumnElement, Table, delete, func, insert, select, update

from core.db import db

from .plan import PlannedRow, tally
from .record import OUTCOMES, ImportChunk
from .rows import Notice

ROWS_IN_A_CHUNK = 1000
_TABLE = cast(Table, ImportChunk.__table__)


def pack(rows: Sequence[PlannedRow]) -> str:
    """The rows as JSON: a list of lists in the order of `PlannedRow`'s fields."""
    return to_json(list(rows)).decode()


def unpack(payload: str) -> list[PlannedRow]:
    """The rows that `pack` packed."""
    return [
        PlannedRow(number, outcome, cells, [Notice(*notice) for notice in notices], given, changes)
        for number, outcome, cells, notices, given, changes in from_json(payload)
    ]


def add(import_id: str, number: int, rows: Sequence[PlannedRow]) -> None:
    """Write a new chunk, planned."""
    values = {"import_id": import_id, "number": number, "state": "planned", "payload": pack(rows), **tally(rows)}
    db.session.execute(insert(_TABLE), [values])


def change(import_id: str, number: int, **values: Any) -> None:
    """Change a chunk."""
    db.session.execute(update(_TABLE).where(*_is(import_id, number)).values(**values))


def next_in(import_id: str, state: str) -> ImportChunk | None:
    """The first chunk in a state, as it stands now; nothing of it stays in the session."""
    query = select(ImportChunk).where(ImportChunk.import_id == import_id, ImportChunk.state == state)
    found = db.session.scalar(query.order_by(ImportChunk.number).limit(1))
    if found is not None:
        db.session.expunge(found)
    return found


def sums(import_id: str) -> dict[str, int]:
    """The counts of all chunks: each outcome, and `noticed`."""
    columns = [func.coalesce(func.sum(_TABLE.c[name]), 0) for name in (*OUTCOMES, "noticed")]
    row = db.session.execute(select(*columns).where(_TABLE.c.import_id == import_id)).one()
    return {name: int(value) for name, value in zip((*OUTCOMES, "noticed"), row, strict=True)}


def count(import_id: str) -> int:
    """How many chunks there are."""
    return db.session.scalar(select(func.count()).where(_TABLE.c.import_id == import_id)) or 0


def drop(import_id: str) -> None:
    """Delete all chunks."""
    db.session.execute(delete(_TABLE).where(_TABLE.c.import_id == import_id))


def _is(import_id: str, number: int) -> list[ColumnElement[bool]]:
    return [_TABLE.c.import_id == import_id, _TABLE.c.number == number]
