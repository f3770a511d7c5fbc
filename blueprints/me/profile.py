"""My profile: the name, the language of the screens, the password."""

from __future__ import annotations

from typing import Any

from flask import Response, current_app, flash, make_response, redirect, render_template, url_for
from flask_babel import force_locale
from flask_babel import gettext as _
from flask_babel import lazy_gettext as lazy
from flask_login import current_user
from wtforms import PasswordField, SelectField, StringField
from wtforms.validators import DataRequired

from blueprints import language, sessions, throttle
from blueprints.access import allow_signed_in
from blueprints.fields import Form, refuse
from core.db import db, transaction
from core.errors import Refused
from core.i18n import LANGUAGES, NATIVE_NAMES, Language, known, to_locale
from domain.accounts import people
from domain.accounts.people import User

from . import me


class ProfileForm(Form):
    name = StringField(lazy("Name"), [DataRequired(lazy("Enter your name."))])
    language = SelectField(lazy("Language of the screens"), validate_choice=False)


class PasswordForm(Form):
    current = PasswordField(lazy("Current password"), [DataRequired(lazy("Enter your current password."))])
    password = PasswordField(lazy("New password"), [DataRequired(lazy("Enter a new password."))])
    again = PasswordField(lazy("New password again"), [DataRequired(lazy("Enter the new password again."))])


@me.get("/me/profile")
@allow_signed_in
def profile() -> str:
    """Who I am here."""
    return _page(_profile_form(), PasswordForm(formdata=None))


@me.post("/me/profile")
@allow_signed_in
def save_profile() -> Any:
    """Change name and language. The language counts from the next page on, whatever was chosen before."""
    form = _profile_form()
    if not form.validate_on_submit():
        return _page(form, PasswordForm(formdata=None)), 400
    chosen = known(form.language.data)
    try:
        with transaction():
            people.change_profile(_myself(), form.name.data or "", chosen)
    except Refused as refused:
        refuse(form, refused, {})
        return _page(form, PasswordForm(formdata=None)), 400
    response = make_response(redirect(url_for("me.profile"), 303))
    _show_the_site_in(response, chosen)
    with force_locale(to_locale(chosen or language.chosen())):
        flash(_("Your profile is up to date."), "success")
    return response


@me.post("/me/password")
@allow_signed_in
def change_password() -> Any:
    """Change the password: every session ends, and this browser begins a new one."""
    form = PasswordForm()
    if not form.validate_on_submit():
        return _page(_profile_form(formdata=None), form), 400
    if form.password.data != form.again.data:
        refuse(form, Refused("PASSWORDS_DIFFER", path="again"), {})
        return _page(_profile_form(formdata=None), form), 400
    seconds = throttle.seconds_to_wait_to_confirm(current_user.id)
    if seconds:
        form.form_errors.append(sessions.wait_sentence(seconds))
        return _page(_profile_form(formdata=None), form), 429, {"Retry-After": str(seconds)}
    if not people.password_fits(current_user, form.current.data or ""):
        refuse(form, Refused("PASSWORD_WRONG", path="current"), {})
        return _page(_profile_form(formdata=None), form), 400
    throttle.forgive_confirmation(current_user.id)
    try:
        with transaction():
            people.change_password(_myself(), form.password.data or "")
    except Refused as refused:
        refuse(form, refused, {})
        return _page(_profile_form(formdata=None), form), 400
    sessions.begin_session(_myself())
    flash(_("Your password is changed. Every other browser is signed out."), "success")
    return redirect(url_for("me.profile"), 303)


def _myself() -> User:
    person = db.session.get(User, current_user.id)
    assert person is not None
    return person


def _profile_form(**kwargs: Any) -> ProfileForm:
    form = ProfileForm(data={"name": current_user.name, "language": current_user.language or ""}, **kwargs)
    form.language.choices = [("", _("Follow my browser")), *((code, NATIVE_NAMES[code]) for code in LANGUAGES)]
    return form


def _page(form: ProfileForm, password_form: PasswordForm) -> str:
    return render_template("me/profile.html", form=form, password_form=password_form)


def _show_the_site_in(response: Response, chosen: Language | None) -> None:
    """The language last chosen on this site goes before the preference (B.4), so a saved preference is that choice."""
    if chosen is None:
        response.delete_cookie(language.COOKIE)
        return
    secure = current_app.config["SESSION_COOKIE_SECURE"]
    response.set_cookie(language.COOKIE, chosen, max_age=language.A_YEAR, httponly=True, samesite="Lax", secure=secure)
