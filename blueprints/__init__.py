"""Every URL. A route reads top to bottom: who may pass, the form, the verb, the template."""

from __future__ import annotations

from flask import Flask

from . import access, faces, language, nul, page, security, sessions
from .mounted import MOUNTED


def init_app(app: Flask) -> None:
    """Mount every blueprint, closed by default, with error pages and the headers of a careful site."""
    nul.init_app(app)
    security.init_app(app)
    language.init_app(app)
    access.init_app(app)
    faces.init_app(app)
    page.init_app(app)
    sessions.init_app(app)
    for blueprint in MOUNTED:
        app.register_blueprint(blueprint)
