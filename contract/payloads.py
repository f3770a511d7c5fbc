"""The shapes of what events carry: the resource in its public projection, under its own name (contract 3, "Payloads").

Answers, secrets, passcodes and `metadata.takerLink` are in none of them. Events that carry the same share a shape.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from contract.campaigns import Campaign, CampaignStatus, Transition
from contract.participants import Participant
from contract.people import User
from contract.scalars import CampaignId
from contract.submissions import Submission
from contract.to_come import (
    Assessment,
    Communication,
    File,
    MessageTemplate,
    Problem,
    Registration,
    RegistrationForm,
    ReportExport,
)
from contract.webhooks import WebhookSubscription

_BEFORE = Field(description="The status before.")
_AFTER = Field(description="The status after.")
_CHANGED = Field(description="The properties that changed.")
_Participant = Annotated[
    Participant, Field(description="The participant as the API shows it, without `takerLink` in `metadata`.")
]
_Campaign = Annotated[Campaign, Field(description="The campaign as the API shows it.")]
_Communication = Annotated[
    Communication, Field(description="The communication, without its recipients and its wording.")
]
_ChangedUser = Annotated[User, Field(description="The person after the change.")]


class ParticipantPayload(TypedDict):
    """A person on a campaign's roster."""

    participant: _Participant


class SubmissionPayload(TypedDict):
    """A submission."""

    submission: Annotated[Submission, Field(description="The submission, never its answers.")]


class CampaignPayload(TypedDict):
    """A campaign."""

    campaign: _Campaign


class CampaignUpdated(CampaignPayload):
    """A campaign that was edited."""

    changed: Annotated[list[str], Field(description="The properties that changed; a passcode is never named.")]


# `from` is a word of the language, so these cannot be written as classes.
CampaignStatusChanged = TypedDict(
    "CampaignStatusChanged",
    {"campaign": _Campaign, "from": Annotated[CampaignStatus, _BEFORE], "to": Annotated[CampaignStatus, _AFTER]},
)
CampaignTransitionExecuted = TypedDict(
    "CampaignTransitionExecuted",
    {
        "campaign": _Campaign,
        "transition": Annotated[Transition, Field(description="The step that was taken.")],
        "from": Annotated[CampaignStatus, _BEFORE],
        "to": Annotated[CampaignStatus, _AFTER],
    },
)


class CampaignCloned(TypedDict):
    """A campaign that was made as a copy of another."""

    campaign: Annotated[Campaign, Field(description="The copy.")]
    clonedFrom: Annotated[CampaignId, Field(description="The campaign that was copied.")]


class AssessmentFlow(CampaignPayload):
    """A campaign with its assessments."""

    assessments: Annotated[list[Assessment], Field(description="In the order in which people meet them.")]


class AssessmentFlowRefused(AssessmentFlow):
    """An assessment flow that cannot be published as it is."""

    problems: Annotated[list[Problem], Field(description="What is to be solved first.")]


class CampaignReportExported(CampaignPayload):
    """A campaign whose results were exported."""

    export: Annotated[ReportExport, Field(description="The export, without what is in it.")]


class AssessmentPayload(TypedDict):
    """An assessment of a campaign."""

    assessment: Annotated[Assessment, Field(description="The assessment, without its questions.")]


class AssessmentUpdated(AssessmentPayload):
    """An assessment that was edited."""

    changed: Annotated[list[str], _CHANGED]


class AssessmentAvailability(AssessmentPayload):
    """An assessment that opened or closed."""

    isAvailable: Annotated[bool, Field(description="Whether it can be answered from now on.")]


class RegistrationFormPayload(TypedDict):
    """A registration form of a campaign."""

    registrationForm: Annotated[RegistrationForm, Field(description="The form, without what anybody sent with it.")]


class RegistrationFormUpdated(RegistrationFormPayload):
    """A registration form that was edited."""

    changed: Annotated[list[str], _CHANGED]


class RegistrationPayload(TypedDict):
    """A registration."""

    registration: Annotated[Registration, Field(description="The registration, without what was filled in.")]


class MessageTemplatePayload(TypedDict):
    """A message template. What is called a template alone is a questionnaire."""

    messageTemplate: Annotated[MessageTemplate, Field(description="The message template, without its wording.")]


class MessageTemplateUpdated(MessageTemplatePayload):
    """A message template that was edited."""

    changed: Annotated[list[str], _CHANGED]


class CommunicationPayload(TypedDict):
    """A communication."""

    communication: _Communication


CommunicationStatusChanged = TypedDict(
    "CommunicationStatusChanged",
    {
        "communication": _Communication,
        "from": Annotated[str, _BEFORE],
        "to": Annotated[str, _AFTER],
    },
)


class FilePayload(TypedDict):
    """A file."""

    file: Annotated[File, Field(description="The file, without what is in it.")]


class UserPayload(TypedDict):
    """A person who signs in."""

    user: Annotated[User, Field(description="The person as this account knows them.")]


class CampaignJoined(UserPayload):
    """A person who signs in, and their place on a roster."""

    participant: _Participant


class UserProfileUpdated(TypedDict):
    """A member of the account changed who they are here."""

    user: _ChangedUser
    changed: Annotated[list[Literal["name"]], _CHANGED]


class UserPreferencesUpdated(TypedDict):
    """A member of the account changed how they want to be addressed."""

    user: _ChangedUser
    changed: Annotated[list[Literal["language"]], _CHANGED]


class WebhookPayload(TypedDict):
    """A webhook that somebody tests."""

    subscription: Annotated[WebhookSubscription, Field(description="This webhook as the API shows it.")]
