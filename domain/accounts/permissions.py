"""Who may do what: every role and every scope on one page (service.md 5, contract 3 "Who may edit")."""

from __future__ import annotations

from typing import Literal, get_args

Role = Literal["account_admin", "campaign_manager", "auditor", "participant"]
ROLES: tuple[Role, ...] = get_args(Role)

Permission = Literal[
    "account:view",
    "campaigns:view",
    "campaigns:edit",
    "roster:view",
    "roster:edit",
    "contacts:view",
    "contacts:edit",
    "webhooks:manage",
    "people:view",
    "people:edit",
    "audit:view",
]

_VIEW: frozenset[Permission] = frozenset({"account:view", "campaigns:view", "roster:view"})
_MANAGE: frozenset[Permission] = _VIEW | {
    "campaigns:edit",
    "roster:edit",
    "contacts:view",
    "contacts:edit",
    "webhooks:manage",
}

PERMISSIONS: dict[Role, frozenset[Permission]] = {
    "account_admin": _MANAGE | {"people:view", "people:edit", "audit:view"},
    "campaign_manager": _MANAGE | {"people:view"},
    "auditor": _VIEW,
    "participant": frozenset(),
}

Scope = Literal[
    "campaigns:read",
    "participants:read",
    "participants:write",
    "submissions:read",
    "submissions:read:answers",
    "results:export",
    "contacts:read",
    "webhooks:manage",
    "statements:read",
    "templates:read",
    "templates:write",
    "blueprints:write",
]
SCOPES: tuple[Scope, ...] = get_args(Scope)

# The two that reach answer content; flagged where a token is minted (service.md 5.4).
SENSITIVE_SCOPES: frozenset[str] = frozenset({"submissions:read:answers", "results:export"})


def may(role: str, permission: Permission) -> bool:
    """Whether a member with this role may do this."""
    return any(permission in granted for name, granted in PERMISSIONS.items() if name == role)
