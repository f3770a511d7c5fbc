"""A participant: one row of a roster, and its public projection."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from itertools import filterfalse
from operator import itemgetter
from typing import Any

from sqlalchemy import ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

import contract.participants as public
from core.db import EpochMs, Json, Model, primary_key
from core.i18n import Language
from domain.messages import language as message_language


class Participant(Model):
    """A person on a roster. `labels` maps label group ids to label keys; `bag` is the free-form metadata.

    `bag_language_ended` is set once the field was cleared: from then on `metadata.lang` says nothing (contract 3).
    `name_key` is what lists sort and search by; it is written with the names, see `name_key()`.
    """

    __tablename__ = "participant"

    id: Mapped[str] = primary_key("par")
    account_id: Mapped[str] = mapped_column(Text, ForeignKey("account.id", ondelete="CASCADE"))
    campaign_id: Mapped[str] = mapped_column(Text, ForeignKey("campaign.id", ondelete="CASCADE"))
    email: Mapped[str] = mapped_column(Text)
    first_name: Mapped[str | None] = mapped_column(Text)
    last_name: Mapped[str | None] = mapped_column(Text)
    name_key: Mapped[str] = mapped_column(Text)
    status: Mapped[str] = mapped_column(Text, default="added")
    language: Mapped[str | None] = mapped_column(Text)
    bag_language_ended: Mapped[bool] = mapped_column(default=False)
    organisation_id: Mapped[str | None] = mapped_column(Text, ForeignKey("organisation.id", ondelete="SET NULL"))
    labels: Mapped[Any] = mapped_column(Json, default=dict)
    bag: Mapped[Any] = mapped_column("metadata", Json, default=dict)
    created_at: Mapped[int] = mapped_column(EpochMs)
    updated_at: Mapped[int] = mapped_column(EpochMs)

    __table_args__ = (
        Index("uq_participant_campaign_id_email", "campaign_id", "email", unique=True),
        Index("ix_participant_campaign_id_id", "campaign_id", "id"),
        Index("ix_participant_campaign_id_status_id", "campaign_id", "status", "id"),
        Index("ix_participant_campaign_id_language", "campaign_id", "language", "bag_language_ended"),
        Index("ix_participant_campaign_id_name_key_id", "campaign_id", "name_key", "id"),
        Index("ix_participant_campaign_id_updated_at_id", "campaign_id", "updated_at", "id"),
    )


LONGEST_NAME_KEY = 500


def name_key(first_name: str | None, last_name: str | None, email: str) -> str:
    """Last name, first name and address without accents and case, so that `helene` finds `Hélène` on both databases.

    Cut at 500 characters: PostgreSQL's index takes no entry over 2,704 bytes.
    """
    return folded(" ".join(part for part in (last_name, first_name, email) if part))[:LONGEST_NAME_KEY]


def folded(text: str) -> str:
    """Lower case without accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(filterfalse(unicodedata.combining, decomposed))


# The columns that the public projection needs, in the order in which `project` takes them.
PUBLIC_COLUMNS = (
    "id",
    "campaign_id",
    "email",
    "first_name",
    "last_name",
    "status",
    "language",
    "organisation_id",
    "created_at",
    "updated_at",
    "labels",
    "bag",
)

_public_cells = itemgetter(*PUBLIC_COLUMNS)


def project(
    id: str,
    campaign_id: str,
    email: str,
    first_name: str | None,
    last_name: str | None,
    status: Any,
    language: Any,
    organisation_id: str | None,
    created_at: int,
    updated_at: int,
    labels: dict[str, list[str]],
    bag: dict[str, Any],
) -> public.Participant:
    """The public projection of one row, in the order of `PUBLIC_COLUMNS`."""
    shown: public.Participant = {
        "participantId": id,
        "campaignId": campaign_id,
        "email": email,
        "status": status,
        "metadata": bag,
        "createdAt": created_at,
        "updatedAt": updated_at,
    }
    if first_name is not None:
        shown["firstName"] = first_name
    if last_name is not None:
        shown["lastName"] = last_name
    if language is not None:
        shown["language"] = language
    if organisation_id is not None:
        shown["organisationId"] = organisation_id
    if labels:
        shown["labels"] = labels
    return shown


def as_public(row: Mapping[str, Any]) -> public.Participant:
    """The public projection of a row given as a mapping of columns."""
    return project(*_public_cells(row))


def for_event(row: Mapping[str, Any]) -> dict[str, Any]:
    """The projection that an event carries: without the link that lets its holder answer as the person."""
    shown = as_public(row)
    if "takerLink" in shown["metadata"]:
        shown["metadata"] = {key: value for key, value in shown["metadata"].items() if key != "takerLink"}
    return {"participant": shown}


def display_name(participant: Participant) -> str:
    """First and last name, or the address where neither is known."""
    return " ".join(part for part in (participant.first_name, participant.last_name) if part) or participant.email


def stated_language(participant: Participant) -> Language | None:
    """What the row states about the language of the person's messages (2.7)."""
    return message_language.stated(participant.language, participant.bag, participant.bag_language_ended)
