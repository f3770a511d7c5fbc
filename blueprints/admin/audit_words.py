"""The audit log in the reader's words: actions, ways, fields, and what a field held before and holds now."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask_babel import gettext as _
from flask_babel import lazy_gettext as lazy

from blueprints import roles
from blueprints.page import language_name, number, when
from blueprints.words import CAMPAIGN_STATUS, PARTICIPANT_STATUS
from domain.events.audit import AuditEntry

ACTIONS = {
    "account.created": lazy("Account created"),
    "account.updated": lazy("Account changed"),
    "account.languages.changed": lazy("Languages of the account changed"),
    "member.added": lazy("Person added to the account"),
    "member.role.changed": lazy("Role changed"),
    "member.removed": lazy("Person removed from the account"),
    "token.minted": lazy("API credential minted"),
    "token.revoked": lazy("API credential revoked"),
    "campaign.created": lazy("Campaign created"),
    "campaign.updated": lazy("Campaign changed"),
    "campaign.status.changed": lazy("Status of the campaign changed"),
    "participant.upserted": lazy("Participant added or brought up to date"),
    "participant.updated": lazy("Participant changed"),
    "participant.removed": lazy("Participant removed"),
    "contact.created": lazy("Contact created"),
    "contact.updated": lazy("Contact changed"),
    "contact.removed": lazy("Contact removed"),
    "import.applied": lazy("Import applied"),
    "import.undone": lazy("Import undone"),
    "webhook.registered": lazy("Webhook registered"),
    "webhook.updated": lazy("Webhook activated or deactivated"),
    "webhook.deleted": lazy("Webhook deleted"),
    "webhook.secret.rotated": lazy("Secret of a webhook rotated"),
    "webhook.tested": lazy("Test sent to a webhook"),
    "webhook.refired": lazy("Webhook deliveries sent again"),
    "bundle.loaded": lazy("Bundle loaded"),
}
WAYS = {
    "page": lazy("on a page"),
    "v1_api": lazy("over the v1 API"),
    "v2_public_api": lazy("over the v2 API"),
    "import": lazy("by an import"),
    "command_line": lazy("on the command line"),
    "schedule": lazy("on schedule"),
    "bundle": lazy("by a bundle"),
}
ACTOR_KINDS = {"user": lazy("Person"), "token": lazy("API credential"), "system": lazy("The system")}
FIELDS = {
    "name": lazy("Name"),
    "email": lazy("E-mail"),
    "first_name": lazy("First name"),
    "last_name": lazy("Last name"),
    "company": lazy("Company"),
    "language": lazy("Language"),
    "languages": lazy("Languages"),
    "role": lazy("Role"),
    "scopes": lazy("Scopes"),
    "status": lazy("Status"),
    "description": lazy("Description"),
    "enablePasscode": lazy("Asks for a passcode"),
    "passcode": lazy("Passcode"),
    "startsAt": lazy("Starts"),
    "endsAt": lazy("Ends"),
    "metadata": lazy("Metadata"),
    "created": lazy("New on the roster"),
    "organisation_id": lazy("Organisation"),
    "labels": lazy("Labels"),
    "add": lazy("Added"),
    "change": lazy("Changed"),
    "same": lazy("Unchanged"),
    "refused": lazy("Refused"),
    "added": lazy("Added"),
    "changed": lazy("Changed"),
    "removed": lazy("Removed"),
    "reverted": lazy("Reverted"),
    "kept": lazy("Kept"),
    "events": lazy("Events"),
    "isActive": lazy("Switched on"),
    "deliveries": lazy("Deliveries"),
}
LONGEST_VALUE = 160


@dataclass(frozen=True)
class Change:
    """One field of an entry. `before` or `after` is None where that side says nothing."""

    field: str
    before: str | None
    after: str | None


def action(code: str) -> str:
    """An action in words; one that is not known any more, or not yet, as it is."""
    return str(ACTIONS.get(code, code))


def way(code: str) -> str:
    """By which way something was done."""
    return str(WAYS.get(code, code))


def changes(entry: AuditEntry) -> list[Change]:
    """What changed, field by field."""
    return [_change(field, pair) for field, pair in (entry.changes or {}).items()]


def _change(field: str, pair: Sequence[Any]) -> Change:
    before, after = (pair[0], pair[1]) if isinstance(pair, list) and len(pair) == 2 else (None, pair)
    word = str(FIELDS.get(field, field))
    if before is None and after is None:
        return Change(word, None, _("changed; the value is not logged"))
    if field == "created":
        return Change(word, None, _value(field, after))
    if field == "metadata" and before is None and isinstance(after, list):
        return Change(word, None, _("changed keys: %(keys)s", keys=_shortened(", ".join(map(str, after)))))
    return Change(word, None if before is None else _value(field, before), _value(field, after))


def _value(field: str, value: Any) -> str:
    if value is None or value == "" or value == []:
        return _("not set")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, list):
        return _shortened(", ".join(_value(field, each) for each in value))
    if isinstance(value, Mapping):
        return _shortened(json.dumps(value, ensure_ascii=False))
    said = _SAID.get(field)
    if said is not None:
        return said(value)
    return number(value) if isinstance(value, int | float) else _shortened(str(value))


def _status(code: str) -> str:
    word, _tone = CAMPAIGN_STATUS.get(code) or PARTICIPANT_STATUS.get(code) or (code, "")
    return str(word)


def _instant(value: Any) -> str:
    return when(value) if isinstance(value, int) else str(value)


_SAID: dict[str, Callable[[Any], str]] = {
    "role": roles.name,
    "language": language_name,
    "languages": language_name,
    "status": _status,
    "startsAt": _instant,
    "endsAt": _instant,
}


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"
