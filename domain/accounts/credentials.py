"""Service tokens: how other systems prove who they are (service.md 5, contract 3 "Token dates").

A token is `<prefix>_<random>.<signature>`; the signature is an HMAC of what stands before the dot, so a bearer that
was never minted is refused without a database read. Only the hash of a token is stored.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import ForeignKey, Select, Table, Text, bindparam, select, update
from sqlalchemy.orm import Mapped, mapped_column, relationship, selectinload

from core import clock
from core.db import EpochMs, Json, Model, connection, db, primary_key
from core.errors import NotFound, Refused
from core.ids import new_id
from domain.accounts.account import Account
from domain.accounts.permissions import SCOPES
from domain.events import audit
from domain.events.audit import Actor

NEW_PREFIX_FROM = clock.instant("2026-09-17T00:00Z")
OLD_PREFIX_UNTIL = clock.instant("2027-01-01T00:00Z")
ANSWERS_SCOPE_FROM = clock.instant("2026-09-10T00:00Z")
ANSWERS_SCOPE = "submissions:read:answers"
DEFAULT_PER_MINUTE = 1000
MOST_PER_MINUTE = 1_000_000
LONGEST_BEARER = 512


class ServiceToken(Model):
    """A minted token. `per_minute` is its request budget; `revoked_at` ends it at once in every process."""

    __tablename__ = "service_token"

    id: Mapped[str] = primary_key("tok")
    label: Mapped[str] = mapped_column(Text)
    hash: Mapped[str] = mapped_column(Text, unique=True)
    prefix: Mapped[str] = mapped_column(Text)
    hint: Mapped[str] = mapped_column(Text)
    scopes: Mapped[Any] = mapped_column(Json)
    per_minute: Mapped[int] = mapped_column(default=DEFAULT_PER_MINUTE)
    created_at: Mapped[int] = mapped_column(EpochMs)
    last_used_at: Mapped[int | None] = mapped_column(EpochMs)
    revoked_at: Mapped[int | None] = mapped_column(EpochMs)

    reaches: Mapped[list[TokenAccount]] = relationship(lazy="raise_on_sql", cascade="all, delete-orphan")

    def days_left(self, now: int) -> int | None:
        """Whole days until an `aio_` token stops working; None for one that does not end by date."""
        return None if self.prefix != "aio" else max(0, -(-(OLD_PREFIX_UNTIL - now) // clock.DAY_MS))


class TokenAccount(Model):
    """One account that a token reaches."""

    __tablename__ = "service_token_account"

    token_id: Mapped[str] = mapped_column(Text, ForeignKey("service_token.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[str] = mapped_column(Text, ForeignKey("account.id", ondelete="CASCADE"), primary_key=True)

    account: Mapped[Account] = relationship(lazy="raise_on_sql")


@dataclass(frozen=True)
class Principal:
    """Who calls, as far as the gate needs to know. `accounts` and `scopes` are what the token reaches."""

    token_id: str
    label: str
    accounts: frozenset[str]
    scopes: frozenset[str]
    per_minute: int
    is_legacy: bool = False


def mint(
    secret_key: str,
    *,
    accounts: Sequence[str],
    scopes: Iterable[str],
    by: Actor,
    label: str = "",
    per_minute: int | None = None,
    token_id: str | None = None,
) -> tuple[ServiceToken, str]:
    """A new token and its plaintext, which is shown once and stored nowhere.

    Refuses a token that reaches no account or an unknown one, no scope or an unknown one, a budget out of range, and
    `submissions:read:answers` before it could be minted. `token_id` is for a form that brings its own, so that sending
    it twice cannot mint two.
    """
    now = clock.now_ms()
    wanted = [scope for scope in SCOPES if scope in set(scopes)]
    reached = _known_accounts(accounts)
    _check(wanted, set(scopes), per_minute, now)
    plaintext = sign(secret_key, f"{_prefix(now)}_{secrets.token_hex(24)}")
    token = ServiceToken(
        id=token_id or new_id("tok"),
        label=" ".join(label.replace("\0", "").split())[:120] or "Unnamed token",
        hash=_hash(plaintext),
        prefix=_prefix(now),
        hint=plaintext[:8],
        scopes=wanted,
        per_minute=per_minute or DEFAULT_PER_MINUTE,
        created_at=now,
        reaches=[TokenAccount(account_id=account.id) for account in reached],
    )
    db.session.add(token)
    db.session.flush()
    _record(token, "token.minted", by, {"scopes": [None, wanted]})
    return token, plaintext


def revoke(token_id: str, by: Actor) -> ServiceToken:
    """End a token at once; ending it again changes nothing."""
    token = get(token_id)
    ended = db.session.execute(
        update(ServiceToken)
        .where(ServiceToken.id == token_id, ServiceToken.revoked_at.is_(None))
        .values(revoked_at=clock.now_ms())
        .returning(ServiceToken.id)
    )
    if ended.first() is not None:
        _record(token, "token.revoked", by)
    return token


def get(token_id: str) -> ServiceToken:
    """The token with what it reaches, or `NotFound`."""
    token = db.session.scalar(_with_reach().where(ServiceToken.id == token_id))
    if token is None:
        raise NotFound("token")
    return token


def all_tokens() -> list[ServiceToken]:
    """Every token, newest first, each with the accounts it reaches."""
    return list(db.session.scalars(_with_reach().order_by(ServiceToken.id.desc())))


def sign(secret_key: str, body: str) -> str:
    """`body` with its signature behind a dot."""
    return f"{body}.{_signature(secret_key, body)}"


def is_signed(secret_key: str, bearer: str) -> bool:
    """Whether this installation minted the bearer; needs no database."""
    body, dot, signature = bearer.rpartition(".")
    if not dot or len(bearer) > LONGEST_BEARER or not bearer.isascii():
        return False
    return body[:4] in ("asr_", "aio_") and hmac.compare_digest(signature, _signature(secret_key, body))


def is_past_its_prefix(bearer: str) -> bool:
    """Whether the bearer has the earlier prefix and its last day is over."""
    return bearer.startswith("aio_") and clock.now_ms() >= OLD_PREFIX_UNTIL


_TOKEN = cast(Table, ServiceToken.__table__)
_REACH = cast(Table, TokenAccount.__table__)
_LOOK_UP = (
    select(
        _TOKEN.c.id, _TOKEN.c.label, _TOKEN.c.scopes, _TOKEN.c.per_minute, _TOKEN.c.created_at, _TOKEN.c.prefix,
        _REACH.c.account_id,
    )
    .outerjoin(_REACH, _REACH.c.token_id == _TOKEN.c.id)
    .where(_TOKEN.c.hash == bindparam("hash"), _TOKEN.c.revoked_at.is_(None))
)  # fmt: skip


def principal_of(bearer: str) -> Principal | None:
    """Whose token this is; None for one that was revoked or never stored. One query."""
    rows = connection().execute(_LOOK_UP, {"hash": _hash(bearer)}).all()
    if not rows:
        return None
    token_id, label, scopes, per_minute, created_at, prefix, _ = rows[0]
    if not bearer.startswith(prefix + "_"):
        return None
    reached = frozenset(row[6] for row in rows if row[6] is not None)
    return Principal(token_id, label, reached, _effective(scopes, created_at), per_minute)


def legacy_principal(bearer: str, configured: Sequence[dict[str, Any]]) -> Principal | None:
    """The holder of a token from `ASSESSOR_LEGACY_TOKENS`; such a token never reaches answer content."""
    digest = _hash(bearer)
    for number, entry in enumerate(configured):
        if hmac.compare_digest(str(entry["sha256"]).lower(), digest):
            scopes = frozenset(entry["scopes"]) & frozenset(SCOPES) - {ANSWERS_SCOPE}
            name = f"environment token {number + 1}"
            return Principal(f"env_{digest[:24]}", name, frozenset(entry["accounts"]), scopes, DEFAULT_PER_MINUTE, True)
    return None


def note_use(used: dict[str, int]) -> None:
    """Write when tokens were last used (token id to epoch ms); later than what is stored wins."""
    for token_id, at in sorted(used.items()):
        db.session.execute(
            update(ServiceToken)
            .where(
                ServiceToken.id == token_id, (ServiceToken.last_used_at.is_(None)) | (ServiceToken.last_used_at < at)
            )
            .values(last_used_at=at)
            .execution_options(synchronize_session=False)
        )


def _effective(scopes: Sequence[str], created_at: int) -> frozenset[str]:
    """A token minted before answers could be reached never reaches them, whatever its row says (service.md 5.8)."""
    held = frozenset(scopes)
    return held - {ANSWERS_SCOPE} if created_at < ANSWERS_SCOPE_FROM else held


def _known_accounts(accounts: Sequence[str]) -> list[Account]:
    if not accounts:
        raise Refused("TOKEN_REACHES_NO_ACCOUNT", path="accounts")
    found = list(db.session.scalars(select(Account).where(Account.id.in_(accounts)).order_by(Account.id)))
    missing = set(accounts) - {account.id for account in found}
    if missing:
        raise Refused("ACCOUNT_UNKNOWN", path="accounts", accounts=", ".join(sorted(missing)))
    return found


def _check(wanted: Sequence[str], asked: set[str], per_minute: int | None, now: int) -> None:
    unknown = asked - set(SCOPES)
    if unknown:
        raise Refused("SCOPE_UNKNOWN", path="scopes", scopes=", ".join(sorted(unknown)))
    if not wanted:
        raise Refused("TOKEN_WITHOUT_SCOPE", path="scopes")
    if ANSWERS_SCOPE in wanted and now < ANSWERS_SCOPE_FROM:
        raise Refused("SCOPE_NOT_YET_ISSUABLE", path="scopes", scope=ANSWERS_SCOPE)
    if per_minute is not None and not 1 <= per_minute <= MOST_PER_MINUTE:
        raise Refused("OUT_OF_RANGE", path="per_minute", least=1, most=MOST_PER_MINUTE)


def _prefix(now: int) -> str:
    return "asr" if now >= NEW_PREFIX_FROM else "aio"


def _record(token: ServiceToken, action: str, by: Actor, changes: dict[str, Any] | None = None) -> None:
    """An entry in the audit log of each account that the token reaches."""
    for reach in token.reaches:
        audit.record(reach.account_id, by, action, token.id, token.label, changes)


def _with_reach() -> Select[ServiceToken]:
    return select(ServiceToken).options(selectinload(ServiceToken.reaches).joinedload(TokenAccount.account))


def _signature(secret_key: str, body: str) -> str:
    key = hashlib.sha256(b"assessor service token\0" + secret_key.encode()).digest()
    return hmac.new(key, body.encode(), hashlib.sha256).hexdigest()[:32]


def _hash(bearer: str) -> str:
    return hashlib.sha256(bearer.encode()).hexdigest()
