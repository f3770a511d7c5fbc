"""The closed set of events (service.md 6.4), the payload of each, and those that no part of the product raises yet."""

from __future__ import annotations

from typing import Any

from contract import payloads

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

PAYLOADS: dict[str, Any] = {
    "participant.joined": payloads.ParticipantPayload,
    "participant.completed_all": payloads.ParticipantPayload,
    "assessment.submission.created": payloads.SubmissionPayload,
    "campaign.created": payloads.CampaignPayload,
    "campaign.updated": payloads.CampaignUpdated,
    "campaign.status.changed": payloads.CampaignStatusChanged,
    "campaign.registration.toggled": payloads.CampaignPayload,
    "campaign.cloned": payloads.CampaignCloned,
    "campaign.deleted": payloads.CampaignPayload,
    "campaign.assessment_flow.updated": payloads.AssessmentFlow,
    "campaign.assessment_flow.validation_failed": payloads.AssessmentFlowRefused,
    "campaign.assessment_flow.publish_failed": payloads.AssessmentFlowRefused,
    "campaign.assessment_flow.published": payloads.AssessmentFlow,
    "campaign.transition.executed": payloads.CampaignTransitionExecuted,
    "campaign.results.published": payloads.CampaignPayload,
    "campaign.results.unpublished": payloads.CampaignPayload,
    "campaign.report.exported": payloads.CampaignReportExported,
    "assessment.created": payloads.AssessmentPayload,
    "assessment.updated": payloads.AssessmentUpdated,
    "assessment.published": payloads.AssessmentPayload,
    "assessment.deleted": payloads.AssessmentPayload,
    "assessment.availability.changed": payloads.AssessmentAvailability,
    "registration_form.created": payloads.RegistrationFormPayload,
    "registration_form.updated": payloads.RegistrationFormUpdated,
    "registration_form.published": payloads.RegistrationFormPayload,
    "registration.accepted": payloads.RegistrationPayload,
    "communication.template.created": payloads.MessageTemplatePayload,
    "communication.template.updated": payloads.MessageTemplateUpdated,
    "communication.template.archived": payloads.MessageTemplatePayload,
    "communication.created": payloads.CommunicationPayload,
    "communication.dispatch.queued": payloads.CommunicationPayload,
    "communication.status.changed": payloads.CommunicationStatusChanged,
    "communication.retry": payloads.CommunicationPayload,
    "reminder.sent": payloads.CommunicationPayload,
    "file.uploaded": payloads.FilePayload,
    "file.downloaded": payloads.FilePayload,
    "file.deleted": payloads.FilePayload,
    "account.self_joined": payloads.UserPayload,
    "auth_entry.accepted": payloads.UserPayload,
    "auth_entry.campaign_joined": payloads.CampaignJoined,
    "user.profile.updated": payloads.UserProfileUpdated,
    "user.preferences.updated": payloads.UserPreferencesUpdated,
    "webhook.test": payloads.WebhookPayload,
}

# What waits for a part of the product that is still to be built. It is empty at the end of the product.
STILL_TO_COME = frozenset(
    {
        "participant.completed_all",
        "assessment.submission.created",
        "campaign.registration.toggled",
        "campaign.cloned",
        "campaign.deleted",
        "campaign.assessment_flow.updated",
        "campaign.assessment_flow.validation_failed",
        "campaign.assessment_flow.publish_failed",
        "campaign.assessment_flow.published",
        "campaign.results.published",
        "campaign.results.unpublished",
        "campaign.report.exported",
        "assessment.created",
        "assessment.updated",
        "assessment.published",
        "assessment.deleted",
        "assessment.availability.changed",
        "registration_form.created",
        "registration_form.updated",
        "registration_form.published",
        "registration.accepted",
        "communication.template.created",
        "communication.template.updated",
        "communication.template.archived",
        "communication.created",
        "communication.dispatch.queued",
        "communication.status.changed",
        "communication.retry",
        "reminder.sent",
        "file.uploaded",
        "file.downloaded",
        "file.deleted",
        "account.self_joined",
        "auth_entry.accepted",
        "auth_entry.campaign_joined",
    }
)


def is_sent(name: str) -> bool:
    """Whether this version raises an event of the catalogue; the others can be listened to and never come yet."""
    return name not in STILL_TO_COME
