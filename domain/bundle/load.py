"""Loading a bundle: everything is matched by its key and written in the caller's transaction, and no event is raised.

What a list does not name stays as it is stored; so two bundles can each bring a part of one account.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from pydantic import MISSING
from sqlalchemy import and_, or_, select

from contract import bundle as shapes
from contract.bundle import Bundle, listed
from core import clock
from core.db import Model, db
from core.errors import Refused
from core.ids import new_id
from domain.accounts.account import Account, Organisation
from domain.authoring import label
from domain.authoring.label import Label, LabelGroup
from domain.campaigns import campaign as campaigns
from domain.campaigns import roster
from domain.campaigns.campaign import Campaign
from domain.campaigns.contacts import Contact
from domain.campaigns.roster import Placement
from domain.events import audit
from domain.events.audit import BUNDLE

from .checks import require_distinct, skipped
from .members import Members

BATCH = 1000

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Loaded:
    """`ids` in the bundle's own nesting (contract 6), and the places of lists that could not be loaded yet."""

    ids: dict[str, Any]
    skipped: list[str]


@dataclass(frozen=True)
class Vocabulary:
    """What participants of an account may name: organisation ids and label groups, by key."""

    organisations: Mapping[str, str]
    groups: Mapping[str, LabelGroup]


def load(bundle: Bundle) -> Loaded:
    """Write a bundle. Raises `Refused` with the place of the first thing that breaks a rule."""
    require_distinct(bundle)
    members = Members()
    ids = {
        entry.key: _account(entry, f"accounts[{number}]", members)
        for number, entry in enumerate(listed(bundle.accounts))
    }
    return Loaded({"accounts": ids}, skipped(bundle))


def _account(entry: shapes.Account, place: str, members: Members) -> dict[str, Any]:
    account = _place_account(entry)
    words = Vocabulary(_organisations(account, entry), _label_groups(account, entry))
    ids = {
        "id": account.id,
        "organisations": {each.key: words.organisations[each.key] for each in listed(entry.organisations)},
        "labelGroups": {each.key: words.groups[each.key].id for each in listed(entry.label_groups)},
        "templates": {},
        "scales": {},
        "contacts": _contacts(account, listed(entry.contacts)),
        "users": members.place(account, listed(entry.users), f"{place}.users"),
        "campaigns": {
            each.key: _campaign(account, each, words, f"{place}.campaigns[{number}]")
            for number, each in enumerate(listed(entry.campaigns))
        },
    }
    audit.record(account.id, BUNDLE, "bundle.loaded", account.id, account.name)
    return ids


def _place_account(entry: shapes.Account) -> Account:
    """The account of this key; one without a bundle's key answers to its id."""
    own_id = and_(Account.bundle_key.is_(None), Account.id == entry.key)
    query = select(Account).where(or_(Account.bundle_key == entry.key, own_id)).with_for_update()
    account = db.session.scalar(query)
    if account is None:
        account = Account(id=new_id("acc"), bundle_key=entry.key, languages=["en"])
        db.session.add(account)
    _bring_up_to_date(account, name=entry.name, languages=entry.languages)
    db.session.flush()
    return account


def _organisations(account: Account, entry: shapes.Account) -> dict[str, str]:
    query = select(Organisation).where(Organisation.account_id == account.id)
    known = {each.bundle_key: each for each in db.session.scalars(query)}
    for given in listed(entry.organisations):
        organisation = known.get(given.key)
        if organisation is None:
            organisation = Organisation(id=new_id("org"), account_id=account.id, bundle_key=given.key)
            db.session.add(organisation)
            known[given.key] = organisation
        _bring_up_to_date(organisation, name=given.name)
    db.session.flush()
    return {key: each.id for key, each in known.items()}


def _label_groups(account: Account, entry: shapes.Account) -> dict[str, LabelGroup]:
    known = {group.key: group for group in label.groups_of(account.id)}
    for given in listed(entry.label_groups):
        group = known.get(given.key)
        if group is None:
            group = LabelGroup(id=new_id("lbg"), account_id=account.id, key=given.key, labels=[])
            db.session.add(group)
            known[given.key] = group
        _bring_up_to_date(group, name=given.name)
        _labels(group, listed(given.labels))
    db.session.flush()
    return known


def _labels(group: LabelGroup, given: Sequence[shapes.Label]) -> None:
    """The labels given come first, in the order given; those that are stored besides stay behind them."""
    known = {each.key: each for each in group.labels}
    named = {each.key: each.name for each in given}
    for position, key in enumerate([*named, *(key for key in known if key not in named)]):
        if key not in known:
            known[key] = Label(group_id=group.id, key=key, name=named[key], position=position)
            group.labels.append(known[key])
        _bring_up_to_date(known[key], name=named.get(key, known[key].name), position=position)


def _contacts(account: Account, entries: Sequence[shapes.Contact]) -> dict[str, str]:
    ids: dict[str, str] = {}
    for batch in _batches(entries):
        addresses = [entry.email for entry in batch]
        query = select(Contact).where(Contact.account_id == account.id, Contact.email.in_(addresses))
        known = {each.email: each for each in db.session.scalars(query)}
        ids |= {entry.email: _contact(account, known.get(entry.email), entry) for entry in batch}
        db.session.flush()
    return ids


def _contact(account: Account, contact: Contact | None, entry: shapes.Contact) -> str:
    if contact is None:
        contact = Contact(id=new_id("con"), account_id=account.id, email=entry.email)
        db.session.add(contact)
    _bring_up_to_date(
        contact,
        first_name=entry.first_name,
        last_name=entry.last_name,
        company=entry.company,
        language=entry.language,
    )
    return contact.id


def _campaign(account: Account, entry: shapes.Campaign, words: Vocabulary, place: str) -> dict[str, Any]:
    given = {"name": entry.name, "status": entry.status, "enable_passcode": entry.enable_passcode}
    campaign = campaigns.place(account.id, entry.key, {k: v for k, v in given.items() if v is not MISSING})
    return {
        "id": campaign.id,
        "assessments": {},
        "participants": _participants(campaign, listed(entry.participants), words, f"{place}.participants"),
        "submissions": {},
    }


def _participants(
    campaign: Campaign, entries: Sequence[shapes.Participant], words: Vocabulary, place: str
) -> dict[str, str]:
    ids: dict[str, str] = {}
    placements = (_placement(entry, words, f"{place}[{number}]") for number, entry in enumerate(entries))
    for batch in _batches(placements):
        ids |= roster.place_many(campaign, batch)
    return ids


def _placement(entry: shapes.Participant, words: Vocabulary, place: str) -> Placement:
    columns: dict[str, Any] = {}
    if entry.status is not MISSING:
        columns["status"] = entry.status
    if entry.organisation is not MISSING:
        columns["organisation_id"] = _organisation(entry.organisation, words, f"{place}.organisation")
    if entry.labels is not MISSING:
        columns["labels"] = _chosen_labels(entry.labels, words, f"{place}.labels")
    return Placement(entry.as_upsert(), columns, place)


def _organisation(key: str | None, words: Vocabulary, place: str) -> str | None:
    if key is not None and key not in words.organisations:
        raise Refused("BUNDLE_ORGANISATION_UNKNOWN", path=place, key=key)
    return None if key is None else words.organisations[key]


def _chosen_labels(chosen: Mapping[str, Sequence[str]], words: Vocabulary, place: str) -> dict[str, list[str]]:
    """Label keys by the id of their group; a group of which none is chosen is left out."""
    found: dict[str, list[str]] = {}
    for group_key, keys in chosen.items():
        if group_key not in words.groups:
            raise Refused("BUNDLE_GROUP_UNKNOWN", path=f"{place}.{group_key}", key=group_key)
        group = words.groups[group_key]
        known = {each.key for each in group.labels}
        for number, key in enumerate(keys):
            if key not in known:
                raise Refused("BUNDLE_LABEL_UNKNOWN", path=f"{place}.{group_key}[{number}]", key=key)
        if keys:
            found[group.id] = list(dict.fromkeys(keys))
    return found


def _bring_up_to_date(row: Model, **given: Any) -> None:
    """Set what is given and differs; `updated_at` moves only where something did."""
    changed = {name: value for name, value in given.items() if value is not MISSING and value != getattr(row, name)}
    for name, value in changed.items():
        setattr(row, name, value)
    if changed and hasattr(row, "updated_at"):
        row.updated_at = clock.now_ms()


def _batches(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    rest = iter(entries)
    while batch := list(islice(rest, BATCH)):
        yield batch
