"""The roles in the reader's words: their names, what each is for, and what each may do."""

from __future__ import annotations

from flask_babel import gettext as _
from flask_babel import lazy_gettext as lazy

from domain.accounts.permissions import ROLES, Permission, may

NAMES = {
    "account_admin": lazy("Account administrator"),
    "campaign_manager": lazy("Campaign manager"),
    "auditor": lazy("Auditor"),
    "participant": lazy("Participant"),
}
PURPOSES = {
    "account_admin": lazy("Runs the account: everything a campaign manager does, its people and its audit log."),
    "campaign_manager": lazy("Runs campaigns: their rosters, imports and contacts. Sees the people, changes none."),
    "auditor": lazy("Looks at campaigns and rosters and reviews answers. Changes nothing else."),
    "participant": lazy("Answers assessments on the personal pages. Sees nothing of the account."),
}
# What the table of roles shows, in its order.
DEEDS: tuple[tuple[str, Permission], ...] = (
    (lazy("See campaigns"), "campaigns:view"),
    (lazy("Create and run campaigns"), "campaigns:edit"),
    (lazy("See rosters"), "roster:view"),
    (lazy("Change rosters, import people"), "roster:edit"),
    (lazy("See and change contacts"), "contacts:edit"),
    (lazy("Manage webhooks"), "webhooks:manage"),
    (lazy("See the people of the account"), "people:view"),
    (lazy("Add people, give roles"), "people:edit"),
    (lazy("Read the audit log"), "audit:view"),
)


def name(role: str) -> str:
    """A role's name; an unknown one as it is."""
    return str(NAMES.get(role, role))


def choices() -> list[tuple[str, str]]:
    """Choices of a role selector; the first asks for a choice."""
    return [("", _("Choose a role")), *((role, name(role)) for role in ROLES)]


def deeds() -> list[tuple[str, list[bool]]]:
    """What can be done, each with whether the roles may, in their order."""
    return [(str(words), [may(role, permission) for role in ROLES]) for words, permission in DEEDS]
