"""What the reference says of scopes, errors and resource groups. The codes themselves are never translated."""

from __future__ import annotations

import re

from flask_babel import LazyString
from flask_babel import lazy_gettext as lazy
from markupsafe import Markup, escape

from contract.envelope import ErrorCode
from domain.accounts.permissions import Scope

_CODE = re.compile(r"`([^`]+)`")


def coded(sentence: object) -> Markup:
    """A sentence with its `names` set as code; a template's own is markup already."""
    # A lazy sentence calls itself markup too, and is not.
    text = sentence if isinstance(sentence, Markup) else escape(str(sentence))
    return Markup(_CODE.sub(r"<code>\1</code>", str(text)))  # noqa: S704  escaped one step before


TITLES: dict[str, LazyString] = {
    "campaigns": lazy("Campaigns"),
    "participants": lazy("Participants"),
    "submissions": lazy("Submissions"),
    "exports": lazy("Exports"),
    "contacts": lazy("Contacts"),
    "webhooks": lazy("Webhooks"),
    "authoring": lazy("Template authoring"),
}

SCOPES: dict[Scope, LazyString] = {
    "campaigns:read": lazy("List and read campaigns and the inventory of their assessments."),
    "participants:read": lazy("List who stands on a roster."),
    "participants:write": lazy("Add people to a roster and bring them up to date."),
    "submissions:read": lazy("List submissions, without what was answered."),
    "submissions:read:answers": lazy("See the answers in submissions, and who corrected what in exports."),
    "results:export": lazy("Export results. An export always holds real answers."),
    "contacts:read": lazy("List the account's CRM contacts."),
    "webhooks:manage": lazy("List, register, switch and remove webhooks."),
    "statements:read": lazy("Search statements, library items and earlier questions."),
    "templates:read": lazy("Read templates, scales, labels and Blueprints, and have them checked."),
    "templates:write": lazy("Compile a Blueprint, together with `blueprints:write`."),
    "blueprints:write": lazy("Start a Blueprint and run the assistant over it."),
}

ERRORS: dict[ErrorCode, tuple[int, LazyString]] = {
    "INVALID_BODY": (400, lazy("Correct the places that `details` names. Nothing was written.")),
    "INVALID_FILTER": (400, lazy("Use one of the values that the operation lists for this filter.")),
    "UNKNOWN_EVENT_TYPES": (400, lazy("Take the names in `unknownEvents` out of `events`.")),
    "WEBHOOK_URL_REFUSED": (400, lazy("Use an http or https address that the public internet can reach.")),
    "BLUEPRINT_NOT_READY": (400, lazy("Solve what `problems` lists, then compile again.")),
    "TOKEN_INVALID": (401, lazy("Send one `Authorization` header with a token that was not revoked.")),
    "TOKEN_EXPIRED_PREFIX": (401, lazy("Ask the operator for a new token: those that start with `aio_` ended.")),
    "ACCOUNT_NOT_IN_SCOPE": (403, lazy("Use an account the token reaches, or ask for a token that reaches this one.")),
    "SCOPE_REQUIRED": (403, lazy("Ask for a token that also holds the scope in `requiredScope`.")),
    "REVIEW_SCOPE_REQUIRED": (403, lazy("Leave `includeReviews` out, or use a token with `submissions:read:answers`.")),
    "COMPILE_SCOPES_REQUIRED": (403, lazy("Ask for a token that holds both scopes; `missingScopes` says which lack.")),
    "FORBIDDEN": (403, lazy("Your role in the account does not allow this call; only signed-in people meet this.")),
    "NOT_FOUND": (404, lazy("Check the path and its ids. Another account's things look as if they did not exist.")),
    "METHOD_NOT_ALLOWED": (405, lazy("Use a method that the `Allow` header names.")),
    "CONFLICT": (409, lazy("Something changed meanwhile. Read the resource again, then repeat your call.")),
    "PAYLOAD_TOO_LARGE": (413, lazy("Send at most 1 MiB at a time.")),
    "UNSUPPORTED_MEDIA_TYPE": (415, lazy("Send the body with `Content-Type: application/json`.")),
    "RATE_LIMITED": (429, lazy("Wait for the seconds that `Retry-After` gives, then repeat the call.")),
    "INTERNAL": (500, lazy("Not your doing. Tell the operator the `requestId`.")),
    "MODEL_UNAVAILABLE": (502, lazy("The assistant's model did not answer. Try again later.")),
    "MODEL_DISABLED": (503, lazy("The operator switched the assistant off. Try again later.")),
    "STORAGE_BUSY": (503, lazy("Nothing was written. Repeat the call after the seconds in `Retry-After`.")),
    "STORAGE_FULL": (507, lazy("Nothing was written. Tell the operator.")),
}
