"""What raises each event of the catalogue, those still to come included."""

from __future__ import annotations

from flask_babel import LazyString
from flask_babel import lazy_gettext as lazy

RAISED_BY: dict[str, LazyString] = {
    "participant.joined": lazy("Somebody comes onto a roster: by hand, by an import or over the API."),
    "participant.completed_all": lazy("Somebody on a roster has answered every assessment that is meant for them."),
    "assessment.submission.created": lazy(
        "Somebody sends in an assessment for the first time. A draft raises nothing."
    ),
    "campaign.created": lazy("A campaign is created."),
    "campaign.updated": lazy("A campaign's name, description, passcode or times are changed."),
    "campaign.status.changed": lazy("A campaign is launched, closed, reopened or archived, by hand or on schedule."),
    "campaign.registration.toggled": lazy("Registration for a campaign is opened or closed."),
    "campaign.cloned": lazy("A campaign is made as a copy of another."),
    "campaign.deleted": lazy("A campaign is deleted. The payload shows it as it was."),
    "campaign.assessment_flow.updated": lazy("A campaign's assessments, or their order, are changed."),
    "campaign.assessment_flow.validation_failed": lazy("A campaign's assessments are checked, and problems are found."),
    "campaign.assessment_flow.publish_failed": lazy(
        "A campaign's assessments are to be published, and problems keep them back."
    ),
    "campaign.assessment_flow.published": lazy("A campaign's assessments are published in their order."),
    "campaign.transition.executed": lazy("Together with `campaign.status.changed`; it names the step that was taken."),
    "campaign.results.published": lazy("A campaign's results are published."),
    "campaign.results.unpublished": lazy("A campaign's results are taken back after they were published."),
    "campaign.report.exported": lazy("A campaign's results are exported, on its page or over the API."),
    "assessment.created": lazy("An assessment is added to a campaign."),
    "assessment.updated": lazy("An assessment is edited."),
    "assessment.published": lazy("An assessment is published."),
    "assessment.deleted": lazy("An assessment is deleted. The payload shows it as it was."),
    "assessment.availability.changed": lazy("An assessment can be answered from now on, or no longer."),
    "registration_form.created": lazy("A registration form is made for a campaign."),
    "registration_form.updated": lazy("A registration form is edited."),
    "registration_form.published": lazy("A registration form is published, so that people can fill it in."),
    "registration.accepted": lazy("A registration is accepted for the first time."),
    "communication.template.created": lazy("A message template is created."),
    "communication.template.updated": lazy("A message template is edited."),
    "communication.template.archived": lazy("A message template is archived."),
    "communication.created": lazy("A message to people of a campaign is written down, to be sent at once or later."),
    "communication.dispatch.queued": lazy("A communication waits to be sent from now on."),
    "communication.status.changed": lazy("A communication comes into another status."),
    "communication.retry": lazy("A communication that failed is sent again."),
    "reminder.sent": lazy("A reminder was sent."),
    "file.uploaded": lazy("A file is uploaded."),
    "file.downloaded": lazy("A file is downloaded."),
    "file.deleted": lazy("A file is deleted. The payload shows it as it was."),
    "account.self_joined": lazy("Somebody joins the account of their own accord, without an invitation."),
    "auth_entry.accepted": lazy("Somebody accepts an invitation."),
    "auth_entry.campaign_joined": lazy("Somebody comes onto a campaign's roster with an invitation they accepted."),
    "user.profile.updated": lazy("A member of the account changes their name. Each account of the person is told."),
    "user.preferences.updated": lazy(
        "A member of the account chooses or clears the language they prefer. Each account of the person is told."
    ),
    "webhook.test": lazy("Somebody sends a test from the webhook's page. It goes to that webhook alone."),
}
