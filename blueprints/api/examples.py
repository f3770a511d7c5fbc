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

_STEP = {"campaign": _CAMPAIGN, "from": "draft", "to": "active"}

# The payload of each event.
PAYLOAD_EXAMPLES: dict[str, dict[str, Any]] = {
    "participant.joined": {"participant": _PARTICIPANT},
    "campaign.created": {"campaign": {**_CAMPAIGN, "status": "draft"}},
    "campaign.updated": {"campaign": _CAMPAIGN, "changed": ["description", "startsAt"]},
    "campaign.status.changed": _STEP,
    "campaign.transition.executed": {**_STEP, "transition": "launch"},
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
