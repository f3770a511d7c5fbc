"""The database: one commit at the edge, read-only requests, and SQLite and PostgreSQL behind one face.

SQLite with its driver's defaults loses concurrent updates; so the driver's own transactions are off, a writing
transaction begins with `BEGIN IMMEDIATE` and a reading one with `BEGIN`, which never waits for a writer.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import structlog
from flask import Flask
from flask_migrate import Migrate
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import BigInteger, Connection, Dialect, Engine, MetaData, Text, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError, InvalidatePoolError
from sqlalchemy.orm import DeclarativeBase, Session, mapped_column
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.types import TypeDecorator

from core.ids import new_id
from core.json_text import as_text, from_text
from core.write_turn import WriteTurn

LOCK_WAIT_SECONDS = 5
# A connection that was in use so lately is not asked first whether it lives.
PING_AFTER_SECONDS = 1.0
# A server that is gone without a word (a failover, a firewall that forgot) is noticed within some 10 s, whether it is
# asked something or waited for. Without these the system waits for a quarter of an hour, or for ever.
_NOTICE_SILENCE = {
    "keepalives": 1,
    "keepalives_idle": 4,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}

log = structlog.get_logger(__name__)

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


class Model(DeclarativeBase):
    """Every table's base."""

    metadata = MetaData(naming_convention=NAMING)


class Json(TypeDecorator[Any]):
    """A JSON value as text, so that it reads back exactly as it was written on both databases."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return as_text(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return from_text(value)


EpochMs = BigInteger

db = SQLAlchemy(model_class=Model, session_options={"expire_on_commit": False})
migrate = Migrate()


@dataclass
class _Writing:
    """A `transaction()` under way: what waits for its commit, what its end gives back, its connection once asked."""

    callbacks: list[Callable[[], None]] = field(default_factory=list)
    ending: ExitStack = field(default_factory=ExitStack)
    connection: Connection | None = None


_writing: ContextVar[_Writing | None] = ContextVar("assessor_writing", default=None)
_turn = WriteTurn(LOCK_WAIT_SECONDS)

Row = TypeVar("Row", bound=Model)


def init_app(app: Flask, database_url: str, sqlite_cache_mib: int) -> None:
    """Bind the database to the app, with the pragmas and waits that the promises need.

    Each connection to SQLite keeps at most `sqlite_cache_mib` of pages in memory.
    """
    _make_folder(database_url)
    app.config["SQLALCHEMY_DATABASE_URI"] = database_url
    app.config["SQLALCHEMY_ENGINE_OPTIONS"] = _engine_options(database_url)
    db.init_app(app)
    migrate.init_app(app, db, directory="migrations", render_as_batch=True)
    with app.app_context():
        if database_url.startswith("sqlite"):
            _use_own_transactions(db.engine, sqlite_cache_mib)
        else:
            _ping_what_rested(db.engine)


@contextmanager
def transaction() -> Iterator[Session]:
    """The one place that commits: everything inside is written together, or nothing is.

    What was read before is read again inside, so that no decision rests on an old row.
    Callbacks given to `on_commit` run after the commit, and only then.
    """
    if _writing.get() is not None:
        raise RuntimeError("transaction() does not nest: open it at the edge only")
    writing = _Writing()
    db.session.rollback()
    token = _writing.set(writing)
    try:
        yield db.session()
        db.session.commit()
    except BaseException:
        db.session.rollback()
        raise
    finally:
        _writing.reset(token)
        writing.ending.close()
    for callback in writing.callbacks:
        callback()


def on_commit(callback: Callable[[], None]) -> None:
    """Run `callback` once the transaction under way is on disk; never if it is not. The same one is run once."""
    writing = _writing.get()
    if writing is None:
        raise RuntimeError("on_commit() needs a transaction() around it")
    if callback not in writing.callbacks:
        writing.callbacks.append(callback)


def write_after_commit(choose: Callable[[], Callable[[], object]]) -> None:
    """Once the transaction under way is on disk, run what `choose()` then returns in a transaction of its own.

    `choose` itself runs between the two, where it may ask a slow peer. What was answered with success stands already,
    so a write that the database refuses is logged and is no error.
    """

    def afterwards() -> None:
        try:
            write = choose()
            with transaction():
                write()
        except DBAPIError:
            log.exception("write_after_commit_failed")

    on_commit(afterwards)


def in_transaction() -> bool:
    """Whether a `transaction()` is open here."""
    return _writing.get() is not None


def connection() -> Connection:
    """The session's connection, for statements without objects. Asking the session for each of an upsert's statements
    costs a tenth of the upsert."""
    writing, session = _writing.get(), db.session()
    if writing is None or session.in_nested_transaction():  # the session sets a savepoint once it is asked
        return session.connection()
    if writing.connection is None or writing.connection.closed:
        writing.connection = session.connection()
    return writing.connection


def writing_connection() -> Connection:
    """`connection()` for a statement that writes: outside `transaction()` nothing would commit it."""
    _require_transaction()
    return connection()


def is_postgresql() -> bool:
    """Whether rows can be locked one by one."""
    return db.engine.dialect.name == "postgresql"


def primary_key(prefix: str) -> Any:
    """A TypeID primary key column; the default makes a new id with this prefix."""
    return mapped_column(Text, primary_key=True, default=lambda: new_id(prefix))


def as_created(context: Any) -> int:
    """The default of `updated_at`: a row that comes into being was changed last at that moment, to the millisecond."""
    return int(context.get_current_parameters()["created_at"])


def storage_trouble(error: DBAPIError) -> str | None:
    """`STORAGE_BUSY` or `STORAGE_FULL` where the database says so by its own code, else None."""
    sqlite_code = getattr(error.orig, "sqlite_errorcode", None)
    if sqlite_code is not None:
        if sqlite_code == sqlite3.SQLITE_IOERR_SHMSIZE:  # on a full disk the first connection cannot even read
            return "STORAGE_FULL"
        return {5: "STORAGE_BUSY", 6: "STORAGE_BUSY", 13: "STORAGE_FULL"}.get(sqlite_code & 0xFF)
    state = getattr(error.orig, "sqlstate", None)
    if state in {"55P03", "40P01", "40001", "57014", "53300"}:
        return "STORAGE_BUSY"
    if state == "53100":
        return "STORAGE_FULL"
    if error.connection_invalidated or (state or "").startswith(("08", "57P")) or _cannot_connect(error):
        return "STORAGE_BUSY"
    return None


def _cannot_connect(error: DBAPIError) -> bool:
    import psycopg

    return isinstance(error.orig, psycopg.OperationalError) and error.orig.sqlstate is None


def _make_folder(database_url: str) -> None:
    """SQLite makes its file, not the folder of it: on a fresh machine `flask db upgrade` may be what runs first."""
    url = make_url(database_url)
    if url.get_backend_name() == "sqlite" and url.database and url.database != ":memory:":
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)


def _engine_options(database_url: str) -> dict[str, Any]:
    if database_url.startswith("sqlite"):
        return {"connect_args": {"isolation_level": None, "timeout": LOCK_WAIT_SECONDS}}
    return {
        "pool_use_lifo": True,  # few connections are used often, rather than many seldom
        "pool_size": 10,
        "max_overflow": 20,
        "connect_args": {
            "connect_timeout": 5,
            "options": f"-c lock_timeout={LOCK_WAIT_SECONDS * 1000}",
            **_NOTICE_SILENCE,
        },
    }


def _ping_what_rested(engine: Engine) -> None:
    """A connection that rested may have lost its server; then it and its like are opened anew.

    The pool's own ping asks at each use, which is a round trip more for every transaction.
    """

    def rests(_connection: Any, record: ConnectionPoolEntry) -> None:
        record.info["rests_since"] = time.monotonic()

    def wakes(connection: DBAPIConnection, record: ConnectionPoolEntry, _fairy: Any) -> None:
        rested = time.monotonic() - record.info.get("rests_since", time.monotonic())
        if rested > PING_AFTER_SECONDS and not _lives(engine.dialect, connection):
            raise InvalidatePoolError

    event.listen(engine, "checkin", rests)
    event.listen(engine, "checkout", wakes)


def _lives(dialect: Dialect, connection: DBAPIConnection) -> bool:
    try:
        return dialect.do_ping(connection)
    except dialect.loaded_dbapi.Error:
        return False


def _use_own_transactions(engine: Engine, cache_mib: int) -> None:
    event.listen(engine, "connect", lambda connection, _record: _set_pragmas(connection, cache_mib))
    event.listen(engine, "begin", _begin)


def _set_pragmas(connection: Any, cache_mib: int) -> None:
    cursor = connection.cursor()
    for pragma in (
        "journal_mode=WAL",
        "synchronous=NORMAL",
        "foreign_keys=ON",
        f"busy_timeout={LOCK_WAIT_SECONDS * 1000}",
        f"cache_size=-{cache_mib * 1024}",
        "temp_store=MEMORY",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Connection) -> None:
    writing = _writing.get()
    if writing is None:
        connection.exec_driver_sql("BEGIN")
    else:
        _turn.begin(connection, writing.ending)


@event.listens_for(Session, "before_flush")
def _refuse_writes_outside_a_transaction(session: Session, _context: Any, _instances: Any) -> None:
    if session.new or session.dirty or session.deleted:
        _require_transaction()


def _require_transaction() -> None:
    if not in_transaction():
        raise RuntimeError("a write outside transaction(): the view or job must open one")
