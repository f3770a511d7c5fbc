"""One person on the roster: what is known, in which language messages go out and why, and what happened."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from flask import flash, g, render_template, request
from flask_babel import gettext as _
from pydantic import ValidationError

from blueprints.access import allow
from blueprints.admin import audit_words, campaign_frame
from blueprints.form_errors import place
from blueprints.page import actor, is_fragment, language_choices, language_in_sentence, show
from blueprints.words import PARTICIPANT_STATUS
from contract.participants import SYSTEM_OWNED_KEYS, ParticipantPatch
from core.db import db, transaction
from core.errors import Refused
from domain.accounts.permissions import may
from domain.campaigns import roster
from domain.campaigns.campaign import Campaign
from domain.campaigns.roster import Participant
from domain.events import audit

from .forms import FIELDS, PersonForm, language_of
from .listing import row, vocabulary
from .screen import PERSON, at, go, list_url, screen
from .words import bag_speaks, chosen_language, language_options, why_language

RECENT = 10
# What a person may set by hand; the other statuses follow from invitations and answers.
BY_HAND = ("added", "withdrawn")


@dataclass(frozen=True)
class MetadataEntry:
    """One key of the bag, in words. `is_json` asks for a block of its own."""

    key: str
    text: str
    is_json: bool
    note: str | None
    is_system_owned: bool


@screen.get(PERSON, endpoint="show")
@allow("roster:view")
def show_one(account_id: str, campaign_id: str, participant_id: str) -> str:
    """The person's page."""
    campaign = campaign_frame.opened(campaign_id)
    return _page(campaign, roster.get(campaign, participant_id))


@screen.post(PERSON)
@allow("roster:edit")
def edit(account_id: str, campaign_id: str, participant_id: str) -> Any:
    """Change names and language; only what was touched on the page is written."""
    campaign = campaign_frame.opened(campaign_id)
    person = roster.get(campaign, participant_id)
    form = PersonForm.of(person)
    if not form.validate():
        return _page(campaign, person, form), 400
    if not form.changes():
        flash(_("Nothing was changed."), "info")
        return go(at("show", participant_id=participant_id))
    try:
        with transaction():
            campaign = campaign_frame.opened(campaign_id)
            roster.change(campaign, participant_id, form.body(), actor())
    except (Refused, ValidationError) as error:
        place(form, error, FIELDS)
        campaign = campaign_frame.opened(campaign_id)
        return _page(campaign, roster.get(campaign, participant_id), form), 400
    flash(_("%(name)s is up to date.", name=roster.display_name(roster.get(campaign, participant_id))), "success")
    return go(at("show", participant_id=participant_id))


@screen.post(f"{PERSON}/language")
@allow("roster:edit")
def set_language(account_id: str, campaign_id: str, participant_id: str) -> Any:
    """The Language column's own change: the cell for htmx, the same page of the list for a plain form."""
    wanted = language_of(request.form.get(f"language-{participant_id}", ""))
    error = None
    try:
        if wanted:
            with transaction():
                campaign = campaign_frame.opened(campaign_id)
                body = ParticipantPatch.model_validate(wanted)
                roster.change(campaign, participant_id, body, actor())
    except ValidationError:
        error = _("Choose one of the list.")
    person = roster.get(campaign_frame.opened(campaign_id), participant_id)
    told = error or why_language(person, g.account)
    if not is_fragment():
        flash(
            _("%(name)s: %(sentence)s", name=roster.display_name(person), sentence=told),
            "danger" if error else "success",
        )
        return go(list_url())
    return _cell(person, told, error), 422 if error else 200


@screen.post(f"{PERSON}/status")
@allow("roster:edit")
def set_status(account_id: str, campaign_id: str, participant_id: str) -> Any:
    """Withdraw a person, or take that back."""
    status = request.form.get("status", "")
    person = roster.get(campaign_frame.opened(campaign_id), participant_id)
    if status not in BY_HAND:
        flash(_("Choose one of the list."), "danger")
        return go(at("show", participant_id=participant_id))
    if request.form.get("confirmed") != "1":
        return _ask(person, _("Change status"), status_question(person, status), _status_button(status))
    with transaction():
        roster.set_status(campaign_frame.opened(campaign_id), [participant_id], status, actor())
    word = PARTICIPANT_STATUS[status][0]
    flash(_("%(name)s: the status is now %(status)s.", name=roster.display_name(person), status=word), "success")
    return go(at("show", participant_id=participant_id))


@screen.post(f"{PERSON}/removal")
@allow("roster:edit")
def remove(account_id: str, campaign_id: str, participant_id: str) -> Any:
    """Take a person off the roster, once it was said what goes with them."""
    person = roster.get(campaign_frame.opened(campaign_id), participant_id)
    name = roster.display_name(person)
    if request.form.get("confirmed") != "1":
        return _ask(person, _("Remove participant"), removal_question(person), _("Remove from the roster"))
    with transaction():
        roster.remove(campaign_frame.opened(campaign_id), [participant_id], actor())
    flash(_("%(name)s is no longer on the roster.", name=name), "success")
    return go(at("index"))


def removal_question(person: Participant) -> str:
    """The question before a removal."""
    return _(
        "Remove %(name)s from the roster? Name, Language and metadata are deleted with the row. This cannot be undone.",
        name=roster.display_name(person),
    )


def status_question(person: Participant, status: str) -> str:
    """The question before a change of status by hand."""
    name, word = roster.display_name(person), PARTICIPANT_STATUS[person.status][0]
    if status == "withdrawn":
        return _("Withdraw %(name)s? The person stays on the roster, marked as withdrawn instead of %(status)s.",
                 name=name, status=word)  # fmt: skip
    return _("Mark %(name)s as added again, instead of %(status)s?", name=name, status=word)


def metadata_of(person: Participant) -> list[MetadataEntry]:
    """The bag key by key, without the segments, which have a place of their own."""
    return [_entry(person, key, value) for key, value in person.bag.items() if key != "segments" or not _axes(person)]


def _entry(person: Participant, key: str, value: Any) -> MetadataEntry:
    owned = key in SYSTEM_OWNED_KEYS
    if key == "takerLink" and not may(g.role, "roster:edit"):
        return MetadataEntry(key, _("Hidden: whoever holds this link can answer as the person."), False, None, True)
    note = _note(person) if key == "lang" else None
    return MetadataEntry(key, _shown(value), isinstance(value, dict | list), note, owned)


def _shown(value: Any) -> str:
    """Text as it is, anything else as JSON on lines of its own."""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def _note(person: Participant) -> str:
    if bag_speaks(person):
        return _("Decides the language of messages, since no Language is stated.")
    if person.language is not None:
        return _("Says nothing while a Language is stated.")
    if person.bag_language_ended:
        return _("Says nothing any more: the Language was cleared.")
    return _("Not recognised as a language.")


def _axes(person: Participant) -> dict[str, Any]:
    segments = person.bag.get("segments")
    return segments if isinstance(segments, dict) else {}


def _page(campaign: Campaign, person: Participant, form: PersonForm | None = None) -> str:
    return show(
        "roster/person.html",
        campaign=campaign,
        row=row(person, vocabulary(g.account.id)),
        form=form or PersonForm.of(person),
        language=language_in_sentence(person.language),
        why_language=why_language(person, g.account),
        metadata=metadata_of(person),
        segments=[
            (axis, value if isinstance(value, str) else json.dumps(value)) for axis, value in _axes(person).items()
        ],
        history=_history(person),
        audit_words=audit_words,
        list_address=at("index"),
        next_status="added" if person.status == "withdrawn" else "withdrawn",
        status_question=status_question,
        removal_question=removal_question,
    )


def _history(person: Participant) -> list[audit.AuditEntry] | None:
    """The latest entries about the person; None for who may not see the log."""
    if not may(g.role, "audit:view"):
        return None
    return list(db.session.scalars(audit.entries(g.account.id, subject_id=person.id).limit(RECENT)))


def _cell(person: Participant, told: str, error: str | None) -> str:
    return render_template(
        "roster/_language_cell.html",
        person=person,
        name=roster.display_name(person),
        options=language_options(person, language_choices()),
        chosen=chosen_language(person),
        told=told,
        error=error,
    )


def _ask(person: Participant, title: str, sentence: str, button: str) -> str:
    return render_template(
        "components/confirm_page.html",
        title=title,
        sentence=sentence,
        button=button,
        action=request.path,
        fields=request.form,
        cancel_url=at("show", participant_id=person.id),
    )


def _status_button(status: str) -> str:
    return _("Withdraw") if status == "withdrawn" else _("Mark as added")
