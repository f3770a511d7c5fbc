"""An account: whoever runs campaigns here. Its list of published languages is ordered; the first is the primary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ForeignKey, Text, UniqueConstraint, select
from sqlalchemy.orm import Mapped, mapped_column

from core import clock
from core.db import EpochMs, Json, Model, as_created, db, primary_key
from core.errors import NotFound, Refused
from core.i18n import LANGUAGES
from core.ids import new_id
from domain.events import audit
from domain.events.audit import Actor

LONGEST_NAME = 200


class Account(Model):
    """`languages` holds codes in order; the first entry is the primary language (B.1)."""

    __tablename__ = "account"

    id: Mapped[str] = primary_key("acc")
    name: Mapped[str] = mapped_column(Text)
    bundle_key: Mapped[str | None] = mapped_column(Text, unique=True)
    languages: Mapped[Any] = mapped_column(Json, default=list)
    created_at: Mapped[int] = mapped_column(EpochMs, default=clock.now_ms)
    updated_at: Mapped[int] = mapped_column(EpochMs, default=as_created)

    @property
    def primary_language(self) -> str:
        """The first published language; English where none is published."""
        return self.languages[0] if self.languages else "en"


class Organisation(Model):
    """An organisation that participants of an account belong to."""

    __tablename__ = "organisation"

    id: Mapped[str] = primary_key("org")
    account_id: Mapped[str] = mapped_column(Text, ForeignKey("account.id", ondelete="CASCADE"))
    bundle_key: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(Text)

    __table_args__ = (UniqueConstraint("account_id", "bundle_key"),)


def create(name: str, by: Actor, languages: Sequence[str] | None = None, *, account_id: str | None = None) -> Account:
    """A new account. Refuses an empty or over-long name, and an unknown or repeated language.

    `account_id` is for a form that brings its own, so that sending it twice cannot make two accounts.
    """
    published = list(languages or ["en"])
    account = Account(id=account_id or new_id("acc"), name=_checked_name(name), languages=_checked_languages(published))
    db.session.add(account)
    db.session.flush()
    changes = {"name": [None, account.name], "languages": [None, account.languages]}
    audit.record(account.id, by, "account.created", account.id, account.name, changes)
    return account


def rename(account: Account, name: str, by: Actor) -> None:
    """Give the account another name."""
    before, account.name = account.name, _checked_name(name)
    if before != account.name:
        account.updated_at = clock.now_ms()
        audit.record(account.id, by, "account.updated", account.id, account.name, {"name": [before, account.name]})
    db.session.flush()


def get(account_id: str) -> Account:
    """The account, or `NotFound`."""
    account = db.session.get(Account, account_id)
    if account is None:
        raise NotFound("account")
    return account


def all_accounts() -> list[Account]:
    """Every account by name; for operators."""
    return list(db.session.scalars(select(Account).order_by(Account.name, Account.id)))


def _checked_languages(languages: list[str]) -> list[str]:
    for code in languages:
        if code not in LANGUAGES:
            raise Refused("LANGUAGE_UNKNOWN", path="languages", value=code)
        if languages.count(code) > 1:
            raise Refused("LANGUAGE_REPEATED", path="languages", value=code)
    return languages


def _checked_name(name: str) -> str:
    name = " ".join(name.replace("\0", "").split())
    if not name:
        raise Refused("NAME_REQUIRED", path="name")
    if len(name) > LONGEST_NAME:
        raise Refused("TOO_LONG", path="name", most=LONGEST_NAME)
    return name
