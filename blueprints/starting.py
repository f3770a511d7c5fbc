"""What stands before the first page of `python app.py`: the schema, the demo data, and what to tell the person."""

from __future__ import annotations

from pathlib import Path

import flask_migrate
from flask import Flask
from sqlalchemy.exc import DBAPIError

from core.db import db, transaction
from core.serve import CannotServe
from core.settings import Settings
from domain.bundle import demo
from domain.bundle.demo import SignIn

VERSIONS = Path(__file__).parent.parent / "migrations" / "versions"


def prepare(app: Flask) -> str:
    """Bring the database up to date and fill an empty one with the demo; returns the demo's sign-ins as text.

    Raises `CannotServe` with a sentence where the database cannot be had.
    """
    settings: Settings = app.config["SETTINGS"]
    with app.app_context():
        try:
            bring_up_to_date()
            return _with_demo() if settings.demo else ""
        except DBAPIError as error:
            where = db.engine.url.render_as_string(hide_password=True)
            said = str(error.orig).strip().splitlines() or ["no reason given"]
            raise CannotServe(f"the database {where} cannot be used ({said[0]}).") from error


def bring_up_to_date() -> None:
    """The schema of this version, by its migrations."""
    if any(VERSIONS.glob("*.py")):
        flask_migrate.upgrade()
    else:
        db.create_all()


def _with_demo() -> str:
    if demo.is_empty():
        with transaction():
            demo.load_into_empty()
    sign_ins = demo.sign_ins()
    return "\n".join(["The demo's people sign in with:", *map(_line, sign_ins)]) if sign_ins else ""


def _line(sign_in: SignIn) -> str:
    what = "operator" if sign_in.what == "operator" else f"administrator of {sign_in.account}"
    return f"  {sign_in.email:<28} {sign_in.password}   ({what})"
