"""The migrations make the models' schema, on both databases, up and down."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from flask_migrate import downgrade, upgrade
from sqlalchemy import inspect

from app import create_app
from core.db import Json, Model, db
from tests.conftest import settings_for

MIGRATIONS = Path(__file__).parent.parent.parent / "migrations"


@pytest.fixture(params=("sqlite", "postgresql"))
def empty_app(request: pytest.FixtureRequest, tmp_path: Path):
    """The application on a database without a table."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'empty.db'}"
    else:
        url = request.getfixturevalue("cluster").new_database(f"empty_{tmp_path.name}")
    app = create_app(settings_for(url, "unix:///nonexistent.sock", tmp_path))
    with app.app_context():
        yield app
        db.session.remove()
        db.engine.dispose()


def tables() -> set[str]:
    return set(inspect(db.engine).get_table_names()) - {"alembic_version"}


def differences() -> list[object]:
    def compare_type(_context, _inspected, _column, _found, wanted):
        return False if isinstance(wanted, Json) else None

    with db.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": compare_type})
        return compare_metadata(context, Model.metadata)


def test_the_migrations_make_the_schema_of_the_models(empty_app):
    upgrade(directory=str(MIGRATIONS))
    assert tables() == set(Model.metadata.tables)
    assert differences() == []


def test_every_migration_can_be_taken_back(empty_app):
    upgrade(directory=str(MIGRATIONS))
    downgrade(directory=str(MIGRATIONS), revision="base")
    assert tables() == set()
    upgrade(directory=str(MIGRATIONS))
    assert differences() == []
