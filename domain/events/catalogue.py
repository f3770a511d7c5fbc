"""The closed set of events (service.md 6.4)."""

from __future__ import annotations

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

# Fanned out right after the commit, and never where the queue is away at that moment (service.md 6.3).
AT_MOST_ONCE = frozenset({"registration.accepted", "communication.created", "communication.dispatch.queued"})

EVENTS: frozenset[str] = frozenset(name for group in CATALOGUE.values() for name in group)
