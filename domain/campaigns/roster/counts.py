"""How many people stand where: counts for screens, one query each."""

from __future__ import annotations

from collections import Counter

from sqlalchemy import JSON, ColumnElement, Text, case, cast, func, select, type_coerce

from contract.participants import PARTICIPANT_STATUSES, ParticipantStatus
from core.db import db, is_postgresql
from core.i18n import LANGUAGES, Language, known
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
    query = select(Participant.language, func.count()).where(whose).group_by(Participant.language)
    found: Counter[Language | None] = Counter()
    for language, number in db.session.execute(query):
        found[known(language)] += number
    for language, number in _legacy(whose):
        found[language] += number
        found[None] -= number
    return {language: found[language] for language in (*LANGUAGES, None)}


def completed_by_campaign(campaign_ids: list[str]) -> dict[str, int]:
    """How many people of each of these campaigns have completed; campaigns without one are left out."""
    query = (
        select(Participant.campaign_id, func.count())
        .where(Participant.campaign_id.in_(campaign_ids), Participant.status == "completed")
        .group_by(Participant.campaign_id)
    )
    return dict(db.session.execute(query).all())


def _legacy(whose: ColumnElement[bool]) -> list[tuple[Language, int]]:
    """People without a Language whose `metadata.lang` still speaks for them, by that language."""
    # A query of its own: all other rows are counted from the index alone. The text is looked at before it is read as
    # JSON, which costs more.
    text = type_coerce(Participant.bag, Text)
    lang = cast(text, JSON).op("->>")("lang") if is_postgresql() else func.json_extract(text, "$.lang")
    spoken = case((text.contains('"lang":'), lang), else_=None).label("spoken")
    silent = (Participant.language.is_(None), Participant.bag_language_ended.is_(False), text.contains('"lang":'))
    rows = db.session.execute(select(spoken, func.count()).where(whose, *silent).group_by(spoken))
    read = ((message_language.stated(None, {"lang": str(lang)}, cleared=False), number) for lang, number in rows)
    return [(language, number) for language, number in read if language is not None]
