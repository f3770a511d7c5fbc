"""Putting one person on the roster: a member of the account, a contact, or somebody new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flask import flash, g, request
from flask_babel import gettext as _
from pydantic import ValidationError

from blueprints.access import allow
from blueprints.admin import campaign_frame
from blueprints.form_errors import place
from blueprints.page import actor, is_fragment, show
from contract.participants import ParticipantUpsert
from core import ids
from core.db import db, transaction
from core.errors import NotFound, Refused
from domain.accounts import people
from domain.accounts.people import User
from domain.campaigns import contacts, roster
from domain.campaigns.campaign import Campaign
from domain.campaigns.contacts import Contact

from .forms import FIELDS, AddingForm, ContactForm, ExistingUserForm, NewUserForm
from .screen import ROSTER, at, go, screen

TABS = ("existing", "contact", "new")
MOST_FOUND = 20


@dataclass(frozen=True)
class Found:
    """Contacts that fit a search, and whether there are more."""

    rows: list[Contact]
    has_more: bool


@screen.route(f"{ROSTER}/new", methods=["GET", "POST"])
@allow("roster:edit")
def new(account_id: str, campaign_id: str) -> Any:
    """Add one person, by the tab that was filled in."""
    tab = request.values.get("tab", "new")
    tab = tab if tab in TABS else "new"
    forms = _forms(tab)
    if request.method == "GET" or not forms[tab].validate():
        return _shown(campaign_frame.opened(campaign_id), tab, forms)
    try:
        with transaction():
            campaign = campaign_frame.opened(campaign_id)
            written = roster.add(campaign, _body(tab, forms[tab]), actor())
    except (Refused, ValidationError) as error:
        place(forms[tab], error, _FIELDS[tab])
        return _shown(campaign_frame.opened(campaign_id), tab, forms, _who_stands_there(error))
    name = " ".join(part for part in (written.row["first_name"], written.row["last_name"]) if part)
    flash(_("%(name)s is on the roster.", name=name or written.row["email"]), "success")
    return go(at("index"))


# Where each tab shows what the body or the roster says of its fields.
_FIELDS = {
    "new": FIELDS,
    "existing": {**dict.fromkeys(FIELDS, "user_id"), "language": "language"},
    "contact": {**dict.fromkeys(FIELDS, "contact_id"), "language": "language"},
}


def _forms(tab: str) -> dict[str, AddingForm]:
    """One form for each tab; only the one that was sent reads what was sent."""
    kinds: dict[str, type[AddingForm]] = {"new": NewUserForm, "existing": ExistingUserForm, "contact": ContactForm}
    sent = request.form if request.method == "POST" else None
    return {key: kind(formdata=sent if key == tab else None, prefix=f"{key}-") for key, kind in kinds.items()}


def _body(tab: str, form: AddingForm) -> ParticipantUpsert:
    if isinstance(form, NewUserForm):
        return form.upsert(form.email.data or "", form.first_name.data, form.last_name.data)
    if isinstance(form, ExistingUserForm):
        member = _member(form.user_id.data)
        first, _space, last = member.name.partition(" ")
        return form.upsert(member.email, first, last)
    assert isinstance(form, ContactForm)
    contact = _contact(form.contact_id.data)
    if contact is None:
        raise Refused("CONTACT_REQUIRED", path="email")
    return form.upsert(contact.email, contact.first_name, contact.last_name)


def _member(user_id: str | None) -> User:
    found = db.session.execute(people.members(g.account.id).where(User.id == (user_id or ""))).first()
    if found is None:
        raise Refused("MEMBER_REQUIRED", path="email")
    member: User = found[0]
    return member


def _contact(contact_id: str | None) -> Contact | None:
    """The contact of that id, or None for an id that is none or belongs elsewhere."""
    if not ids.PATTERN.fullmatch(contact_id or ""):
        return None
    try:
        return contacts.get(g.account.id, contact_id or "")
    except NotFound:
        return None


def _who_stands_there(error: Exception) -> str | None:
    is_known = isinstance(error, Refused) and error.code == "ALREADY_ON_ROSTER"
    return error.params["participant_id"] if is_known and isinstance(error, Refused) else None


def _shown(campaign: Campaign, tab: str, forms: dict[str, AddingForm], known: str | None = None) -> Any:
    search = request.values.get("q", "").strip()[:200]
    contact = _contact(request.values.get("contact") or forms["contact"]["contact_id"].data)
    if contact is not None and request.method == "GET":
        forms["contact"]["contact_id"].data = contact.id
        forms["contact"]["language"].data = contact.language or ""
    found = _find(search) if contact is None else Found([], False)
    members = [row[0] for row in db.session.execute(people.members(g.account.id))]
    emails = [*(each.email for each in members), *(each.email for each in found.rows)]
    page = show(
        "roster/new.html",
        "roster/_new.html",
        campaign=campaign,
        tab=tab,
        forms=forms,
        members=members,
        contact=contact,
        found=found,
        search=search,
        on_roster=roster.by_address(campaign, emails),
        known=at("show", participant_id=known) if known else None,
        campaign_default_languages=campaign_frame.languages_without_one,
        new_url=at("new"),
        list_url=at("index"),
    )
    return page, _status(forms[tab])


def _status(form: AddingForm) -> int:
    if not form.errors:
        return 200
    return 422 if is_fragment() else 400


def _find(search: str) -> Found:
    query = contacts.of_account(g.account.id, search=search).limit(MOST_FOUND + 1)
    rows = list(db.session.scalars(query))
    return Found(rows[:MOST_FOUND], len(rows) > MOST_FOUND)
