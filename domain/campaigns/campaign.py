"""A campaign and its named transitions (contract 2)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, cast, get_args

from sqlalchemy import ForeignKey, Index, Select, Table, Text, and_, bindparam, func, or_, select
from sqlalchemy.orm import Mapped, mapped_column

import contract.campaigns as public
from contract.campaigns import CAMPAIGN_STATUSES, CampaignStatus, Transition
from core import clock
from core.db import EpochMs, Model, as_created, connection, db, primary_key
from core.errors import NotFound, Refused
from core.ids import new_id
from domain.events import audit, event
from domain.events.audit import SCHEDULE, Actor

TRANSITIONS: dict[Transition, tuple[frozenset[CampaignStatus], CampaignStatus]] = {
    "launch": (frozenset({"draft"}), "active"),
    "close": (frozenset({"active"}), "closed"),
    "reopen": (frozenset({"closed"}), "active"),
    "archive": (frozenset({"draft", "closed"}), "archived"),
}


class Campaign(Model):
    """`roster_size` is the exact number of participants, kept in the transaction that adds or removes them,
    since counting a large roster on each page costs more than reading the page."""

    __tablename__ = "campaign"

    id: Mapped[str] = primary_key("cmp")
    account_id: Mapped[str] = mapped_column(Text, ForeignKey("account.id", ondelete="CASCADE"))
    bundle_key: Mapped[str | None] = mapped_column(Text)
    name: Mapped[str] = mapped_column(Text)
    description: Mapped[str | None] = mapped_column(Text)
    status: Mapped[CampaignStatus] = mapped_column(Text, default="draft")
    enable_passcode: Mapped[bool] = mapped_column(default=False)
    passcode: Mapped[str | None] = mapped_column(Text)
    registration_open: Mapped[bool] = mapped_column(default=False)
    results_published: Mapped[bool] = mapped_column(default=False)
    starts_at: Mapped[int | None] = mapped_column(EpochMs)
    ends_at: Mapped[int | None] = mapped_column(EpochMs)
    roster_size: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[int] = mapped_column(EpochMs, default=clock.now_ms)
    updated_at: Mapped[int] = mapped_column(EpochMs, default=as_created)

    __table_args__ = (
        Index("ix_campaign_account_id_id", "account_id", "id"),
        Index("uq_campaign_account_id_bundle_key", "account_id", "bundle_key", unique=True),
    )

    @property
    def possible_transitions(self) -> list[Transition]:
        """The named transitions that may run from where the campaign stands."""
        return [name for name, (sources, _) in TRANSITIONS.items() if self.status in sources]


# What an edit may change, by its public name.
EDITABLE = {
    "name": "name",
    "description": "description",
    "enablePasscode": "enable_passcode",
    "passcode": "passcode",
    "startsAt": "starts_at",
    "endsAt": "ends_at",
}
# Fields whose value stands in no log and no event.
SECRET = frozenset({"passcode"})


def create(account_id: str, values: Mapping[str, Any], by: Actor, *, campaign_id: str | None = None) -> Campaign:
    """A new draft, under this id where one is given.

    `values` maps the public names of `EDITABLE` to values; refuses what `_checked` refuses.
    """
    campaign = Campaign(id=campaign_id or new_id("cmp"), account_id=account_id, **_columns(_checked(values)))
    _check_times(campaign)
    _settle_passcode(campaign)
    db.session.add(campaign)
    db.session.flush()
    audit.record(account_id, by, "campaign.created", campaign.id, campaign.name)
    event.record(account_id, "campaign.created", {"campaign": as_public(campaign)})
    return campaign


def edit(campaign: Campaign, values: Mapping[str, Any], by: Actor) -> list[str]:
    """Change what `values` names; returns the public names of what did change."""
    before = {name: getattr(campaign, column) for name, column in EDITABLE.items()}
    for column, value in _columns(_checked(values)).items():
        setattr(campaign, column, value)
    _check_times(campaign)
    _settle_passcode(campaign)
    changes = {
        name: [before[name], getattr(campaign, column)]
        for name, column in EDITABLE.items()
        if before[name] != getattr(campaign, column)
    }
    if not changes:
        return []
    campaign.updated_at = clock.now_ms()
    db.session.flush()
    logged = {name: [None, None] if name in SECRET else pair for name, pair in changes.items()}
    changed = [name for name in changes if name not in SECRET]
    audit.record(campaign.account_id, by, "campaign.updated", campaign.id, campaign.name, logged)
    event.record(campaign.account_id, "campaign.updated", {"campaign": as_public(campaign), "changed": changed})
    return list(changes)


def place(account_id: str, key: str, values: Mapping[str, Any]) -> Campaign:
    """The campaign that a bundle calls `key`, made or brought up to date with the columns that `values` names.

    A campaign without a bundle's key answers to its id. Raises no event and writes no audit entry (contract 6).
    """
    known = or_(Campaign.bundle_key == key, and_(Campaign.bundle_key.is_(None), Campaign.id == key))
    campaign = db.session.scalar(select(Campaign).where(Campaign.account_id == account_id, known).with_for_update())
    if campaign is None:
        campaign = Campaign(account_id=account_id, bundle_key=key)
        db.session.add(campaign)
    before = {name: getattr(campaign, name) for name in values}
    for name, value in values.items():
        setattr(campaign, name, value)
    _settle_passcode(campaign)
    if before != dict(values):
        campaign.updated_at = clock.now_ms()
    db.session.flush()
    return campaign


def move(campaign: Campaign, transition: Transition, by: Actor) -> None:
    """Run a named transition; refuses one that does not start where the campaign stands."""
    sources, target = TRANSITIONS[transition]
    before = campaign.status
    if before not in sources:
        raise Refused("TRANSITION_NOT_POSSIBLE", transition=transition, status=before)
    campaign.status = target
    campaign.updated_at = clock.now_ms()
    if by is not SCHEDULE:
        _forget_what_the_schedule_would_undo(campaign)
    db.session.flush()
    audit.record(
        campaign.account_id, by, "campaign.status.changed", campaign.id, campaign.name, {"status": [before, target]}
    )
    payload = {"campaign": as_public(campaign), "transition": transition, "from": before, "to": target}
    event.record(campaign.account_id, "campaign.transition.executed", payload)
    event.record(
        campaign.account_id, "campaign.status.changed", {k: v for k, v in payload.items() if k != "transition"}
    )


def get(account_id: str, campaign_id: str, *, lock: bool = False) -> Campaign:
    """The campaign, or `NotFound` where it does not exist or belongs to another account."""
    query = select(Campaign).where(Campaign.id == campaign_id, Campaign.account_id == account_id)
    campaign = db.session.scalar(query.with_for_update() if lock else query)
    if campaign is None:
        raise NotFound("campaign")
    return campaign


class Rostered(Protocol):
    """What a roster needs to know of its campaign: the object, or the reference to one."""

    @property
    def id(self) -> str: ...
    @property
    def account_id(self) -> str: ...
    @property
    def roster_size(self) -> int: ...


class Reference(NamedTuple):
    """A campaign by its columns; the public API needs no object of it to read or write its roster."""

    id: str
    account_id: str
    roster_size: int


_TABLE = cast(Table, Campaign.__table__)
_REFERENCE = select(_TABLE.c.id, _TABLE.c.account_id, _TABLE.c.roster_size).where(
    _TABLE.c.id == bindparam("campaign_id"), _TABLE.c.account_id == bindparam("account_id")
)


def refer(account_id: str, campaign_id: str) -> Reference:
    """The reference to a campaign, or `NotFound` as `get` says it."""
    asked = {"campaign_id": campaign_id, "account_id": account_id}
    row = connection().execute(_REFERENCE, asked).first()
    if row is None:
        raise NotFound("campaign")
    return Reference(*row)


def of_account(account_id: str, status: str | None = None, search: str = "") -> Select[Campaign]:
    """An account's campaigns in the order of their creation; `search` gives words that the name holds."""
    query = select(Campaign).where(Campaign.account_id == account_id).order_by(Campaign.id)
    for word in search.split():
        query = query.where(Campaign.name.icontains(word, autoescape=True))
    return query.where(Campaign.status == status) if status else query


def count(account_id: str, status: str | None = None, search: str = "") -> int:
    """How many campaigns `of_account` holds."""
    return db.session.scalar(select(func.count()).select_from(of_account(account_id, status, search).subquery())) or 0


def count_by_status(account_id: str) -> dict[CampaignStatus, int]:
    """How many of an account's campaigns stand in each status, zeros included."""
    query = select(Campaign.status, func.count()).where(Campaign.account_id == account_id).group_by(Campaign.status)
    found: dict[str, int] = dict(db.session.execute(query).all())
    return {status: found.get(status, 0) for status in CAMPAIGN_STATUSES}


def numbers() -> dict[str, int]:
    """How many campaigns each account has, by account id; for operators."""
    query = select(Campaign.account_id, func.count()).group_by(Campaign.account_id)
    return dict(db.session.execute(query).all())


def run_schedule(now: int) -> int:
    """Launch drafts whose start has come and close active campaigns whose end has; returns how many moved."""
    due: list[tuple[Campaign, Transition]] = [
        *((campaign, "launch") for campaign in _due("draft", Campaign.starts_at, now)),
        *((campaign, "close") for campaign in _due("active", Campaign.ends_at, now)),
    ]
    for campaign, transition in due:
        move(campaign, transition, SCHEDULE)
    return len(due)


def something_is_due(now: int) -> bool:
    """Whether `run_schedule` would move a campaign; a read that takes no lock."""
    return any(
        db.session.scalar(select(Campaign.id).where(Campaign.status == status, column <= now).limit(1))
        for status, column in (("draft", Campaign.starts_at), ("active", Campaign.ends_at))
    )


def as_public(campaign: Campaign) -> public.Campaign:
    """The public projection."""
    shown: public.Campaign = {
        "campaignId": campaign.id,
        "name": campaign.name,
        "status": campaign.status,
        "enablePasscode": campaign.enable_passcode,
        "registrationOpen": campaign.registration_open,
        "resultsPublished": campaign.results_published,
        "createdAt": campaign.created_at,
        "updatedAt": campaign.updated_at,
    }
    if campaign.description is not None:
        shown["description"] = campaign.description
    if campaign.starts_at is not None:
        shown["startsAt"] = campaign.starts_at
    if campaign.ends_at is not None:
        shown["endsAt"] = campaign.ends_at
    return shown


def _due(status: CampaignStatus, column: Any, now: int) -> list[Campaign]:
    query = select(Campaign).where(Campaign.status == status, column <= now).order_by(Campaign.id)
    return list(db.session.scalars(query.with_for_update(skip_locked=True)))


def _forget_what_the_schedule_would_undo(campaign: Campaign) -> None:
    """Whoever opens a campaign whose end has passed means it to stay open; the schedule would close it at once."""
    if campaign.status == "active" and campaign.ends_at is not None and campaign.ends_at <= clock.now_ms():
        campaign.ends_at = None


def _check_times(campaign: Campaign) -> None:
    if campaign.starts_at is not None and campaign.ends_at is not None and campaign.ends_at <= campaign.starts_at:
        raise Refused("ENDS_BEFORE_IT_STARTS", path="endsAt")


def _settle_passcode(campaign: Campaign) -> None:
    """A campaign that asks for a passcode has one, so that nobody is locked out by an empty one."""
    if campaign.enable_passcode and not campaign.passcode:
        campaign.passcode = "".join(secrets.choice("23456789abcdefghjkmnpqrstuvwxyz") for _ in range(8))


def _columns(values: Mapping[str, Any]) -> dict[str, Any]:
    return {EDITABLE[name]: value for name, value in values.items()}


def _checked(values: Mapping[str, Any]) -> dict[str, Any]:
    checked = {name: value.replace("\0", "") if isinstance(value, str) else value for name, value in values.items()}
    if "name" in checked:
        checked["name"] = " ".join((checked["name"] or "").split())
        if not checked["name"]:
            raise Refused("NAME_REQUIRED", path="name")
    for name, most in (("name", 200), ("description", 5000), ("passcode", 100)):
        if isinstance(checked.get(name), str):
            if len(checked[name]) > most:
                raise Refused("TOO_LONG", path=name, most=most)
            checked[name] = checked[name].strip() or None
    return checked


assert set(get_args(Transition)) == set(TRANSITIONS)
