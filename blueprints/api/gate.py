"""The gate of every API call, in its fixed order (service.md 5): token, account, scope, budget."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import structlog
from flask import Request, current_app, g

from contract.errors import ApiError
from core import metrics
from core.limits import windows
from core.settings import Settings
from domain.accounts import credentials
from domain.accounts.credentials import Principal
from domain.events.audit import Actor

from . import last_use

MINUTE = 60
_SHA256 = re.compile("[0-9a-fA-F]{64}")
log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Passed:
    """Who came through, and the headers that every answer to them carries."""

    principal: Principal
    headers: dict[str, str]

    def actor(self, via: Any) -> Actor:
        """The token as the author of a change."""
        return Actor("token", self.principal.token_id, self.principal.label, via)


def pass_through(request: Request, account_id: str, scopes: Sequence[str]) -> Passed:
    """Let a call through all four steps, or raise the refusal of the first that says no."""
    try:
        principal = _resolve(request)
        _check_account(principal, account_id)
        _check_scopes(principal, scopes)
        headers = _spend(principal)
    except ApiError as refusal:
        metrics.REFUSED_TOKENS.labels(refusal.code).inc()
        raise
    if principal.is_legacy:
        log.warning("environment_token_used", token=principal.token_id, label=principal.label)
        headers["Deprecation"] = "@1789603200"  # 2026-09-17, the day of the new tokens
    else:
        last_use.note(principal.token_id)
    g.passed = Passed(principal, headers)
    return g.passed


def _resolve(request: Request) -> Principal:
    """Step 1. A bearer that this installation never minted is refused without a database read."""
    bearer = _bearer(request)
    settings: Settings = current_app.config["SETTINGS"]
    if credentials.is_signed(settings.secret_key, bearer):
        if credentials.is_past_its_prefix(bearer):
            raise _unauthorised(
                "TOKEN_EXPIRED_PREFIX",
                "Tokens that start with aio_ ended on 2026-12-31. Ask the operator for a new one.",
            )
        principal = credentials.principal_of(bearer)
    else:
        principal = credentials.legacy_principal(bearer, legacy_tokens(settings.legacy_tokens))
    if principal is None:
        raise _unauthorised("TOKEN_INVALID", "The bearer token is not one of this service, or it was revoked.")
    return principal


def _bearer(request: Request) -> str:
    given = request.headers.getlist("Authorization")
    kind, _, bearer = (given[0] if len(given) == 1 else "").partition(" ")
    bearer = bearer.strip()
    if kind.lower() != "bearer" or not bearer or not bearer.isascii() or len(bearer) > 4096 or "," in bearer:
        raise _unauthorised("TOKEN_INVALID", "Send one header `Authorization: Bearer <service-token>`.")
    return bearer


def _check_account(principal: Principal, account_id: str) -> None:
    """Step 2."""
    if account_id not in principal.accounts:
        raise ApiError(403, "ACCOUNT_NOT_IN_SCOPE", "The token does not reach the account in the path.")


def _check_scopes(principal: Principal, scopes: Sequence[str]) -> None:
    """Step 3. An operation with several scopes names all that are missing."""
    missing = [scope for scope in scopes if scope not in principal.scopes]
    if not missing:
        return
    if len(scopes) > 1:
        names = " and ".join(missing)
        raise ApiError(403, "COMPILE_SCOPES_REQUIRED", f"The token lacks the scope {names}.", missingScopes=missing)
    raise ApiError(403, "SCOPE_REQUIRED", f"The token lacks the scope {missing[0]}.", requiredScope=missing[0])


def _spend(principal: Principal) -> dict[str, str]:
    """Step 4. Only calls that came this far count; the answer's headers say how much is left."""
    count = windows().hit(f"budget/{principal.token_id}", MINUTE)
    headers = {
        "RateLimit-Limit": str(principal.per_minute),
        "RateLimit-Remaining": str(max(0, principal.per_minute - count.so_far)),
        "RateLimit-Reset": str(count.resets_in),
    }
    if count.so_far > principal.per_minute:
        sentence = f"The token's budget of {principal.per_minute} calls a minute is used up."
        raise ApiError(
            429, "RATE_LIMITED", f"{sentence} Try again in {count.resets_in} s.",
            headers={**headers, "Retry-After": str(count.resets_in)},
        )  # fmt: skip
    return headers


def _unauthorised(code: Any, sentence: str) -> ApiError:
    return ApiError(401, code, sentence, headers={"WWW-Authenticate": "Bearer"})


@lru_cache(maxsize=4)
def legacy_tokens(configured: str) -> tuple[dict[str, Any], ...]:
    """`ASSESSOR_LEGACY_TOKENS`; entries that are not `{sha256, accounts, scopes}` are left out, and said so."""
    try:
        entries = json.loads(configured)
    except ValueError:
        log.error("legacy_tokens_unreadable")
        return ()
    good = [entry for entry in entries if _is_entry(entry)] if isinstance(entries, list) else []
    if not isinstance(entries, list) or len(good) < len(entries):
        log.error("legacy_tokens_unreadable", used=len(good))
    return tuple(good)


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("sha256"), str)
        and _SHA256.fullmatch(entry["sha256"]) is not None
        and all(
            isinstance(entry.get(name), list) and all(isinstance(each, str) for each in entry[name])
            for name in ("accounts", "scopes")
        )
    )
