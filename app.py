"""Assessor's web application: `create_app()` binds the parts; `python app.py` serves this machine whole."""

from __future__ import annotations

import sys

from flask import Flask
from flask_compress import Compress
from flask_login import LoginManager
from flask_wtf import CSRFProtect
from werkzeug.middleware.proxy_fix import ProxyFix

import blueprints
import jobs.commands
from blueprints import commands
from blueprints.isolation import Babel
from core import db, limits, logs, metrics, queue
from core.settings import Settings
from domain import tables as tables


def create_app(settings: Settings | None = None) -> Flask:
    """The application, by the environment's settings where none are given."""
    settings = settings or Settings.from_env()
    app = Flask(__name__)
    app.config.update(_flask_config(settings))
    if settings.trusted_proxies:  # who calls, and by https or not, is then what the nearest proxies say
        # Flask's own way to put a layer around the application is to assign over the method.
        app.wsgi_app = ProxyFix(  # type: ignore[method-assign]
            app.wsgi_app, x_for=settings.trusted_proxies, x_proto=settings.trusted_proxies
        )
    logs.configure()
    logs.init_app(app)
    metrics.init_app(app)
    db.init_app(app, settings.database_url, settings.sqlite_cache_mib)
    queue.init_app(app, settings)
    limits.init_app(app)
    app.extensions["assessor_csrf"] = CSRFProtect(app)
    app.extensions["assessor_login"] = LoginManager(app)
    Babel(app, locale_selector=blueprints.language.chosen_locale, default_translation_directories="translations")
    Compress(app)
    blueprints.init_app(app)
    commands.init_app(app)
    jobs.commands.init_app(app)
    return app


def _flask_config(settings: Settings) -> dict[str, object]:
    return {
        "SETTINGS": settings,
        "SECRET_KEY": settings.secret_key,
        "TESTING": settings.testing,
        "SESSION_COOKIE_NAME": "assessor_session",
        "SESSION_COOKIE_HTTPONLY": True,
        "SESSION_COOKIE_SAMESITE": "Lax",
        "SESSION_COOKIE_SECURE": settings.is_secure,
        "SESSION_REFRESH_EACH_REQUEST": False,
        "PERMANENT_SESSION_LIFETIME": 14 * 24 * 3600,
        "WTF_CSRF_HEADERS": ["X-CSRF-Token"],
        "WTF_CSRF_TIME_LIMIT": None,
        "WTF_CSRF_CHECK_DEFAULT": False,
        "MAX_CONTENT_LENGTH": 64 * 1024 * 1024,
        "MAX_FORM_MEMORY_SIZE": 2 * 1024 * 1024,
        "COMPRESS_ALGORITHM": ["gzip"],
        "COMPRESS_LEVEL": 5,
        "COMPRESS_MIN_SIZE": 2000,
        "COMPRESS_MIMETYPES": ["text/html", "text/css", "application/javascript", "text/javascript", "image/svg+xml"],
    }


def main() -> int:
    """What `python app.py` runs."""
    from core import serve

    try:
        return serve.main(_prepare)
    except serve.CannotServe as reason:
        sys.stderr.write(f"Assessor cannot start: {reason}\n")
        return 1


def _prepare(settings: Settings) -> str:
    """Bring the database up to date, fill an empty one with the demo, and return what to print at the start."""
    from blueprints.starting import prepare

    return prepare(create_app(settings))


if __name__ == "__main__":
    sys.exit(main())
