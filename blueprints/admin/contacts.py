"""Contacts: the people an account knows, whether or not they stand on a roster."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import lazy_gettext as lazy
from wtforms import EmailField, SelectField, StringField
from wtforms.validators import DataRequired, Length

from blueprints.access import allow
from blueprints.fields import Form, refuse
from blueprints.page import PageOf, actor, language_choices, paging, show
from contract.contacts import ContactWrite
from core.db import db, transaction
from core.errors import Refused
from domain.campaigns import contacts
from domain.campaigns.contacts import Contact

screen = Blueprint("contacts", __name__)

# Public name -> field of the form.
FIELDS = {
    "email": "email",
    "firstName": "first_name",
    "lastName": "last_name",
    "company": "company",
    "language": "language",
}
SHORT_ENOUGH = Length(max=200, message=lazy("Use at most 200 characters."))


def _trimmed(value: str | None) -> str | None:
    return value.strip() if value is not None else None


class ContactForm(Form):
    """What a person writes of a contact."""

    email = EmailField(lazy("E-mail"), [DataRequired(lazy("Enter an e-mail address."))], filters=[_trimmed])
    first_name = StringField(lazy("First name"), [SHORT_ENOUGH], filters=[_trimmed])
    last_name = StringField(lazy("Last name"), [SHORT_ENOUGH], filters=[_trimmed])
    company = StringField(lazy("Company"), [SHORT_ENOUGH], filters=[_trimmed])
    language = SelectField(lazy("Language"), validate_choice=True)

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.language.choices = language_choices()

    def body(self) -> ContactWrite:
        """The same shape that the bundle writes."""
        values = {name: self[field].data or None for name, field in FIELDS.items()}
        return ContactWrite.model_validate(values)


@screen.get("/accounts/<account_id>/contacts")
@allow("contacts:view")
def index(account_id: str) -> str:
    """The account's contacts, by language and by words of name, address and company."""
    search = request.args.get("q", "").strip()
    languages = [("", _("All languages")), *((code or "none", name) for code, name in language_choices())]
    asked = request.args.get("language", "")
    language = asked if asked in dict(languages) else ""
    wanted = paging()
    query = contacts.of_account(account_id, language=language or None, search=search)
    return show(
        "contacts/page.html",
        "contacts/_fragment.html",
        listed=PageOf(
            list(db.session.scalars(query.limit(wanted.limit).offset(wanted.offset))), wanted, contacts.count(query)
        ),
        search=search,
        stated=language,
        choices=languages,
        clear_url=url_for("contacts.index", account_id=account_id),
        is_filtered=bool(search or language),
    )


@screen.route("/accounts/<account_id>/contacts/new", methods=["GET", "POST"])
@allow("contacts:edit")
def new(account_id: str) -> Any:
    """Write down a new contact."""
    form = ContactForm()
    if not form.validate_on_submit():
        return _form(form, None)
    try:
        with transaction():
            contact = contacts.create(account_id, form.body(), actor())
    except Refused as refused:
        refuse(form, refused, FIELDS)
        return _form(form, None)
    flash(_("%(name)s is among the contacts now.", name=contact.name), "success")
    return _to_list(account_id)


@screen.route("/accounts/<account_id>/contacts/<contact_id>/edit", methods=["GET", "POST"])
@allow("contacts:edit")
def edit(account_id: str, contact_id: str) -> Any:
    """Bring a contact up to date."""
    contact = contacts.get(account_id, contact_id)
    form = ContactForm(obj=contact)
    if not form.validate_on_submit():
        return _form(form, contact)
    try:
        with transaction():
            contact = contacts.get(account_id, contact_id)
            contacts.edit(contact, form.body(), actor())
    except Refused as refused:
        refuse(form, refused, FIELDS)
        return _form(form, contacts.get(account_id, contact_id))
    flash(_("%(name)s is up to date.", name=contact.name), "success")
    return _to_list(account_id)


@screen.post("/accounts/<account_id>/contacts/<contact_id>/removal")
@allow("contacts:edit")
def remove(account_id: str, contact_id: str) -> Any:
    """Remove a contact, once the person has seen what stays."""
    contact = contacts.get(account_id, contact_id)
    if request.form.get("confirmed") != "1":
        return _ask(contact)
    with transaction():
        contact = contacts.get(account_id, contact_id)
        contacts.remove(contact, actor())
    flash(_("%(name)s is no longer a contact.", name=contact.name), "success")
    return _to_list(account_id)


def _ask(contact: Contact) -> str:
    return render_template(
        "components/confirm_page.html",
        title=_("Remove contact"),
        sentence=_("Remove %(name)s from the contacts? Rosters that hold this person keep theirs.", name=contact.name),
        button=_("Remove contact"),
        action=request.path,
        fields=request.form,
        cancel_url=url_for("contacts.index", account_id=contact.account_id),
    )


def _form(form: ContactForm, contact: Contact | None) -> Any:
    return show("contacts/form.html", form=form, contact=contact), 400 if form.errors else 200


def _to_list(account_id: str) -> Any:
    return redirect(url_for("contacts.index", account_id=account_id), 303)
