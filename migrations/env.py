"""How Alembic reaches the database: through the application's own engine."""

from __future__ import annotations

from typing import Any

from alembic import context
from flask import current_app

from core.db import Json
from domain import tables as tables


def _render_item(kind: str, item: Any, _context: Any) -> Any:
    """A JSON value stands in a text column: a migration must not depend on a class that may move."""
    return "sa.Text()" if kind == "type" and isinstance(item, Json) else False


def _compare_type(_context: Any, _inspected: Any, _column: Any, _found: Any, wanted: Any) -> bool | None:
    return False if isinstance(wanted, Json) else None


def run() -> None:
    """Run the migrations, all in one transaction."""
    database = current_app.extensions["migrate"].db
    with database.engine.connect() as connection:
        context.configure(
            connection=connection,
            target_metadata=database.metadata,
            render_as_batch=True,
            render_item=_render_item,
            compare_type=_compare_type,
            transactional_ddl=True,  # SQLite can too, with transactions of our own: a killed one leaves nothing
        )
        with context.begin_transaction():
            context.run_migrations()


run()
