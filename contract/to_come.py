"""Resources of parts that are still to be built, with what is sure of them by now.

Properties are added as each part comes, which breaks no receiver; its shape then moves to a module of its own.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from contract.scalars import (
    AssessmentId,
    CampaignId,
    CommunicationId,
    EpochMs,
    ExportId,
    FileId,
    MessageTemplateId,
    RegistrationFormId,
    RegistrationId,
)


class Assessment(TypedDict):
    """One assessment of a campaign. More properties will come."""

    assessmentId: AssessmentId
    campaignId: CampaignId
    title: str
    unit: Annotated[
        str, Field(description="Who answers once: `participant`, `organisation` or `group:<labelGroupId>`.")
    ]
    createdAt: EpochMs
    updatedAt: EpochMs


class Problem(TypedDict):
    """What keeps something from being published."""

    code: Annotated[str, Field(description="For programs.")]
    path: Annotated[str, Field(description="Where it is.")]
    message: Annotated[str, Field(description="For people.")]


class ReportExport(TypedDict):
    """One export of results, without the file. More properties will come."""

    exportId: ExportId
    format: Literal["xlsx", "csv", "json"]


class RegistrationForm(TypedDict):
    """A form on which people register for a campaign. More properties will come."""

    registrationFormId: RegistrationFormId
    campaignId: CampaignId
    name: str
    createdAt: EpochMs
    updatedAt: EpochMs


class Registration(TypedDict):
    """What one person sent with a registration form. More properties will come."""

    registrationId: RegistrationId
    registrationFormId: RegistrationFormId
    campaignId: CampaignId
    createdAt: EpochMs
    updatedAt: EpochMs


class MessageTemplate(TypedDict):
    """The wording of messages, kept for use in many communications. More properties will come."""

    messageTemplateId: MessageTemplateId
    name: str
    createdAt: EpochMs
    updatedAt: EpochMs


class Communication(TypedDict):
    """One message to people of a campaign. More properties will come."""

    communicationId: CommunicationId
    campaignId: CampaignId
    createdAt: EpochMs
    updatedAt: EpochMs


class File(TypedDict):
    """A file that was uploaded, without what is in it. More properties will come."""

    fileId: FileId
    fileName: str
    createdAt: EpochMs
    updatedAt: EpochMs
