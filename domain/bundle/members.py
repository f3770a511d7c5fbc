"""The people of a bundle who may sign in, and what they are in its account."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import cached_property

from pydantic import MISSING
from sqlalchemy import select

from contract import bundle as shapes
from core import clock
from core.db import db
from core.errors import Refused
from core.ids import new_id
from domain.accounts import people
from domain.accounts.account import Account
from domain.accounts.people import Membership, User


class Members:
    """Writes people and memberships. Passwords of people who are known are left alone (contract 6)."""

    def place(self, account: Account, entries: Sequence[shapes.User], place: str) -> dict[str, str]:
        """Write `entries`; returns user ids by address. Refuses a new member without a role who is no operator."""
        addresses = [entry.email for entry in entries]
        known = {user.email: user for user in db.session.scalars(select(User).where(User.email.in_(addresses)))}
        members = {
            each.user_id: each
            for each in db.session.scalars(select(Membership).where(Membership.account_id == account.id))
        }
        for number, entry in enumerate(entries):
            user = known.get(entry.email) or self._new(entry)
            _bring_up_to_date(user, entry)
            _place_membership(account, user, members.get(user.id), entry, f"{place}[{number}]")
            known[entry.email] = user
        db.session.flush()
        return {address: known[address].id for address in addresses}

    def _new(self, entry: shapes.User) -> User:
        password = entry.password
        hashed = self._nobodys if password is MISSING else people.hasher.hash(password)
        user = User(id=new_id("usr"), email=entry.email, name=entry.name, password_hash=hashed, is_operator=False)
        db.session.add(user)
        db.session.flush()
        return user

    @cached_property
    def _nobodys(self) -> str:
        """The hash of a password that is forgotten at once; hashing is slow by design, so one serves a whole load."""
        return people.hasher.hash(secrets.token_urlsafe())


def _bring_up_to_date(user: User, entry: shapes.User) -> None:
    given = {"name": entry.name, "is_operator": entry.operator, "language": entry.language}
    changed = {name: value for name, value in given.items() if value is not MISSING and value != getattr(user, name)}
    for name, value in changed.items():
        setattr(user, name, value)
    if changed:
        user.updated_at = clock.now_ms()


def _place_membership(
    account: Account, user: User, membership: Membership | None, entry: shapes.User, place: str
) -> None:
    if entry.role is MISSING:
        if membership is None and not user.is_operator:
            raise Refused("BUNDLE_MEMBER_WITHOUT_ROLE", path=f"{place}.role")
    elif membership is None:
        db.session.add(Membership(user_id=user.id, account_id=account.id, role=entry.role))
    elif membership.role != entry.role:
        membership.role = entry.role
