"""Campaigns (contract 2)."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, get_args

from pydantic import Field
from typing_extensions import TypedDict

from contract.scalars import CampaignId, EpochMs

CampaignStatus = Literal["draft", "active", "closed", "archived"]
CAMPAIGN_STATUSES: tuple[CampaignStatus, ...] = get_args(CampaignStatus)
Transition = Literal["launch", "close", "reopen", "archive"]


class Campaign(TypedDict):
    """A campaign. The passcode itself, its sharing and its branding are never given."""

    campaignId: CampaignId
    name: str
    description: NotRequired[str]
    status: CampaignStatus
    enablePasscode: Annotated[bool, Field(description="Whether respondents are asked for a passcode.")]
    registrationOpen: bool
    resultsPublished: bool
    startsAt: NotRequired[EpochMs]
    endsAt: NotRequired[EpochMs]
    createdAt: EpochMs
    updatedAt: EpochMs
