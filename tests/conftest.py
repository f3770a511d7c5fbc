"""Fixtures: the application on each database, a real Valkey, and the people of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import time_machine
from flask import Flask, g
from flask.testing import FlaskClient
from hypothesis import HealthCheck, settings

from app import create_app
from core import clock
from core.db import Model, db, transaction
from core.i18n import compile_catalogues
from core.settings import Settings
from tests import world as worlds
from tests.house import test_sizes
from tests.servers import postgresql, valkey
from tests.servers.postgresql import PostgreSQL
from tests.servers.valkey import Valkey
from tests.world import World

SECRET_KEY = "a secret for the tests, long enough to be one"
DATABASES = ("sqlite", "postgresql")

# The same examples in each run, so that a red one is of the change; `--hypothesis-profile=explore` looks for new ones.
# How long an example takes says nothing on a busy machine.
settings.register_profile("explore", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("house", settings.get_profile("explore"), max_examples=100, derandomize=True)
settings.load_profile("house")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what is longer than the habit; it fails nothing."""
    long_ones = test_sizes.report()
    if long_ones:
        terminalreporter.write_sep("-", "longer than the habit (files over 400 lines, functions over 30)")
        terminalreporter.write_line("\n".join(long_ones))


@pytest.fixture(scope="session", autouse=True)
def _catalogues() -> None:
    compile_catalogues()


@pytest.fixture(scope="session")
def shared_valkey() -> Iterator[Valkey]:
    """One Valkey for the whole run; its keys are forgotten before each test that uses `app`."""
    with valkey.server() as server:
        yield server


@pytest.fixture(scope="session")
def cluster() -> Iterator[PostgreSQL]:
    """One PostgreSQL cluster for the whole run."""
    with postgresql.cluster() as server:
        yield server


@pytest.fixture(scope="session")
def made_once() -> Iterator[dict[str, Any]]:
    """What is made once for each database, however often the tests change from one to the other."""
    made: dict[str, Any] = {}
    yield made
    for app in (each for each in made.values() if isinstance(each, Flask)):
        with app.app_context():
            db.engine.dispose()


@pytest.fixture(scope="session", params=DATABASES)
def database_url(
    request: pytest.FixtureRequest, made_once: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> str:
    """The address of a database of each kind, as `DATABASE_URL` would give it."""
    name = f"address of {request.param}"
    if name not in made_once and request.param == "sqlite":
        made_once[name] = f"sqlite:///{tmp_path_factory.mktemp('db') / 'test.db'}"
    elif name not in made_once:
        made_once[name] = request.getfixturevalue("cluster").new_database("assessor_test")
    return str(made_once[name])


def settings_for(database_url: str, redis_url: str, instance_path: Path) -> Settings:
    """Settings of a test installation."""
    return Settings(
        instance_path=instance_path,
        database_url=database_url.replace("postgresql://", "postgresql+psycopg://"),
        redis_url=redis_url,
        base_url="http://localhost",
        secret_key=SECRET_KEY,
        testing=True,
    )


@pytest.fixture(scope="session")
def installation(
    database_url: str, made_once: dict[str, Any], shared_valkey: Valkey, tmp_path_factory: pytest.TempPathFactory
) -> Flask:
    """The application on one database with its tables made."""
    if database_url not in made_once:
        made_once[database_url] = _install(database_url, shared_valkey, tmp_path_factory)
    return cast(Flask, made_once[database_url])


def _install(database_url: str, shared_valkey: Valkey, tmp_path_factory: pytest.TempPathFactory) -> Flask:
    app = create_app(settings_for(database_url, shared_valkey.url, tmp_path_factory.mktemp("instance")))
    unsaved: list[str] = []
    app.extensions["unsaved"] = unsaved

    @app.teardown_request
    def _notice_unsaved_changes(_error: BaseException | None) -> None:
        session = db.session
        unsaved.extend(map(repr, [*session.new, *session.dirty, *session.deleted]))

    app.before_request_funcs.setdefault(None, []).insert(0, _forget_the_last_request)
    with app.app_context():
        db.create_all()
    return app


def _forget_the_last_request() -> None:
    # The requests of one test share the test's app context, and with it `g`, where the signed-in person is made_once.
    vars(g).clear()


@pytest.fixture
def one_window() -> Iterator[None]:
    """Limits count in windows that follow the clock, of a minute or a quarter of an hour: here none ends meanwhile."""
    quarter_of_an_hour = 15 * 60
    begun = clock.now_ms() // 1000 // quarter_of_an_hour * quarter_of_an_hour
    with time_machine.travel(begun, tick=True):
        yield


@pytest.fixture
def app(installation: Flask, shared_valkey: Valkey) -> Iterator[Flask]:
    """The application with an empty database, inside an app context. Fails where a request left changes unsaved."""
    shared_valkey.forget_everything()
    with installation.app_context():
        _empty()
        yield installation
        db.session.remove()
    unsaved = installation.extensions["unsaved"]
    left, unsaved[:] = list(unsaved), []
    assert not left, f"a request ended with unsaved changes: {left}"


@pytest.fixture
def world(app: Flask) -> World:
    """Alice, Bob, Audrey, Paula, Charlie and Olga with their accounts; see `World`."""
    return worlds.build()


@pytest.fixture
def alice(app: Flask, world: World) -> FlaskClient:
    """A browser in which the account's administrator is signed in."""
    return worlds.sign_in(app, "Alice")


@pytest.fixture
def bob(app: Flask, world: World) -> FlaskClient:
    """A browser in which the campaign manager is signed in."""
    return worlds.sign_in(app, "Bob")


@pytest.fixture
def charlie(app: Flask, world: World) -> FlaskClient:
    """A browser in which the administrator of another account is signed in."""
    return worlds.sign_in(app, "Charlie")


@pytest.fixture
def olga(app: Flask, world: World) -> FlaskClient:
    """A browser in which the platform's operator is signed in."""
    return worlds.sign_in(app, "Olga")


@pytest.fixture
def stranger(app: Flask, world: World) -> FlaskClient:
    """A browser in which nobody is signed in."""
    return app.test_client()


def _empty() -> None:
    with transaction() as session:
        for table in reversed(Model.metadata.sorted_tables):
            session.execute(table.delete())
