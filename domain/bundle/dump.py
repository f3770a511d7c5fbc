"""An account as a bundle: what is stored of what contract 6 lists, in an order that a load keeps.

Loading a dump into an empty installation and dumping again gives the same bytes. Passwords, passcodes and tokens are
never in it. An account or campaign that no bundle brought is known by its id. A person whose language was cleared is
written with `"language": null`, since `metadata.lang`, which is kept as it is, would speak again otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from core.db import db
from domain.accounts import account as accounts
from domain.accounts.account import Organisation
from domain.accounts.people import Membership, User
from domain.authoring import label
from domain.authoring.label import LabelGroup
from domain.campaigns import campaign as campaigns
from domain.campaigns import contacts
from domain.campaigns.campaign import Campaign
from domain.campaigns.roster import Participant

BATCH = 1000


def dump(account_id: str) -> dict[str, Any]:
    """The bundle of one account, or `NotFound`."""
    account = accounts.get(account_id)
    query = select(Organisation).where(Organisation.account_id == account.id).order_by(Organisation.id)
    organisations = {each.id: each for each in db.session.scalars(query)}
    groups = {group.id: group for group in sorted(label.groups_of(account.id), key=lambda group: group.id)}
    shown = {
        "key": account.bundle_key or account.id,
        "name": account.name,
        "languages": account.languages,
        "organisations": [{"key": each.bundle_key, "name": each.name} for each in organisations.values()],
        "labelGroups": [_group(group) for group in groups.values()],
        "users": _users(account.id),
        "contacts": _contacts(account.id),
        "campaigns": [
            _campaign(campaign, organisations, groups)
            for campaign in db.session.scalars(campaigns.of_account(account.id))
        ],
    }
    return {"bundle": 1, "accounts": [shown]}


def _group(group: LabelGroup) -> dict[str, Any]:
    labels = [{"key": each.key, "name": each.name} for each in group.labels]
    return {"key": group.key, "name": group.name, "labels": labels}


def _users(account_id: str) -> list[dict[str, Any]]:
    query = (
        select(User, Membership.role)
        .join(Membership, Membership.user_id == User.id)
        .where(Membership.account_id == account_id)
        .order_by(User.id)
    )
    return [
        _stated(email=user.email, name=user.name, role=role, operator=user.is_operator, language=user.language)
        for user, role in db.session.execute(query)
    ]


def _contacts(account_id: str) -> list[dict[str, Any]]:
    return [
        _stated(
            email=each.email,
            firstName=each.first_name,
            lastName=each.last_name,
            company=each.company,
            language=each.language,
        )
        for each in db.session.scalars(contacts.of_account(account_id))
    ]


def _campaign(
    campaign: Campaign, organisations: Mapping[str, Organisation], groups: Mapping[str, LabelGroup]
) -> dict[str, Any]:
    table = Participant.__table__
    query = select(table).where(table.c.campaign_id == campaign.id).order_by(table.c.id)
    rows = db.session.execute(query.execution_options(yield_per=BATCH)).mappings()
    return {
        "key": campaign.bundle_key or campaign.id,
        "name": campaign.name,
        "status": campaign.status,
        "enablePasscode": campaign.enable_passcode,
        "participants": [_participant(dict(row), organisations, groups) for row in rows],
    }


def _participant(
    row: Mapping[str, Any], organisations: Mapping[str, Organisation], groups: Mapping[str, LabelGroup]
) -> dict[str, Any]:
    organisation = organisations.get(row["organisation_id"])
    shown = _stated(email=row["email"], firstName=row["first_name"], lastName=row["last_name"])
    if row["language"] is not None or row["bag_language_ended"]:
        shown["language"] = row["language"]
    shown["status"] = row["status"]
    if organisation is not None:
        shown["organisation"] = organisation.bundle_key
    labels = _labels(row["labels"], groups)
    if labels:
        shown["labels"] = labels
    return {**shown, "metadata": row["metadata"]}


def _labels(chosen: Mapping[str, list[str]], groups: Mapping[str, LabelGroup]) -> dict[str, list[str]]:
    """Label keys by the key of their group, without what the account does not have any more."""
    found: dict[str, list[str]] = {}
    for group_id, keys in chosen.items():
        known = {each.key for each in groups[group_id].labels} if group_id in groups else set()
        kept = [key for key in keys if key in known]
        if kept:
            found[groups[group_id].key] = kept
    return found


def _stated(**properties: Any) -> dict[str, Any]:
    """The properties that are set; an unset one is left out, never null (contract 1)."""
    return {name: value for name, value in properties.items() if value is not None}
