"""An installation in a scratch folder: its database, its Valkey, an account with a token and a signed-in person."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flask import Flask
from flask.sessions import SecureCookieSessionInterface
from sqlalchemy import update

import worker
from app import create_app
from bench import people
from core import i18n, serve
from core.db import db, transaction
from core.settings import Settings
from core.valkey import ValkeyMissing
from domain.accounts import account as accounts
from domain.accounts import credentials
from domain.accounts import people as members
from domain.accounts.permissions import SCOPES
from domain.campaigns import campaign as campaigns
from domain.campaigns.campaign import Campaign
from domain.events.audit import COMMAND_LINE
from tests.servers import postgresql, valkey
from tests.servers.postgresql import PostgreSQLMissing

ROOT = Path(__file__).parent.parent
SECRET_KEY = "a secret for the bench, long enough to be one"
START_SECONDS = 30.0
STOP_SECONDS = 15.0
# The product's routes and one more, which answers from memory.
PRODUCT = "bench.floor_app:create_app"
PLAIN = "bench.floor_app:create_plain_app"


@dataclass(frozen=True)
class Installation:
    """What a bench needs to know of one installation."""

    app: Flask
    settings: Settings
    account_id: str
    token: str
    cookie: str

    @property
    def is_postgresql(self) -> bool:
        """Whether its database is PostgreSQL."""
        return self.settings.database_url.startswith("postgresql")

    @property
    def v2(self) -> str:
        """The base of the account's public API."""
        return f"/api/v2/public/accounts/{self.account_id}"

    @property
    def api_headers(self) -> dict[str, str]:
        """The headers of an API call."""
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def environment(self) -> dict[str, str]:
        """What a process of this installation finds in its environment."""
        settings = self.settings
        return {
            **os.environ,
            "INSTANCE_PATH": str(settings.instance_path),
            "DATABASE_URL": settings.database_url,
            "REDIS_URL": settings.redis_url,
            "BASE_URL": settings.base_url,
            "SECRET_KEY": settings.secret_key,
            "DEMO": "0",
        }

    def new_campaign(self, name: str) -> str:
        """An empty campaign; returns its id."""
        with self.app.app_context(), transaction():
            return campaigns.create(self.account_id, {"name": name}, COMMAND_LINE).id

    def new_roster(self, size: int, kind: str = "person") -> str:
        """A campaign with so many people on its roster, put there by plain inserts."""
        campaign_id = self.new_campaign(f"Roster of {size:,}")
        self.insert_people(campaign_id, people.table_rows(self.account_id, campaign_id, people.people(size, kind)))
        return campaign_id

    def insert_people(self, campaign_id: str, rows: list[tuple[Any, ...]]) -> float:
        """One `executemany` of rows of the participant table, on the driver itself; returns its seconds."""
        statement = people.insert_statement("participant", people.COLUMNS, is_postgresql=self.is_postgresql)
        with self.app.app_context(), transaction() as session:
            cursor = session.connection().connection.cursor()
            began = time.perf_counter()
            cursor.executemany(statement, rows)
            session.execute(update(Campaign).where(Campaign.id == campaign_id).values(roster_size=len(rows)))
            session.commit()
            return time.perf_counter() - began


class Scratch:
    """Where installations are made: one folder, one Valkey and, where it is asked for, one PostgreSQL cluster."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self._made = 0
        self._cluster: postgresql.PostgreSQL | None = None
        try:
            self._redis_url = stack.enter_context(valkey.server()).url
        except ValkeyMissing as missing:
            print(f"Without Valkey: {missing}")
            self._redis_url = f"unix://{folder / 'nowhere.sock'}"
        i18n.compile_catalogues()

    def databases(self) -> list[str]:
        """The kinds of database on this machine."""
        return ["SQLite", "PostgreSQL"] if self._has_postgresql() else ["SQLite"]

    def installation(self, database: str = "SQLite") -> Installation:
        """A fresh installation on one kind of database."""
        self._made += 1
        folder = self._folder / f"installation-{self._made}"
        folder.mkdir()
        settings = self._settings(folder, self._database_url(database, folder))
        app = create_app(settings)
        with app.app_context():
            db.create_all()
            account_id, token, cookie = _populate(app)
        self._stack.callback(_dispose, app)
        return Installation(app, settings, account_id, token, cookie)

    def _settings(self, folder: Path, database_url: str) -> Settings:
        return Settings(
            instance_path=folder,
            database_url=database_url,
            redis_url=self._redis_url,
            base_url="http://127.0.0.1",
            secret_key=SECRET_KEY,
            demo=False,
        )

    def _database_url(self, database: str, folder: Path) -> str:
        if database == "SQLite":
            return f"sqlite:///{folder / 'bench.db'}"
        assert self._cluster is not None
        return "postgresql+psycopg" + self._cluster.new_database(f"bench_{self._made}").removeprefix("postgresql")

    def _has_postgresql(self) -> bool:
        if self._cluster is None:
            with suppress(PostgreSQLMissing):
                self._cluster = self._stack.enter_context(postgresql.cluster(is_durable=True))
        return self._cluster is not None


@contextmanager
def served(installation: Installation, factory: str = PRODUCT) -> Iterator[int]:
    """Granian as `python app.py` starts it, on a free port; gives the port, and ends the server at the end."""
    port = _free_port()
    command = [factory if word == "app:create_app" else word for word in serve.web_command("127.0.0.1", port)]
    with (installation.settings.instance_path / f"web-{port}.log").open("wb") as log:
        web = subprocess.Popen(command, env=installation.environment, cwd=ROOT, stdout=log, stderr=log)
        try:
            _wait_for(port, web)
            yield port
        finally:
            stop(web)


def stop(process: subprocess.Popen[Any]) -> None:
    """End a process of ours, its children with it: granian ends them itself when it is asked to."""
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def start_worker(installation: Installation) -> subprocess.Popen[str]:
    """A process that runs import jobs by their ids, as frugal as the product's worker; see `bench.import_worker`."""
    with (installation.settings.instance_path / "worker.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "bench.import_worker"],
            env={**worker.FRUGAL, **installation.environment},
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )


def _populate(app: Flask) -> tuple[str, str, str]:
    """An account, a token with a budget that no bench uses up, and the cookie of an administrator."""
    with transaction():
        account = accounts.create("Bench", COMMAND_LINE, ["fr", "en"])
        person = members.create("alice@example.com", "Alice", "a long enough password", COMMAND_LINE)
        members.add_member(account.id, person, "account_admin", COMMAND_LINE)
        _, token = credentials.mint(
            SECRET_KEY,
            accounts=[account.id],
            scopes=SCOPES,
            by=COMMAND_LINE,
            label="bench",
            per_minute=credentials.MOST_PER_MINUTE,
        )
        secret = members.open_session(person)
        account_id = account.id
    serializer = SecureCookieSessionInterface().get_signing_serializer(app)
    assert serializer is not None
    return account_id, token, f"{app.config['SESSION_COOKIE_NAME']}={serializer.dumps({'sign_in': secret})}"


def _dispose(app: Flask) -> None:
    with app.app_context():
        db.engine.dispose()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for(port: int, web: subprocess.Popen[bytes]) -> None:
    """Until the server answers. Both of its processes have started then, or start within the first warm-up."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and web.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=2) as probe:
            probe.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            if probe.recv(16).startswith(b"HTTP/1.1 200"):
                return
        time.sleep(0.05)
    raise RuntimeError(f"the server on port {port} did not start")
