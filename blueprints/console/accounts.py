"""The accounts of the platform: their names and sizes, and nothing of what is in them."""

from __future__ import annotations

from typing import Any

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import lazy_gettext as lazy
from flask_login import current_user
from sqlalchemy.exc import IntegrityError
from wtforms import EmailField, PasswordField, SelectField, StringField
from wtforms.validators import DataRequired

from blueprints.access import allow_operator
from blueprints.creation import CreationForm, once
from blueprints.fields import Form, refuse
from blueprints.page import PageOf, actor, language_name, paging, show
from core.db import db, transaction
from core.errors import Refused
from core.i18n import LANGUAGES
from domain.accounts import account as accounts
from domain.accounts import people
from domain.accounts.account import Account
from domain.accounts.people import Welcome
from domain.campaigns import campaign as campaigns

from . import console

PLACES = ("first", "second", "third", "fourth")


class AccountForm(CreationForm):
    """A new account and whoever administers it first."""

    prefix_of_id = "acc"

    name = StringField(lazy("Name of the account"))
    first = SelectField(lazy("Primary language"), validate_choice=False)
    second = SelectField(lazy("Second language"), validate_choice=False)
    third = SelectField(lazy("Third language"), validate_choice=False)
    fourth = SelectField(lazy("Fourth language"), validate_choice=False)
    email = EmailField(lazy("E-mail of the first administrator"), [DataRequired(lazy("Enter an e-mail address."))])
    person_name = StringField(lazy("Name of the first administrator"))
    password = PasswordField(lazy("Initial password"))

    def languages(self) -> list[str]:
        """The published languages in order; a place left empty is passed over."""
        return [self[place].data for place in PLACES if self[place].data]


class RenameForm(Form):
    name = StringField(lazy("Name of the account"))


@console.get("/console/accounts", endpoint="accounts")
@allow_operator
def index() -> str:
    """Every account by name, with how many people and campaigns it has."""
    search = request.args.get("q", "").strip()
    wanted = paging()
    found = [account for account in accounts.all_accounts() if search.casefold() in account.name.casefold()]
    return show(
        "console/accounts.html",
        "console/_accounts.html",
        page=PageOf(found[wanted.offset : wanted.offset + wanted.limit], wanted, len(found)),
        members=people.numbers_of_members(),
        campaigns=campaigns.numbers(),
        entered={account.id for account, role in people.accounts_of(current_user) if role != "participant"},
        search=search,
        clear_url=url_for("console.accounts") if search else None,
    )


@console.route("/console/accounts/new", methods=["GET", "POST"])
@allow_operator
def new_account() -> Any:
    """Create an account with its first administrator; a password made here is on this answer alone."""
    form = _account_form()
    if not form.validate_on_submit():
        return render_template("console/account_form.html", form=form), 400 if form.errors else 200
    try:
        made = once(lambda: _create(form), lambda: _stands(form))
    except Refused as refused:
        _place(form, refused)
        return render_template("console/account_form.html", form=form), 400
    except IntegrityError:  # another change was first
        refuse(form, Refused("CONFLICT"), {})
        return render_template("console/account_form.html", form=form), 409
    if made is None:
        return _sent_before()
    account, welcome = made
    if welcome.password is not None:
        return render_template("console/account_created.html", account=account, welcome=welcome)
    flash(
        _("“%(account)s” stands; %(name)s administers it.", account=account.name, name=welcome.person.name), "success"
    )
    return redirect(url_for("console.accounts"), 303)


@console.route("/console/accounts/<account_id>/name", methods=["GET", "POST"])
@allow_operator
def rename_account(account_id: str) -> Any:
    """Give an account another name."""
    account = accounts.get(account_id)
    form = RenameForm(data={"name": account.name})
    if not form.validate_on_submit():
        return render_template("console/rename.html", form=form, account=account), 400 if form.errors else 200
    try:
        with transaction():
            accounts.rename(accounts.get(account_id), form.name.data or "", actor())
    except Refused as refused:
        refuse(form, refused, {})
        return render_template("console/rename.html", form=form, account=accounts.get(account_id)), 400
    flash(_("The account is called “%(name)s” now.", name=accounts.get(account_id).name), "success")
    return redirect(url_for("console.accounts"), 303)


def _account_form() -> AccountForm:
    form = AccountForm({"first": "en"})
    named = [(code, language_name(code)) for code in LANGUAGES]
    form.first.choices = named
    for place in PLACES[1:]:
        form[place].choices = [("", _("None")), *named]
    return form


def _create(form: AccountForm) -> tuple[Account, Welcome]:
    with transaction():
        account = accounts.create(form.name.data or "", actor(), form.languages(), account_id=form.id_to_be)
        welcome = people.welcome(
            account.id,
            form.email.data or "",
            "account_admin",
            actor(),
            name=form.person_name.data or "",
            password=form.password.data or "",
        )
    return account, welcome


def _stands(form: AccountForm) -> bool:
    return db.session.get(Account, form.form_key.data or "") is not None


def _sent_before() -> Any:
    flash(_("This form was sent before, and the account stands. A password made for it is not shown again."), "info")
    return redirect(url_for("console.accounts"), 303)


def _place(form: AccountForm, refused: Refused) -> None:
    """A name may be refused of the account or of the person, a language at the place where it stands again."""
    fields = {"languages": _language_place(form, refused.params.get("value"))}
    if refused.path == "name" and (form.name.data or "").strip() and len(form.name.data or "") <= accounts.LONGEST_NAME:
        fields["name"] = "person_name"
    refuse(form, refused, fields)


def _language_place(form: AccountForm, code: str | None) -> str:
    places = [place for place in PLACES if form[place].data == code]
    return places[-1] if places else "first"
