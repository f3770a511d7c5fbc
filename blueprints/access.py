"""Closed by default: a route that does not declare who may pass lets nobody in.

    @screen.get("/accounts/<account_id>/contacts")
    @allow("contacts:view")
    def contacts(account_id): ...

`allow` takes a permission in the account of the address; `allow_anyone`, `allow_signed_in` and `allow_operator` are
the other doors. A stranger to an account gets 404, as if it did not exist; a member without the permission gets 403.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from flask import Flask, abort, current_app, g, redirect, request, url_for
from flask_login import current_user

from core import ids
from core.db import db
from domain.accounts import people
from domain.accounts.account import Account
from domain.accounts.permissions import Permission, may

from .api import answers

View = TypeVar("View", bound=Callable[..., Any])
Door = Callable[[], Any]


def allow(permission: Permission) -> Callable[[View], View]:
    """Members of the account in the address whose role grants `permission`."""
    return _declare(lambda: _member_with(permission), permission)


def allow_anyone(view: View) -> View:
    """Everybody, signed in or not."""
    return _declare(lambda: None, "anyone")(view)


def allow_signed_in(view: View) -> View:
    """Whoever is signed in."""
    return _declare(_signed_in, "signed in")(view)


def allow_operator(view: View) -> View:
    """Platform operators."""
    return _declare(_operator, "operator")(view)


def allow_by_gate(view: View) -> View:
    """Operations of the API: their own gate decides (service.md 5)."""
    return _declare(lambda: None, "gate")(view)


def declared(view: Callable[..., Any]) -> str | None:
    """Who may pass, as the route declares it; None for a route that says nothing."""
    return getattr(view, "allowed", None)


def init_app(app: Flask) -> None:
    app.before_request(_knock)


def _declare(door: Door, name: str) -> Callable[[View], View]:
    def mark(view: View) -> View:
        # A function may carry attributes, which its type does not know.
        view.door = door  # type: ignore[attr-defined]
        view.allowed = name  # type: ignore[attr-defined]
        return view

    return mark


def _knock() -> Any:
    if request.endpoint is None or request.endpoint == "static":
        return None
    if any(name.endswith("_id") and not ids.PATTERN.fullmatch(value) for name, value in _path_ids()):
        return None if answers.is_api(request.path) else abort(404)
    view = current_app.view_functions[request.endpoint]
    door: Door | None = getattr(view, "door", None)
    if door is None:
        abort(403)
    answer = door()
    if answer is None and declared(view) != "gate":
        current_app.extensions["assessor_csrf"].protect()
    return answer


def _path_ids() -> list[tuple[str, str]]:
    return [(name, str(value)) for name, value in (request.view_args or {}).items()]


def _signed_in() -> Any:
    if current_user.is_authenticated:
        return None
    return to_sign_in()


def _operator() -> Any:
    if not current_user.is_authenticated:
        return to_sign_in()
    return None if current_user.is_operator else abort(403)


def _member_with(permission: Permission) -> Any:
    if not current_user.is_authenticated:
        return to_sign_in()
    account_id = (request.view_args or {})["account_id"]
    role = people.role_in(current_user, account_id)
    if role is None:
        abort(404)
    g.account = db.session.get(Account, account_id)
    g.role = role
    return None if may(role, permission) else abort(403)


def to_sign_in() -> Any:
    """The sign-in page, and back here afterwards; htmx is told to leave the page, not to swap a cell."""
    wanted = request.full_path.rstrip("?") if request.method == "GET" else None
    if request.headers.get("HX-Request"):
        came_from = request.headers.get("HX-Current-URL", "")
        path = "/" + came_from.split("://", 1)[-1].partition("/")[2] if came_from else None
        return "", 401, {"HX-Redirect": url_for("sessions.sign_in", next=path)}
    return redirect(url_for("sessions.sign_in", next=wanted))
