"""How many people stand where: counts for screens, one query each."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sqlalchemy import JSON, ColumnElement, Text, and_, case, cast, func, select, type_coerce

from contract.participants import PARTICIPANT_STATUSES, ParticipantStatus
from core.db import db, is_postgresql
from core.i18n import LANGUAGES, Language
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
    """People by the language that their row states (2.7), zeros included; None for those who state none."""
    legacy = case((_bag_may_speak(), _lang_of_bag()), else_=None).label("legacy")
    query = select(Participant.language, legacy, func.count()).where(whose).group_by(Participant.language, legacy)
    found: Counter[Language | None] = Counter()
    for language, lang, number in db.session.execute(query):
        bag = {} if lang is None else {"lang": str(lang)}
        found[message_language.stated(language, bag, cleared=False)] += number
    return {language: found[language] for language in (*LANGUAGES, None)}


def completed_by_campaign(campaign_ids: list[str]) -> dict[str, int]:
    """How many people of each of these campaigns have completed; campaigns without one are left out."""
    query = (
        select(Participant.campaign_id, func.count())
        .where(Participant.campaign_id.in_(campaign_ids), Participant.status == "completed")
        .group_by(Participant.campaign_id)
    )
    return dict(db.session.execute(query).all())


def _bag_may_speak() -> ColumnElement[bool]:
    # The text is looked at first: reading it as JSON costs more, and few rows still carry the key.
    return and_(
        Participant.language.is_(None),
        Participant.bag_language_ended.is_(False),
        type_coerce(Participant.bag, Text).contains('"lang":'),
    )


def _lang_of_bag() -> ColumnElement[Any]:
    text = type_coerce(Participant.bag, Text)
    return cast(text, JSON).op("->>")("lang") if is_postgresql() else func.json_extract(text, "$.lang")
