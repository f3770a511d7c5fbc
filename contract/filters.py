"""The filters of the lists (contract 3, List filters). Values come as query text."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from contract.campaigns import CampaignStatus
from contract.participants import ParticipantStatus

QUERY = ConfigDict(alias_generator=to_camel)

EpochMsText = Annotated[int, Field(ge=0, le=2**63 - 1, description="Epoch milliseconds, inclusive.")]
LanguageOrNone = Annotated[
    Literal["en", "fr", "es", "pt-BR", "none"], Field(description="A language; `none` asks for unset.")
]


class CampaignFilters(BaseModel):
    model_config = QUERY

    status: CampaignStatus | None = None


class ParticipantFilters(BaseModel):
    model_config = QUERY

    status: ParticipantStatus | None = None
    email: Annotated[str | None, Field(description="The exact address, in any case.")] = None
    language: LanguageOrNone | None = None
    updated_since: EpochMsText | None = None


class ContactFilters(BaseModel):
    model_config = QUERY

    email: Annotated[str | None, Field(description="The exact address, in any case.")] = None
    language: LanguageOrNone | None = None
