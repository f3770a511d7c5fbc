"""Signing in and out. The browser holds a signed cookie with a secret; the session it opens stands in the database."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, Flask, make_response, redirect, render_template, request, session, url_for
from flask_babel import gettext as _
from flask_babel import lazy_gettext as lazy
from flask_babel import ngettext
from flask_login import current_user
from wtforms import EmailField, HiddenField, PasswordField
from wtforms.validators import DataRequired

from core.db import transaction
from domain.accounts import people
from domain.accounts.people import User

from . import throttle
from .access import allow_anyone, allow_signed_in
from .fields import Form

screen = Blueprint("sessions", __name__)

SESSION_KEY = "sign_in"


class SignInForm(Form):
    email = EmailField(lazy("E-mail"), [DataRequired(lazy("Enter your e-mail address."))])
    password = PasswordField(lazy("Password"), [DataRequired(lazy("Enter your password."))])
    next = HiddenField()


def init_app(app: Flask) -> None:
    app.extensions["assessor_login"].request_loader(_who)


@screen.route("/login", methods=["GET", "POST"])
@allow_anyone
def sign_in() -> Any:
    """Ask who is there; on success renew the session and go where the person wanted."""
    form = SignInForm(data={"next": request.args.get("next", "")})
    if current_user.is_authenticated and request.method == "GET":
        return redirect(_safe(form.next.data) or landing(current_user))
    if not form.validate_on_submit():
        return render_template("sessions/sign_in.html", form=form), 400 if form.errors else 200
    email, password = form.email.data or "", form.password.data or ""
    seconds = throttle.seconds_to_wait(email)
    if seconds:
        page = render_template("sessions/sign_in.html", form=form, alert=wait_sentence(seconds))
        return page, 429, {"Retry-After": str(seconds)}
    person = people.find(email)
    if not people.password_fits(person, password) or person is None:
        return render_template("sessions/sign_in.html", form=form, alert=_refusal()), 401
    throttle.forgive(email)
    begin_session(person)
    response = make_response(redirect(_safe(form.next.data) or landing(person)))
    throttle.remember_browser(response, email)
    return response


@screen.post("/logout")
@allow_signed_in
def sign_out() -> Any:
    """End this session, in the browser and in the database."""
    with transaction():
        people.close_session(session.get(SESSION_KEY, ""))
    session.clear()
    return redirect(url_for("sessions.sign_in"))


@screen.get("/")
@allow_signed_in
def index() -> Any:
    """The first page of whoever is signed in."""
    return redirect(landing(current_user))


def begin_session(person: User) -> None:
    """Open a fresh session for a person; what the browser held before is forgotten."""
    with transaction():
        people.close_session(session.get(SESSION_KEY, ""))
        secret = people.open_session(person)
    session.clear()
    session.permanent = True
    session[SESSION_KEY] = secret


def landing(person: User) -> str:
    """Where a person starts: the first account that is worked in, else the console, else the person's own pages."""
    for account, role in people.accounts_of(person):
        if role != "participant":
            return url_for("overview.show", account_id=account.id)
    return url_for("console.accounts") if person.is_operator else url_for("me.profile")


def _who(_request: Any) -> User | None:
    secret = session.get(SESSION_KEY)
    return people.of_session(secret) if isinstance(secret, str) else None


def _safe(path: str | None) -> str | None:
    """`path` if it leads to a page of this site; an address elsewhere is dropped."""
    if not path or not path.startswith("/") or path.startswith("//") or "\\" in path or not path.isprintable():
        return None
    parts = urlsplit(path)
    return None if parts.scheme or parts.netloc else path


def _refusal() -> str:
    return _("The e-mail or the password is not correct. Check both and try again.")


def wait_sentence(seconds: int) -> str:
    """What somebody reads who tried too many passwords."""
    minutes = -(-seconds // 60)
    return ngettext(
        "There were too many attempts. Wait %(num)s minute, then try again.",
        "There were too many attempts. Wait %(num)s minutes, then try again.",
        minutes,
    )
