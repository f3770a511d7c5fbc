"""Many rows in one statement, on both databases.

On PostgreSQL the rows travel as one JSON text: a statement with a parameter for each cell is taken apart anew for
every batch by the driver, which costs more than the insert itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from sqlalchemy import JSON, BigInteger, Table, Text, bindparam, cast, column, func, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from core.db import Json, db, is_postgresql
from core.json_text import as_text


def insert_many(table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows (column names to values, the same columns in each) inside the caller's transaction."""
    if not rows:
        return
    names = _names(table, rows[0])
    if is_postgresql():
        db.session.connection().execute(_from_json(table, names), {"rows": _as_json(table, rows)})
    else:
        db.session.connection().exec_driver_sql(_by_place(table, names), _as_tuples(table, names, rows))


def insert_missing(table: Table, rows: Sequence[Mapping[str, Any]], unique: tuple[str, ...]) -> set[str]:
    """Insert rows, leaving out those that another caller inserted first (equal in the columns `unique`); returns the
    ids that landed. On SQLite the write lock is ours already, so that none is left out."""
    if not rows:
        return set()
    if not is_postgresql():
        insert_many(table, rows)
        return {row["id"] for row in rows}
    statement = _from_json(table, _names(table, rows[0])).on_conflict_do_nothing(index_elements=list(unique))
    landed = db.session.connection().execute(statement.returning(table.c.id), {"rows": _as_json(table, rows)})
    return set(landed.scalars())


def _names(table: Table, row: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns of a row in the order of the table, which is the order of a compiled statement's places."""
    return tuple(each.name for each in table.c if each.name in row)


@lru_cache(maxsize=64)
def _by_place(table: Table, names: tuple[str, ...]) -> str:
    """An insert with a place for each column, for the driver's own `executemany`."""
    return str(insert(table).values({name: bindparam(name) for name in names}).compile(dialect=sqlite.dialect()))


def _as_tuples(table: Table, names: tuple[str, ...], rows: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    encoders = [as_text if isinstance(table.c[name].type, Json) else None for name in names]
    cells = itemgetter(*names)
    return [
        tuple(value if encode is None else encode(value) for encode, value in zip(encoders, cells(row), strict=True))
        for row in rows
    ]


@lru_cache(maxsize=64)
def _from_json(table: Table, names: tuple[str, ...]) -> postgresql.Insert:
    columns = [column(name, _plain(table.c[name].type)) for name in names]
    given = func.json_to_recordset(cast(bindparam("rows", type_=Text), JSON)).table_valued(*columns)
    source = given.render_derived(name="given", with_types=True)
    return postgresql.insert(table).from_select(names, select(*(source.c[name] for name in names)))


def _plain(kind: Any) -> Any:
    return Text() if isinstance(kind, Json) else BigInteger() if isinstance(kind, BigInteger) else kind


def _as_json(table: Table, rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as a JSON text; a column of JSON stands in it as the text that the column will hold."""
    inner = [name for name in rows[0] if isinstance(table.c[name].type, Json)]
    return as_text([{**row, **{name: as_text(row[name]) for name in inner}} for row in rows]) or "[]"
