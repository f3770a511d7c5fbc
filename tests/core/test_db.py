import itertools
import os
import resource
import select
import socket
import threading
from pathlib import Path

import psycopg
import pytest
from flask import Flask
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from core.db import db, init_app, on_commit, storage_trouble, transaction
from domain.accounts.account import Account
from tests.servers.postgresql import PostgreSQL


def test_a_write_outside_a_transaction_is_refused(app):
    db.session.add(Account(name="Nowhere"))
    with pytest.raises(RuntimeError, match="outside transaction"):
        db.session.flush()
    db.session.rollback()


def test_a_transaction_keeps_nothing_after_an_error(app):
    with pytest.raises(ZeroDivisionError), transaction() as session:
        session.add(Account(name="Gone"))
        session.flush()
        raise ZeroDivisionError
    assert db.session.query(Account).count() == 0


def test_what_waits_for_the_commit_runs_after_it_and_not_after_an_error(app):
    seen = []
    with transaction():
        on_commit(lambda: seen.append("kept"))
        assert seen == []
    with pytest.raises(ZeroDivisionError), transaction():
        on_commit(lambda: seen.append("lost"))
        raise ZeroDivisionError
    assert seen == ["kept"]


def test_transactions_do_not_nest(app):
    with transaction(), pytest.raises(RuntimeError, match="does not nest"), transaction():
        pass


def test_a_transaction_reads_afresh_what_was_read_before(app):
    with transaction() as session:
        session.add(Account(name="Before"))
    kept = db.session.query(Account).one()
    with db.engine.begin() as elsewhere:
        elsewhere.execute(Account.__table__.update().values(name="After"))
    with transaction():
        assert kept.name == "After"


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True, scope="session")
def test_a_connection_that_lost_its_server_while_it_rested_is_opened_anew(app, monkeypatch):
    lost = _server_of_the_connection()
    with psycopg.connect(db.engine.url.set(drivername="postgresql").render_as_string(False), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 10000)", [lost])
    monkeypatch.setattr("core.db.PING_AFTER_SECONDS", 0.0)
    assert _server_of_the_connection() != lost


def _server_of_the_connection():
    server = db.session.scalar(text("SELECT pg_backend_pid()"))
    db.session.remove()
    return server


def test_a_server_that_is_gone_without_a_word_is_noticed_within_seconds(cluster: PostgreSQL):
    url = cluster.new_database("silent").replace("@/", f"@127.0.0.1:{_over_tcp(cluster)}/").partition("?")[0]
    app = Flask("silent")
    init_app(app, url.replace("postgresql:", "postgresql+psycopg:"), 8)
    with (
        app.app_context(),
        db.engine.connect() as connection,
        socket.socket(fileno=os.dup(connection.connection.driver_connection.fileno())) as used,
    ):
        assert used.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        options = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT, socket.TCP_USER_TIMEOUT)
        idle, interval, count, unacknowledged_ms = (used.getsockopt(socket.IPPROTO_TCP, each) for each in options)
    with app.app_context():
        db.engine.dispose()
    assert idle + interval * count <= 10 and 0 < unacknowledged_ms <= 10_000


def _over_tcp(cluster: PostgreSQL) -> int:
    """A port of this machine behind which the cluster answers one connection."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with listener, listener.accept()[0] as client, socket.socket(socket.AF_UNIX) as server:
            server.connect(str(cluster.folder / ".s.PGSQL.5432"))
            while ready := select.select([client, server], [], [])[0]:
                data = ready[0].recv(65_536)
                if not data:
                    return
                (server if ready[0] is client else client).sendall(data)

    threading.Thread(target=serve, daemon=True).start()
    return int(listener.getsockname()[1])


def test_a_database_that_cannot_be_opened_for_want_of_room_is_a_full_disk(tmp_path: Path):
    engine = create_engine(f"sqlite:///{tmp_path / 'full.db'}")
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA journal_mode=WAL")
    engine.dispose()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(DBAPIError) as refused, engine.connect() as connection:
            connection.exec_driver_sql("SELECT * FROM sqlite_master")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert storage_trouble(refused.value) == "STORAGE_FULL"


def test_a_row_that_comes_into_being_was_changed_last_when_it_was_created(app, monkeypatch):
    passing = itertools.count(1_790_000_000_000_000_000, 1_000_000)  # a millisecond between two looks at the clock
    monkeypatch.setattr("core.clock.time.time_ns", lambda: next(passing))
    with transaction():
        made = [Account(name=name) for name in ("One", "Two")]
        db.session.add_all(made)
        db.session.flush()
    assert all(each.created_at == each.updated_at for each in made)
    assert made[0].created_at != made[1].created_at
