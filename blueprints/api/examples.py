"""An example of each operation: what is sent and what comes back. `/developers` and the OpenAPI documents show them;
the tests hold each against its declared shape, and an operation without one fails them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

# The ids of every example.
ACCOUNT = "acc_01k5b2v9q3e8ra7m4n6x0cjw5t"
CAMPAIGN = "cmp_01k5b30r7zf2mb9t8d4hq6svx1"
PARTICIPANT = "par_01k5b3d4w6n8xj2c5y7a9rkq3f"
SUBSCRIPTION = "whk_01k5b4e2x8m5t0vj7rq9h3n6cd"
DELIVERY = "dlv_01k5b5f3y9n6v1wk8s40j4p7ed"
USER = "usr_01k5b2x6c4h9rv3m7t8q5yje0n"
EVENT = "evt_01k5b5f3y8q2r7xm5t6c9d3b0h"
ASSESSMENT = "asm_01k5b34h2t7n9x5c0m8q6vd4ye"
REGISTRATION_FORM = "frm_01k5b36s9c2w4k7v1r5t8xj0mb"
SENT_AT = 1789726401250

_TIMES = {"createdAt": 1789640000000, "updatedAt": 1789726400000}


@dataclass(frozen=True)
class Example:
    """One call. `query` is the text after `?`; `data` and `meta` are what the envelope of the answer holds."""

    data: Any
    meta: dict[str, Any] = field(default_factory=dict)
    query: str = ""
    body: dict[str, Any] | None = None
    status: int = 200

    @property
    def answer(self) -> dict[str, Any]:
        """The whole body of the answer."""
        return {"success": True, "data": self.data, "meta": self.meta}


def _page(limit: int, total: int) -> dict[str, int]:
    return {"page": 1, "limit": limit, "total": total, "totalPages": -(-total // limit)}


_CAMPAIGN = {
    "campaignId": CAMPAIGN,
    "name": "Spring survey",
    "description": "How the year began, in every department.",
    "status": "active",
    "enablePasscode": False,
    "registrationOpen": False,
    "resultsPublished": False,
    "startsAt": 1789632000000,
    **_TIMES,
}
_PARTICIPANT = {
    "participantId": PARTICIPANT,
    "campaignId": CAMPAIGN,
    "email": "ana@example.com",
    "firstName": "Ana",
    "lastName": "Lima",
    "status": "added",
    "language": "pt-BR",
    "metadata": {"crmId": "0031", "segments": {"site": "Lyon"}},
    **_TIMES,
}
_CONTACT = {
    "contactId": "con_01k5b41v8s2t6m9hq3e7y0d5nb",
    "email": "luc@example.com",
    "firstName": "Luc",
    "lastName": "Moreau",
    "company": "Brumelac",
    "language": "fr",
    **_TIMES,
}
_WEBHOOK = {
    "subscriptionId": SUBSCRIPTION,
    "url": "https://hooks.example.com/assessor",
    "events": ["participant.joined", "campaign.status.changed"],
    "isActive": True,
    "deliveryFailureCount": 0,
    "signed": True,
    **_TIMES,
}
_USER = {
    "userId": USER,
    "email": "ines@example.com",
    "name": "Inês Duarte",
    "language": "pt-BR",
    "updatedAt": 1789726400000,
}
_SUBMISSION = {
    "submissionId": "sub_01k5b4s7e9d1h3n6w2t5v8kq0x",
    "campaignId": CAMPAIGN,
    "assessmentId": ASSESSMENT,
    "participantId": PARTICIPANT,
    "unitKey": f"participant:{PARTICIPANT}",
    "status": "completed",
    "templateFingerprint": "9f2c41d07b6ea835c0d9147e2b8f63a1",
    "startedAt": 1789725800000,
    "submittedAt": 1789726400000,
    **_TIMES,
}
_ASSESSMENT = {
    "assessmentId": ASSESSMENT,
    "campaignId": CAMPAIGN,
    "title": "How you work",
    "unit": "participant",
    **_TIMES,
}
_REGISTRATION_FORM = {
    "registrationFormId": REGISTRATION_FORM,
    "campaignId": CAMPAIGN,
    "name": "Newcomers",
    **_TIMES,
}
_REGISTRATION = {
    "registrationId": "reg_01k5b4w1n5x8c2j6t9m3q7hd0v",
    "registrationFormId": REGISTRATION_FORM,
    "campaignId": CAMPAIGN,
    **_TIMES,
}
_MESSAGE_TEMPLATE = {"messageTemplateId": "mtp_01k5b37y4r8e2v6n0c5x9tm3jq", "name": "Second reminder", **_TIMES}
_COMMUNICATION = {"communicationId": "com_01k5b4z3t6q9w1h5c8m2vx7n0e", "campaignId": CAMPAIGN, **_TIMES}
_FILE = {"fileId": "fil_01k5b39d1m5j8x4t7c0v2nq6we", "fileName": "welcome.pdf", **_TIMES}

EXAMPLES: dict[str, Example] = {
    "listCampaigns": Example([_CAMPAIGN], _page(20, 1), query="status=active&limit=20"),
    "readCampaign": Example(_CAMPAIGN),
    "listParticipants": Example([_PARTICIPANT], _page(2, 1), query="language=pt-BR&limit=2"),
    "upsertParticipant": Example(
        _PARTICIPANT,
        {"created": True, "preservedKeys": []},
        body={
            "email": "Ana@example.com",
            "firstName": "Ana",
            "lastName": "Lima",
            "language": "pt-BR",
            "metadata": {"crmId": "0031"},
            "segments": {"site": "Lyon"},
        },
        status=201,
    ),
    "patchParticipant": Example(
        {key: value for key, value in _PARTICIPANT.items() if key != "language"},
        {"preservedKeys": []},
        body={"language": None},
    ),
    "listContacts": Example([_CONTACT], _page(50, 1), query="language=fr"),
    "listWebhooks": Example([_WEBHOOK]),
    "registerWebhook": Example(
        _WEBHOOK,
        body={
            "url": "https://hooks.example.com/assessor",
            "events": ["participant.joined", "campaign.status.changed"],
            "secret": "put-a-long-random-text-here",
        },
        status=201,
    ),
    "switchWebhook": Example({**_WEBHOOK, "isActive": False}, body={"isActive": False}),
    "deleteWebhook": Example({"subscriptionId": SUBSCRIPTION}),
    "rotateSecret": Example(
        {"subscriptionId": SUBSCRIPTION, "secret": "whsec_8mJ3vQ0xW7rT2kYb5nLc9pZfHs4dGa6eUoXi1tRqKyM"}, body={}
    ),
}

_OF_CAMPAIGN = {"campaign": _CAMPAIGN}
_STEP = {**_OF_CAMPAIGN, "from": "draft", "to": "active"}
_FLOW = {**_OF_CAMPAIGN, "assessments": [_ASSESSMENT]}
_REFUSED_FLOW = {
    **_FLOW,
    "problems": [
        {"code": "TEMPLATE_NOT_ACTIVE", "path": "assessments[0].template", "message": "The template is a draft."}
    ],
}
_OF_ASSESSMENT = {"assessment": _ASSESSMENT}
_OF_FORM = {"registrationForm": _REGISTRATION_FORM}
_OF_MESSAGE_TEMPLATE = {"messageTemplate": _MESSAGE_TEMPLATE}
_OF_COMMUNICATION = {"communication": _COMMUNICATION}

# The payload of each event.
PAYLOAD_EXAMPLES: dict[str, dict[str, Any]] = {
    "participant.joined": {"participant": _PARTICIPANT},
    "participant.completed_all": {"participant": {**_PARTICIPANT, "status": "completed"}},
    "assessment.submission.created": {"submission": _SUBMISSION},
    "campaign.created": {"campaign": {**_CAMPAIGN, "status": "draft"}},
    "campaign.updated": {**_OF_CAMPAIGN, "changed": ["description", "startsAt"]},
    "campaign.status.changed": _STEP,
    "campaign.registration.toggled": {"campaign": {**_CAMPAIGN, "registrationOpen": True}},
    "campaign.cloned": {
        "campaign": {**_CAMPAIGN, "status": "draft"},
        "clonedFrom": "cmp_01k2m8t5w3v9x6c4n7q1r0hjed",
    },
    "campaign.deleted": {"campaign": {**_CAMPAIGN, "status": "archived"}},
    "campaign.assessment_flow.updated": _FLOW,
    "campaign.assessment_flow.validation_failed": _REFUSED_FLOW,
    "campaign.assessment_flow.publish_failed": _REFUSED_FLOW,
    "campaign.assessment_flow.published": _FLOW,
    "campaign.transition.executed": {**_STEP, "transition": "launch"},
    "campaign.results.published": {"campaign": {**_CAMPAIGN, "resultsPublished": True}},
    "campaign.results.unpublished": _OF_CAMPAIGN,
    "campaign.report.exported": {
        **_OF_CAMPAIGN,
        "export": {"exportId": "exp_01k5b52q8c3x6t9w1m5v7hn0je", "format": "xlsx"},
    },
    "assessment.created": _OF_ASSESSMENT,
    "assessment.updated": {**_OF_ASSESSMENT, "changed": ["title"]},
    "assessment.published": _OF_ASSESSMENT,
    "assessment.deleted": _OF_ASSESSMENT,
    "assessment.availability.changed": {**_OF_ASSESSMENT, "isAvailable": True},
    "registration_form.created": _OF_FORM,
    "registration_form.updated": {**_OF_FORM, "changed": ["name"]},
    "registration_form.published": _OF_FORM,
    "registration.accepted": {"registration": _REGISTRATION},
    "communication.template.created": _OF_MESSAGE_TEMPLATE,
    "communication.template.updated": {**_OF_MESSAGE_TEMPLATE, "changed": ["name"]},
    "communication.template.archived": _OF_MESSAGE_TEMPLATE,
    "communication.created": _OF_COMMUNICATION,
    "communication.dispatch.queued": _OF_COMMUNICATION,
    "communication.status.changed": {**_OF_COMMUNICATION, "from": "queued", "to": "sent"},
    "communication.retry": _OF_COMMUNICATION,
    "reminder.sent": _OF_COMMUNICATION,
    "file.uploaded": {"file": _FILE},
    "file.downloaded": {"file": _FILE},
    "file.deleted": {"file": _FILE},
    "account.self_joined": {"user": _USER},
    "auth_entry.accepted": {"user": _USER},
    "auth_entry.campaign_joined": {"user": _USER, "participant": {**_PARTICIPANT, "email": _USER["email"]}},
    "user.profile.updated": {"user": _USER, "changed": ["name"]},
    "user.preferences.updated": {"user": _USER, "changed": ["language"]},
    "webhook.test": {"subscription": _WEBHOOK},
}


def envelope(name: str, payload: dict[str, Any]) -> dict[str, Any]:
    """The body of a delivery of this event (service.md 2.6)."""
    return {
        "id": DELIVERY,
        "eventId": EVENT,
        "event": name,
        "accountId": ACCOUNT,
        "timestamp": SENT_AT,
        "payload": payload,
    }
