"""How many people stand where: counts for screens, one query each."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sqlalchemy import (
    JSON,
    ColumnElement,
    CompoundSelect,
    Text,
    and_,
    case,
    cast,
    func,
    null,
    select,
    type_coerce,
    union_all,
)

from contract.participants import PARTICIPANT_STATUSES, ParticipantStatus
from core.db import db, is_postgresql
from core.i18n import LANGUAGES, Language
from domain.accounts import people
from domain.campaigns.campaign import Campaign
from domain.messages import language as message_language

from .participant import Participant


def of_campaign(campaign: Campaign) -> ColumnElement[bool]:
    """The people of one roster."""
    return Participant.campaign_id == campaign.id


def of_account(account_id: str) -> ColumnElement[bool]:
    """The people of all rosters of an account; through the campaigns, since rosters are indexed by campaign."""
    return Participant.campaign_id.in_(select(Campaign.id).where(Campaign.account_id == account_id))


def by_status(whose: ColumnElement[bool]) -> dict[ParticipantStatus, int]:
    """People by status, zeros included."""
    query = select(Participant.status, func.count()).where(whose).group_by(Participant.status)
    found: dict[str, int] = dict(db.session.execute(query).all())
    return {status: found.get(status, 0) for status in PARTICIPANT_STATUSES}


def by_language(whose: ColumnElement[bool]) -> dict[Language | None, int]:
    """People by the language of their messages (2.7; contract 3, Language resolution), zeros
    included; None for those of whom none is known."""
    found: Counter[Language | None] = Counter()
    for field, spoken, preference, number in db.session.execute(_by_what_is_said(whose)):
        found[message_language.stated(field, {"lang": spoken}, cleared=False, preference=preference)] += number
    return {language: found[language] for language in (*LANGUAGES, None)}


def completed_by_campaign(campaign_ids: list[str]) -> dict[str, int]:
    """How many people of each of these campaigns have completed; campaigns without one are left out."""
    query = (
        select(Participant.campaign_id, func.count())
        .where(Participant.campaign_id.in_(campaign_ids), Participant.status == "completed")
        .group_by(Participant.campaign_id)
    )
    return dict(db.session.execute(query).all())


def _by_what_is_said(whose: ColumnElement[bool]) -> CompoundSelect[Any, Any, Any, int]:
    """How many people share a field, a `metadata.lang` that no clearing has ended, and a preference.

    Whoever states a Language is counted from the index alone; only the others' rows are read.
    """
    field, nothing = Participant.language, cast(null(), Text)
    spoken = _spoken().label("spoken")
    stated = select(field, nothing, nothing, func.count()).where(whose, field.is_not(None))
    preferred = people.PREFERENCE.label("preferred")
    unstated = select(nothing, spoken, preferred, func.count()).where(whose, field.is_(None))
    unstated = people.join_members(unstated, Participant.account_id, Participant.email)
    return union_all(stated.group_by(field), unstated.group_by(spoken, preferred))


def _spoken() -> ColumnElement[str | None]:
    """What `metadata.lang` says while it has a say."""
    # The text is looked at before it is read as JSON, which costs more.
    text = type_coerce(Participant.bag, Text)
    lang = cast(text, JSON).op("->>")("lang") if is_postgresql() else func.json_extract(text, "$.lang")
    has_a_say = and_(Participant.bag_language_ended.is_(False), text.contains('"lang":'))
    return case((has_a_say, cast(lang, Text)), else_=None)
