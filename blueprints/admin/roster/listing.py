"""The roster's list: filters, order and page, all of them in the address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast, get_args

from flask import request
from sqlalchemy import select

from blueprints.access import allow
from blueprints.admin import campaign_frame
from blueprints.page import PageOf, language_choices, paging, show
from contract.paging import DEFAULT_LIMIT
from contract.participants import PARTICIPANT_STATUSES
from core.db import db
from core.i18n import LANGUAGES
from domain.accounts.account import Organisation
from domain.authoring import label
from domain.campaigns import roster
from domain.campaigns.roster import Filters, Participant, Sort, counts

from .screen import ROSTER, at, screen
from .words import chosen_language, language_options

PAGE_SIZES = (25, DEFAULT_LIMIT, 100, 200)
LONGEST_SEARCH = 200


@dataclass(frozen=True)
class Asked:
    """What the address asks for. What it says of a closed set in vain is left out."""

    filters: Filters
    sort: Sort
    descending: bool

    @property
    def order(self) -> str:
        """As the address spells it: `name`, or `-name` for descending."""
        return f"-{self.sort}" if self.descending else self.sort


@dataclass(frozen=True)
class Vocabulary:
    """The account's words for what rows name by id: organisations, and label groups with their labels; and the
    choices of a Language selector."""

    organisations: Mapping[str, str]
    groups: Mapping[str, tuple[str, Mapping[str, str]]]
    languages: list[tuple[str, str]]

    def labels_of(self, person: Participant) -> list[tuple[str, str]]:
        """Group and labels by name; a label that is gone is shown by its key, a group that is gone not at all."""
        return [
            (name, ", ".join(labels.get(key, key) for key in person.labels[group_id]))
            for group_id, (name, labels) in self.groups.items()
            if person.labels.get(group_id)
        ]


@dataclass(frozen=True)
class Row:
    """One person of the list, in words."""

    person: Participant
    name: str
    organisation: str | None
    labels: list[tuple[str, str]]
    languages: list[tuple[str, str]]
    chosen_language: str


@screen.get(ROSTER)
@allow("roster:view")
def index(account_id: str, campaign_id: str) -> str:
    """The people of a campaign: how many, by status, and the page of them that the address asks for."""
    campaign = campaign_frame.opened(campaign_id)
    words = vocabulary(account_id)
    asked, wanted = asked_for(words), paging()
    total = roster.count(campaign, asked.filters)
    people = roster.page(campaign, asked.filters, wanted, total, sort=asked.sort, descending=asked.descending)
    return show(
        "roster/page.html",
        "roster/_fragment.html",
        campaign=campaign,
        asked=asked,
        listed=PageOf([row(person, words) for person in people], wanted, total),
        by_status=counts.by_status(counts.of_campaign(campaign)),
        words=words,
        languages=[(code or "none", name) for code, name in words.languages],
        page_sizes=PAGE_SIZES,
        usual_size=DEFAULT_LIMIT,
        list_address=at("index"),
    )


def asked_for(words: Vocabulary) -> Asked:
    """Filters and order of the address."""
    args = request.args
    filters = Filters(
        status=_one_of(PARTICIPANT_STATUSES, args.get("status")),
        language=_one_of((*LANGUAGES, "none"), args.get("language")),
        organisation_id=_one_of(tuple(words.organisations), args.get("organisation")),
        search=args.get("q", "").strip()[:LONGEST_SEARCH],
    )
    order = args.get("sort", "name")
    sort = _one_of(get_args(Sort), order.removeprefix("-"))
    return Asked(filters, cast(Sort, sort or "name"), sort is not None and order.startswith("-"))


def vocabulary(account_id: str) -> Vocabulary:
    """The words of an account: three queries, however many people they are for."""
    query = select(Organisation.id, Organisation.name).where(Organisation.account_id == account_id)
    named = db.session.execute(query.order_by(Organisation.name, Organisation.id)).all()
    groups = label.groups_of(account_id)
    return Vocabulary(
        {row.id: row.name for row in named},
        {group.id: (group.name, {each.key: each.name for each in group.labels}) for group in groups},
        language_choices(),
    )


def row(person: Participant, words: Vocabulary) -> Row:
    """A participant in words."""
    organisation = words.organisations.get(person.organisation_id or "")
    options = language_options(person, words.languages)
    return Row(
        person, roster.display_name(person), organisation, words.labels_of(person), options, chosen_language(person)
    )


def _one_of(allowed: Sequence[str], value: str | None) -> str | None:
    return value if value in allowed else None
