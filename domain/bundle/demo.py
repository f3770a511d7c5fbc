"""The demo data: a bundle that an empty installation starts with, and the sign-ins that it brings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import MISSING
from sqlalchemy import select

from contract.bundle import Bundle, listed
from core.db import db
from domain.accounts import people
from domain.accounts.account import Account
from domain.accounts.people import User

from .load import load

FILE = Path(__file__).parent.parent.parent / "demo" / "demo.json"


@dataclass(frozen=True)
class SignIn:
    """A person of the demo whose password still is the demo's. `what` is the role, or `operator`."""

    email: str
    password: str
    what: str
    account: str


def is_empty() -> bool:
    """Whether nobody has used this installation: there is neither an account nor a person."""
    return not any(db.session.scalar(select(column).limit(1)) for column in (Account.id, User.id))


def load_into_empty() -> bool:
    """Load the demo where the installation is empty, inside the caller's transaction; whether it did."""
    if not is_empty():
        return False
    load(_bundle())
    return True


def sign_ins() -> list[SignIn]:
    """The administrators and operators of the demo who can still sign in as the demo says."""
    found: list[SignIn] = []
    for account in listed(_bundle().accounts):
        for entry in listed(account.users):
            what = "operator" if entry.operator is True else str(entry.role)
            if what not in ("operator", "account_admin") or entry.password is MISSING:
                continue
            if people.password_fits(people.find(entry.email), entry.password):
                found.append(SignIn(entry.email, entry.password, what, account.name))
    return found


def _bundle() -> Bundle:
    return Bundle.model_validate(json.loads(FILE.read_bytes()))
