"""The language of a page, in the order of rule B.4."""

from __future__ import annotations

from flask import Flask, Response, current_app, g, has_request_context, request
from flask_login import current_user

from core.i18n import Language, best_of, known, to_locale

COOKIE = "assessor_language"
A_YEAR = 365 * 24 * 3600


def init_app(app: Flask) -> None:
    app.after_request(_remember_choice)


def chosen_locale() -> str:
    """Babel's locale of the page under way."""
    return to_locale(chosen())


def chosen() -> Language:
    """The address, then the language last chosen on this site, the person's preference, the browser, the account."""
    if not has_request_context():
        return "en"
    return (
        known(request.args.get("lang"))
        or known(request.cookies.get(COOKIE))
        or _preference()
        or best_of(request.accept_languages.values())
        or _account_default()
        or "en"
    )


def _preference() -> Language | None:
    if g.get("without_database"):
        return None
    return known(current_user.language) if current_user.is_authenticated else None


def _account_default() -> Language | None:
    account = g.get("account")
    return known(account.primary_language) if account is not None else None


def _remember_choice(response: Response) -> Response:
    followed = known(request.args.get("lang"))
    if followed is not None and request.cookies.get(COOKIE) != followed:
        secure = current_app.config["SESSION_COOKIE_SECURE"]
        response.set_cookie(COOKIE, followed, max_age=A_YEAR, httponly=True, samesite="Lax", secure=secure)
    return response
