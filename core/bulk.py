"""Many rows in one statement, on both databases.

On PostgreSQL the rows travel as one JSON text: a statement with a parameter for each cell is taken apart anew for
every batch by the driver, which costs more than the insert itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import JSON, BigInteger, Table, Text, bindparam, cast, column, func, insert, select
from sqlalchemy.dialects import postgresql

from core.db import Json, as_text, db, is_postgresql


def insert_many(table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows (column names to values, the same columns in each) inside the caller's transaction."""
    if not rows:
        return
    if is_postgresql():
        db.session.connection().execute(_from_json(table, tuple(rows[0])), {"rows": _as_json(table, rows)})
    else:
        db.session.connection().execute(insert(table), rows)


def insert_missing(table: Table, rows: Sequence[Mapping[str, Any]], unique: tuple[str, ...]) -> set[str]:
    """Insert rows, leaving out those that another caller inserted first (equal in the columns `unique`); returns the
    ids that landed. On SQLite the write lock is ours already, so that none is left out."""
    if not rows:
        return set()
    if not is_postgresql():
        insert_many(table, rows)
        return {row["id"] for row in rows}
    statement = _from_json(table, tuple(rows[0])).on_conflict_do_nothing(index_elements=list(unique))
    landed = db.session.connection().execute(statement.returning(table.c.id), {"rows": _as_json(table, rows)})
    return set(landed.scalars())


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
    plain = [{**row, **{name: as_text(row[name]) for name in inner}} for row in rows]
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
