"""Many rows in one statement, on both databases.

On PostgreSQL the rows travel as one JSON text: a statement with a parameter for each cell is taken apart anew for
every batch by the driver, which costs more than the insert itself, and an update for each row is a round trip for each.

Rows of an ORM session that were loaded before keep their old values until they are read again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from sqlalchemy import (
    ARRAY,
    JSON,
    BigInteger,
    Boolean,
    ColumnClause,
    Dialect,
    LargeBinary,
    Table,
    TableValuedAlias,
    Text,
    Update,
    bindparam,
    cast,
    column,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator

from core.db import Json, is_postgresql, writing_connection
from core.json_text import as_text


def insert_many(table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows (column names to values, the same columns in each) inside the caller's transaction."""
    if not rows:
        return
    names = _names(table, rows[0])
    if is_postgresql():
        writing_connection().execute(_from_json(table, names), {"rows": _as_json(table, rows)})
    else:
        writing_connection().exec_driver_sql(_by_place(table, names), _as_tuples(table, names, rows))


def insert_missing(table: Table, rows: Sequence[Mapping[str, Any]], unique: tuple[str, ...]) -> set[str]:
    """Insert rows, leaving out those that another caller inserted first (equal in the columns `unique`); returns the
    ids that landed. On SQLite the write lock is ours already, so that none is left out."""
    if not rows:
        return set()
    if not is_postgresql():
        insert_many(table, rows)
        return {row["id"] for row in rows}
    statement = _from_json(table, _names(table, rows[0])).on_conflict_do_nothing(index_elements=list(unique))
    landed = writing_connection().execute(statement.returning(table.c.id), {"rows": _as_json(table, rows)})
    return set(landed.scalars())


def update_many(table: Table, rows: Sequence[Mapping[str, Any]], by: tuple[str, ...] = ("id",)) -> int:
    """Write rows (column names to values, the same columns in each) inside the caller's transaction.

    Each goes to the row that equals it in the columns `by`, which no two share; null equals nothing. What stands
    otherwise by then is left alone, so that a generation or a state among `by` is a condition. Returns how many were
    written. PostgreSQL locks in an order of its own: who shares rows with others holds them first, by id.
    """
    if not rows:
        return 0
    names, writing = _names(table, rows[0]), writing_connection()
    if is_postgresql():
        return writing.execute(_update_from_json(table, names, by), {"rows": _as_json(table, rows)}).rowcount
    places = tuple(name for name in names if name not in by) + by
    return writing.exec_driver_sql(_update_by_place(table, places, by), _as_tuples(table, places, rows)).rowcount


class Texts(TypeDecorator[Sequence[str]]):
    """A list of texts as one parameter: `bindparam("ids", type_=Texts)`."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        return dialect.type_descriptor(ARRAY(Text) if dialect.name == "postgresql" else Text())

    def process_bind_param(self, value: Sequence[str] | None, dialect: Dialect) -> Any:
        return value if dialect.name == "postgresql" else as_text(value)


class among(FunctionElement[bool]):
    """`among(column, texts)`: whether the column is one of them, in a statement that is the same for any number."""

    type = Boolean()
    inherit_cache = True

    def self_group(self, against: Any = None) -> Any:
        """As it is: SQLite would be asked whether it `= 1`, which no index answers."""
        return self


@compiles(among, "postgresql")
def _any(element: among, compiler: Any, **how: Any) -> str:
    column, texts = (compiler.process(each, **how) for each in element.clauses)
    return f"{column} = ANY ({texts})"


@compiles(among, "sqlite")
def _in(element: among, compiler: Any, **how: Any) -> str:
    column, texts = (compiler.process(each, **how) for each in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({texts}))"  # noqa: S608  of compiled parts


def recordset(parameter: str, *columns: ColumnClause[Any], name: str) -> TableValuedAlias:
    """A table of the objects of a JSON text that is given as this parameter; PostgreSQL only."""
    given = func.json_to_recordset(cast(bindparam(parameter, type_=Text), JSON)).table_valued(*columns)
    return given.render_derived(name=name, with_types=True)


def _names(table: Table, row: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns of a row in the order of the table, which is the order of a compiled statement's places."""
    return tuple(each.name for each in table.c if each.name in row)


@lru_cache(maxsize=64)
def _by_place(table: Table, names: tuple[str, ...]) -> str:
    """An insert with a place for each column, for the driver's own `executemany`."""
    return str(insert(table).values({name: bindparam(name) for name in names}).compile(dialect=sqlite.dialect()))


@lru_cache(maxsize=64)
def _update_by_place(table: Table, names: tuple[str, ...], by: tuple[str, ...]) -> str:
    """An update whose places are `names` in their order, those of `by` at the end."""
    found = (table.c[name] == bindparam(f"by_{name}") for name in by)
    written: list[tuple[Any, Any]] = [(table.c[name], bindparam(f"new_{name}")) for name in names if name not in by]
    return str(update(table).where(*found).ordered_values(*written).compile(dialect=sqlite.dialect()))


def _as_tuples(table: Table, names: tuple[str, ...], rows: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    columns = list(zip(*map(itemgetter(*names), rows), strict=True))
    for place, name in enumerate(names):
        if isinstance(table.c[name].type, Json):
            columns[place] = tuple(map(as_text, columns[place]))
    return list(zip(*columns, strict=True))


@lru_cache(maxsize=64)
def _from_json(table: Table, names: tuple[str, ...]) -> postgresql.Insert:
    given = _given(table, names)
    return postgresql.insert(table).from_select(names, select(*(given.c[name] for name in names)))


@lru_cache(maxsize=64)
def _update_from_json(table: Table, names: tuple[str, ...], by: tuple[str, ...]) -> Update:
    given = _given(table, names)
    found = (table.c[name] == given.c[name] for name in by)
    return update(table).where(*found).values({name: given.c[name] for name in names if name not in by})


def _given(table: Table, names: tuple[str, ...]) -> TableValuedAlias:
    return recordset("rows", *(column(name, _plain(table.c[name].type)) for name in names), name="given")


def _plain(kind: Any) -> Any:
    return Text() if isinstance(kind, Json) else BigInteger() if isinstance(kind, BigInteger) else kind


def _as_json(table: Table, rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as a JSON text; what JSON has no word for stands in it as the text that PostgreSQL reads it from."""
    encoders = {name: encode for name in rows[0] if (encode := _encoder(table.c[name].type))}
    return as_text([{**row, **{name: encode(row[name]) for name, encode in encoders.items()}} for row in rows]) or "[]"


def _encoder(kind: Any) -> Callable[[Any], str | None] | None:
    """A column of JSON holds text; bytes are written in hexadecimal."""
    return as_text if isinstance(kind, Json) else _as_hex if isinstance(kind, LargeBinary) else None


def _as_hex(value: bytes | None) -> str | None:
    return None if value is None else rf"\x{value.hex()}"
