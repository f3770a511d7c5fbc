"""The people who sign in, the accounts they are members of, and their open sessions."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import ForeignKey, Select, Text, and_, case, delete, func, select, update
from sqlalchemy.orm import InstrumentedAttribute, Mapped, mapped_column

import contract.people as public
from core import clock
from core.addresses import as_address
from core.db import EpochMs, Model, as_created, db, primary_key
from core.errors import NotFound, Refused
from core.i18n import Language, known
from domain.accounts.account import Account
from domain.accounts.permissions import ROLES
from domain.events import audit, event
from domain.events.audit import Actor

PASSWORD_LEAST = 10
PASSWORD_MOST = 200

AnySelect = TypeVar("AnySelect", bound=Select[Any])

hasher = PasswordHasher()


class User(Model):
    """A person who can sign in. `language` is the person's own preference for the screens, or unset."""

    __tablename__ = "user"
    is_authenticated: ClassVar[bool] = True  # what flask-login asks of whoever is signed in

    id: Mapped[str] = primary_key("usr")
    email: Mapped[str] = mapped_column(Text, unique=True)
    name: Mapped[str] = mapped_column(Text)
    password_hash: Mapped[str] = mapped_column(Text)
    is_operator: Mapped[bool] = mapped_column(default=False)
    language: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[int] = mapped_column(EpochMs, default=clock.now_ms)
    updated_at: Mapped[int] = mapped_column(EpochMs, default=as_created)


class Membership(Model):
    """A person's role in one account."""

    __tablename__ = "membership"

    user_id: Mapped[str] = mapped_column(Text, ForeignKey("user.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[str] = mapped_column(
        Text, ForeignKey("account.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    role: Mapped[str] = mapped_column(Text)
    created_at: Mapped[int] = mapped_column(EpochMs, default=clock.now_ms)


class SignIn(Model):
    """One open session of a person; the browser holds the secret, this row its hash. Ended rows are deleted."""

    __tablename__ = "sign_in"

    secret_hash: Mapped[str] = mapped_column(Text, primary_key=True)
    user_id: Mapped[str] = mapped_column(Text, ForeignKey("user.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[int] = mapped_column(EpochMs, default=clock.now_ms)


# What a row of `join_members` prefers; nothing where no member has the address.
PREFERENCE = case((Membership.user_id.is_not(None), User.language))

SIGN_IN_LASTS_MS = 14 * clock.DAY_MS


def create(email: str, name: str, password: str, by: Actor, *, is_operator: bool = False) -> User:
    """A new person. Refuses an address that is taken or malformed, an empty or over-long name, a short password."""
    address = as_address(email)
    if address is None:
        raise Refused("EMAIL_INVALID", path="email")
    if find(address) is not None:
        raise Refused("EMAIL_TAKEN", path="email")
    person = User(email=address, name=_checked_name(name), password_hash=hash_of(password), is_operator=is_operator)
    db.session.add(person)
    db.session.flush()
    return person


def find(email: str) -> User | None:
    """The person with this address, in any case; nobody where it is no address at all."""
    address = as_address(email)
    return db.session.scalar(select(User).where(User.email == address)) if address is not None else None


def generated_password() -> str:
    """A password that can be read out: four groups of four, some 79 bits."""
    letters = "23456789abcdefghjkmnpqrstuvwxyz"
    return "-".join("".join(secrets.choice(letters) for _ in range(4)) for _ in range(4))


def change_profile(person: User, name: str, language: Language | None) -> None:
    """Give a person another name or another language of the screens (None follows the browser).

    Each account that the person is a member of is told what changed; where nothing did, nothing happens.
    """
    # Locked, so that of two changes at once each is told by what it really changed.
    db.session.refresh(person, with_for_update=True)
    name = _checked_name(name)
    is_renamed, prefers_another = name != person.name, language != person.language
    if not is_renamed and not prefers_another:
        return
    person.name, person.language, person.updated_at = name, language, clock.now_ms()
    db.session.flush()
    for account_id in _account_ids(person):
        if is_renamed:
            event.record(account_id, "user.profile.updated", {"user": as_public(person), "changed": ["name"]})
        if prefers_another:
            event.record(account_id, "user.preferences.updated", {"user": as_public(person), "changed": ["language"]})


def as_public(person: User) -> public.User:
    """The public projection: what any account that the person belongs to may know."""
    shown: public.User = {
        "userId": person.id,
        "email": person.email,
        "name": person.name,
        "updatedAt": person.updated_at,
    }
    language = known(person.language)
    return {**shown, "language": language} if language is not None else shown


def _account_ids(person: User) -> list[str]:
    query = select(Membership.account_id).where(Membership.user_id == person.id)
    return list(db.session.scalars(query.order_by(Membership.account_id)))


def _checked_name(name: str) -> str:
    name = " ".join(name.replace("\0", "").split())
    if not name:
        raise Refused("NAME_REQUIRED", path="name")
    if len(name) > 200:
        raise Refused("TOO_LONG", path="name", most=200)
    return name


def preference_of(account_id: str, email: str) -> str | None:
    """The language that the account's member with this address prefers; None for a stranger, or where unset."""
    query = select(User.language).join(Membership, Membership.user_id == User.id)
    return db.session.scalar(query.where(Membership.account_id == account_id, User.email == email))


def join_members(
    query: AnySelect, account_id: InstrumentedAttribute[str], email: InstrumentedAttribute[str]
) -> AnySelect:
    """`query` joined with the accounts' members by address; `PREFERENCE` is then each row's `preference_of`."""
    # Two joins that find by unique columns: a joined subquery is scanned for every row by SQLite.
    is_member = and_(Membership.user_id == User.id, Membership.account_id == account_id)
    return query.outerjoin(User, User.email == email).outerjoin(Membership, is_member)


def hash_of(password: str) -> str:
    """The argon2 hash to store. Refuses a password under 10 or over 200 characters."""
    if len(password) < PASSWORD_LEAST:
        raise Refused("PASSWORD_TOO_SHORT", path="password", least=PASSWORD_LEAST)
    if len(password) > PASSWORD_MOST:
        raise Refused("TOO_LONG", path="password", most=PASSWORD_MOST)
    return hasher.hash(password)


def password_fits(person: User | None, password: str) -> bool:
    """Whether this is the person's password; as slow for nobody as for somebody."""
    if len(password) > PASSWORD_MOST:
        password = password[:PASSWORD_MOST] + "…"  # fits nobody, and a text of megabytes costs no more than a password
    try:
        return hasher.verify(person.password_hash if person else _hash_of_nobody(), password) and person is not None
    except (VerificationError, InvalidHashError):
        return False


@cache
def _hash_of_nobody() -> str:
    """Verified against where no such person exists, so that the answer takes as long as for one who does."""
    return hasher.hash(secrets.token_urlsafe())


def open_session(person: User) -> str:
    """Begin a session; returns the secret that the browser keeps. The person's sessions that ran out are cleared."""
    over = SignIn.created_at <= clock.now_ms() - SIGN_IN_LASTS_MS
    db.session.execute(delete(SignIn).where(SignIn.user_id == person.id, over))
    secret = secrets.token_urlsafe(32)
    db.session.add(SignIn(secret_hash=_hash(secret), user_id=person.id))
    db.session.flush()
    return secret


def of_session(secret: str) -> User | None:
    """The person whose open session this is."""
    return db.session.scalar(
        select(User)
        .join(SignIn, SignIn.user_id == User.id)
        .where(SignIn.secret_hash == _hash(secret), SignIn.created_at > clock.now_ms() - SIGN_IN_LASTS_MS)
    )


def close_session(secret: str) -> None:
    """End one session."""
    db.session.execute(delete(SignIn).where(SignIn.secret_hash == _hash(secret)))


def change_password(person: User, password: str) -> None:
    """Set a new password and end every open session of the person."""
    person.password_hash = hash_of(password)
    person.updated_at = clock.now_ms()
    db.session.flush()
    db.session.execute(delete(SignIn).where(SignIn.user_id == person.id))


def accounts_of(person: User) -> list[tuple[Account, str]]:
    """The accounts a person is a member of, by name, each with the role there."""
    rows = db.session.execute(
        select(Account, Membership.role)
        .join(Membership, Membership.account_id == Account.id)
        .where(Membership.user_id == person.id)
        .order_by(Account.name, Account.id)
    )
    return [(account, role) for account, role in rows]


def role_in(person: User, account_id: str) -> str | None:
    """The person's role in an account, or None for a stranger."""
    membership = db.session.get(Membership, (person.id, account_id))
    return membership.role if membership else None


def members(account_id: str) -> Select[User, Membership]:
    """The members of an account by name."""
    return (
        select(User, Membership)
        .join(Membership, Membership.user_id == User.id)
        .where(Membership.account_id == account_id)
        .order_by(User.name, User.id)
    )


@dataclass(frozen=True)
class Welcome:
    """Somebody who was made a member. `password` is the one made for a new person, to be shown once; else None."""

    person: User
    is_new: bool
    password: str | None


def welcome(account_id: str, email: str, role: str, by: Actor, *, name: str = "", password: str = "") -> Welcome:
    """Make whoever signs in with this address a member, or a new person with this name and password.

    Without a password a new person gets a generated one; somebody who signs in here already keeps name and password.
    Refuses what `create` and `add_member` refuse.
    """
    person = find(email)
    is_new = person is None
    made = generated_password() if is_new and not password else None
    if person is None:
        person = _newcomer(email, name, made or password, by)
    add_member(account_id, person, role, by)
    return Welcome(person, is_new, made)


def _newcomer(email: str, name: str, password: str, by: Actor) -> User:
    if as_address(email) is not None and not name.strip():
        raise Refused("NAME_NEEDED_FOR_NEW_PERSON", path="name")
    return create(email, name, password, by)


def add_member(account_id: str, person: User, role: str, by: Actor) -> None:
    """Make a person a member. Refuses one who is, and an unknown role."""
    if role not in ROLES:
        raise Refused("ROLE_UNKNOWN", path="role")
    if db.session.get(Membership, (person.id, account_id)) is not None:
        raise Refused("ALREADY_A_MEMBER", path="email")
    db.session.add(Membership(user_id=person.id, account_id=account_id, role=role))
    db.session.flush()
    audit.record(account_id, by, "member.added", person.id, person.name, {"role": [None, role]})


def change_role(account_id: str, user_id: str, role: str, by: Actor) -> None:
    """Give a member another role. Refuses to take the last administrator from an account."""
    if role not in ROLES:
        raise Refused("ROLE_UNKNOWN", path="role")
    person, membership = _member(account_id, user_id)
    before = membership.role
    if before == role:
        return
    if before == "account_admin":
        _keep_an_administrator(account_id, user_id)
    db.session.execute(
        update(Membership).where(Membership.user_id == user_id, Membership.account_id == account_id).values(role=role)
    )
    audit.record(account_id, by, "member.role.changed", user_id, person.name, {"role": [before, role]})


def remove_member(account_id: str, user_id: str, by: Actor) -> None:
    """End a membership. Refuses to take the last administrator from an account."""
    person, membership = _member(account_id, user_id)
    if membership.role == "account_admin":
        _keep_an_administrator(account_id, user_id)
    db.session.delete(membership)
    db.session.flush()
    audit.record(account_id, by, "member.removed", user_id, person.name, {"role": [membership.role, None]})


def numbers_of_members() -> dict[str, int]:
    """How many members each account has, by account id; accounts without any are left out."""
    query = select(Membership.account_id, func.count()).group_by(Membership.account_id)
    return dict(db.session.execute(query).all())


def _member(account_id: str, user_id: str) -> tuple[User, Membership]:
    row = db.session.execute(members(account_id).where(User.id == user_id)).first()
    if row is None:
        raise NotFound("member")
    return row[0], row[1]


def _keep_an_administrator(account_id: str, leaving: str) -> None:
    # The account row is locked first, so that two administrators who leave at once do not both see the other stay.
    db.session.execute(select(Account.id).where(Account.id == account_id).with_for_update())
    others = select(Membership).where(
        Membership.account_id == account_id, Membership.role == "account_admin", Membership.user_id != leaving
    )
    if db.session.scalar(others.limit(1)) is None:
        raise Refused("LAST_ADMINISTRATOR")


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
