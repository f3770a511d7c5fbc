"""The people of an account: who belongs to it, with which role. Administrators add, change and remove."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, flash, g, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import lazy_gettext as lazy
from flask_login import current_user
from wtforms import EmailField, PasswordField, SelectField, StringField
from wtforms.validators import DataRequired

from blueprints import roles
from blueprints.access import allow
from blueprints.fields import Form, refuse
from blueprints.page import actor, show
from blueprints.sentences import sentence
from core.db import db, transaction
from core.errors import NotFound, Refused
from domain.accounts import people
from domain.accounts.people import Membership, User, Welcome
from domain.accounts.permissions import ROLES

screen = Blueprint("people", __name__)


class AddForm(Form):
    """Somebody who signs in here already needs the first two alone."""

    email = EmailField(lazy("E-mail"), [DataRequired(lazy("Enter the person's e-mail address."))])
    role = SelectField(lazy("Role"), validate_choice=False)
    name = StringField(lazy("Name"))
    password = PasswordField(lazy("Initial password"))


@screen.get("/accounts/<account_id>/people")
@allow("people:view")
def index(account_id: str) -> str:
    """Who belongs to the account, and what each role may do."""
    return _page(account_id, _form())


@screen.post("/accounts/<account_id>/people")
@allow("people:edit")
def add(account_id: str) -> Any:
    """Make somebody a member. A password made here is on this answer alone: no address leads to it again."""
    form = _form()
    if not form.validate_on_submit():
        return _page(account_id, form), 400
    try:
        with transaction():
            welcome = people.welcome(
                account_id,
                form.email.data or "",
                form.role.data or "",
                actor(),
                name=form.name.data or "",
                password=form.password.data or "",
            )
    except Refused as refused:
        refuse(form, refused, {})
        return _page(account_id, form), 400
    if welcome.password is not None:
        return render_template("people/added.html", welcome=welcome, role=roles.name(form.role.data))
    flash(_added(welcome, bool(form.password.data)), "success")
    return _back(account_id)


@screen.post("/accounts/<account_id>/people/<user_id>/role")
@allow("people:edit")
def change_role(account_id: str, user_id: str) -> Any:
    """Give a member another role, once the consequence was read."""
    person, membership = _member(account_id, user_id)
    role = request.form.get("role", "")
    if role in ROLES and role != membership.role and request.form.get("confirmed") != "1":
        return _ask_about_role(person, role)
    try:
        with transaction():
            people.change_role(account_id, user_id, role, actor())
    except Refused as refused:
        flash(sentence(refused), "danger")
        return _back(account_id)
    if role == membership.role:
        flash(_("Nothing was changed."), "info")
    else:
        flash(_("%(name)s is now: %(role)s.", name=person.name, role=roles.name(role)), "success")
    return _back(account_id)


@screen.post("/accounts/<account_id>/people/<user_id>/removal")
@allow("people:edit")
def remove(account_id: str, user_id: str) -> Any:
    """End a membership, once the consequence was read."""
    person, _membership = _member(account_id, user_id)
    if request.form.get("confirmed") != "1":
        return _ask_about_removal(person)
    try:
        with transaction():
            people.remove_member(account_id, user_id, actor())
    except Refused as refused:
        flash(sentence(refused), "danger")
        return _back(account_id)
    flash(_("%(name)s does not belong to this account any more.", name=person.name), "success")
    return _back(account_id)


def removal_question(person: User) -> str:
    """What happens when this person is removed."""
    if person.id == current_user.id:
        return _("You will not see %(account)s any more, from now on.", account=g.account.name)
    return _(
        "%(name)s will not see %(account)s any more, from now on. What was done stays, and so does the sign-in.",
        name=person.name,
        account=g.account.name,
    )


def _form() -> AddForm:
    form = AddForm()
    form.role.choices = roles.choices()
    return form


def _page(account_id: str, form: AddForm) -> str:
    rows = [(person, membership) for person, membership in db.session.execute(people.members(account_id))]
    return show(
        "people/page.html",
        members=rows,
        administrators=sum(membership.role == "account_admin" for _person, membership in rows),
        form=form,
        roles=ROLES,
        role_name=roles.name,
        purposes=roles.PURPOSES,
        deeds=roles.deeds(),
        removal_question=removal_question,
    )


def _member(account_id: str, user_id: str) -> tuple[User, Membership]:
    row = db.session.execute(people.members(account_id).where(User.id == user_id)).first()
    if row is None:
        raise NotFound("member")
    return row[0], row[1]


def _ask_about_role(person: User, role: str) -> str:
    return render_template(
        "components/confirm_page.html",
        title=_("Change the role"),
        sentence=_(
            "%(name)s will be: %(role)s. %(purpose)s",
            name=person.name,
            role=roles.name(role),
            purpose=str(roles.PURPOSES[role]),
        ),
        button=_("Change the role"),
        action=request.path,
        fields=request.form,
        tone="calm",
        cancel_url=url_for("people.index", account_id=g.account.id),
    )


def _ask_about_removal(person: User) -> str:
    return render_template(
        "components/confirm_page.html",
        title=_("Remove %(name)s", name=person.name),
        sentence=removal_question(person),
        button=_("Remove"),
        action=request.path,
        fields=request.form,
        cancel_url=url_for("people.index", account_id=g.account.id),
    )


def _added(welcome: Welcome, typed: bool) -> str:
    if not welcome.is_new and typed:
        return _(
            "%(name)s signs in here already and now belongs to the account. The password stays as it was.",
            name=welcome.person.name,
        )
    return _("%(name)s now belongs to the account.", name=welcome.person.name)


def _back(account_id: str) -> Any:
    """The list; whoever has left the account by this very step starts anew."""
    if people.role_in(current_user, account_id) in (None, "auditor", "participant"):
        return redirect(url_for("sessions.index"), 303)
    return redirect(url_for("people.index", account_id=account_id), 303)
