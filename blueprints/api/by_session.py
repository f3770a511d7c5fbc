"""The other door of the v1 calls: the session of a signed-in member, with its CSRF token (contract 3, "v1 calls")."""

from __future__ import annotations

from typing import cast

from flask import current_app
from flask_login import current_user
from flask_wtf.csrf import CSRFError

from contract.errors import ApiError
from domain.accounts import people
from domain.accounts.permissions import Permission, may
from domain.events.audit import Actor, Via


def pass_through(account_id: str, permission: Permission, via: Via) -> Actor:
    """Let a signed-in member pass whose role grants `permission`, or raise the same refusals as the gate."""
    if not current_user.is_authenticated:
        raise ApiError(
            401,
            "TOKEN_INVALID",
            "Send one header `Authorization: Bearer <service-token>`, or sign in.",
            headers={"WWW-Authenticate": "Bearer"},
        )
    role = people.role_in(current_user, account_id)
    if role is None:
        raise ApiError(403, "ACCOUNT_NOT_IN_SCOPE", "You are not a member of the account in the path.")
    if not may(role, permission):
        raise ApiError(403, "FORBIDDEN", "Your role in this account does not allow this call.")
    try:
        current_app.extensions["assessor_csrf"].protect()
    except CSRFError:
        raise ApiError(400, "INVALID_BODY", "Send the session's CSRF token in the header X-CSRF-Token.") from None
    person = cast(people.User, current_user)
    return Actor("user", person.id, person.name, via)
