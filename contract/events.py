"""The closed set of events (service.md 6.4), and the payload of each one that the product raises by now.

A payload is the resource in its public projection, under its own name (contract 3, "Payloads").
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from contract.campaigns import Campaign, CampaignStatus, Transition
from contract.participants import Participant
from contract.people import User
from contract.webhooks import WebhookSubscription

CATALOGUE: dict[str, tuple[str, ...]] = {
    "Participants": ("participant.joined", "participant.completed_all"),
    "Submissions": ("assessment.submission.created",),
    "Campaigns": (
        "campaign.created",
        "campaign.updated",
        "campaign.status.changed",
        "campaign.registration.toggled",
        "campaign.cloned",
        "campaign.deleted",
        "campaign.assessment_flow.updated",
        "campaign.assessment_flow.validation_failed",
        "campaign.assessment_flow.publish_failed",
        "campaign.assessment_flow.published",
        "campaign.transition.executed",
        "campaign.results.published",
        "campaign.results.unpublished",
        "campaign.report.exported",
    ),
    "Assessments": ("assessment.created", "assessment.updated", "assessment.published", "assessment.deleted"),
    "Availability": ("assessment.availability.changed",),
    "Registration forms": ("registration_form.created", "registration_form.updated", "registration_form.published"),
    "Registrations": ("registration.accepted",),
    "Communications": (
        "communication.template.created",
        "communication.template.updated",
        "communication.template.archived",
        "communication.created",
        "communication.dispatch.queued",
        "communication.status.changed",
        "communication.retry",
        "reminder.sent",
    ),
    "Files": ("file.uploaded", "file.downloaded", "file.deleted"),
    "Account and identity": (
        "account.self_joined",
        "auth_entry.accepted",
        "auth_entry.campaign_joined",
        "user.profile.updated",
        "user.preferences.updated",
    ),
    "Diagnostics": ("webhook.test",),
}
EVENTS: frozenset[str] = frozenset(name for group in CATALOGUE.values() for name in group)


_CampaignShown = Annotated[Campaign, Field(description="The campaign as the API shows it.")]
_UserShown = Annotated[User, Field(description="The person after the change.")]
_StatusBefore = Annotated[CampaignStatus, Field(description="The status before.")]
_StatusAfter = Annotated[CampaignStatus, Field(description="The status after.")]


class ParticipantJoined(TypedDict):
    """Somebody came onto a campaign's roster."""

    participant: Annotated[
        Participant, Field(description="The participant as the API shows it, without `takerLink` in `metadata`.")
    ]


class CampaignCreated(TypedDict):
    """A campaign was created."""

    campaign: _CampaignShown


class CampaignUpdated(TypedDict):
    """A campaign was edited."""

    campaign: _CampaignShown
    changed: Annotated[list[str], Field(description="The properties that changed; a passcode is never named.")]


# `from` is a word of the language, so these two cannot be written as classes.
CampaignStatusChanged = TypedDict(
    "CampaignStatusChanged", {"campaign": _CampaignShown, "from": _StatusBefore, "to": _StatusAfter}
)
CampaignTransitionExecuted = TypedDict(
    "CampaignTransitionExecuted",
    {
        "campaign": _CampaignShown,
        "transition": Annotated[Transition, Field(description="The step that was taken.")],
        "from": _StatusBefore,
        "to": _StatusAfter,
    },
)


class UserProfileUpdated(TypedDict):
    """A member of the account changed who they are here."""

    user: _UserShown
    changed: Annotated[list[Literal["name"]], Field(description="The properties that changed.")]


class UserPreferencesUpdated(TypedDict):
    """A member of the account changed how they want to be addressed."""

    user: _UserShown
    changed: Annotated[list[Literal["language"]], Field(description="The properties that changed.")]


class WebhookTest(TypedDict):
    """Somebody asked for a test of this webhook."""

    subscription: Annotated[WebhookSubscription, Field(description="This webhook as the API shows it.")]


PAYLOADS: dict[str, Any] = {
    "participant.joined": ParticipantJoined,
    "campaign.created": CampaignCreated,
    "campaign.updated": CampaignUpdated,
    "campaign.status.changed": CampaignStatusChanged,
    "campaign.transition.executed": CampaignTransitionExecuted,
    "user.profile.updated": UserProfileUpdated,
    "user.preferences.updated": UserPreferencesUpdated,
    "webhook.test": WebhookTest,
}


def is_sent(name: str) -> bool:
    """Whether this version raises the event; the others of the catalogue can be listened to and never come yet."""
    return name in PAYLOADS
