"""The people of the tests: Alice administers an account, Bob manages campaigns in it, Charlie belongs elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from contract.participants import ParticipantUpsert
from core.db import db, transaction
from domain.accounts import account as accounts
from domain.accounts import credentials, people
from domain.accounts.permissions import SCOPES
from domain.campaigns import campaign as campaigns
from domain.campaigns import roster
from domain.events.audit import COMMAND_LINE

PASSWORD = "a long enough password"
# Hashing is slow by design; one hash serves every person of the tests.
_HASH = people.hasher.hash(PASSWORD)


@dataclass(frozen=True)
class World:
    """Ids of what stands in the database at the start of a test.

    `account_id` is Acme (languages fr, en), where Alice is account_admin, Bob campaign_manager, Audrey auditor and
    Paula participant; `campaign_id` is a draft campaign of it. `other_account_id` and `other_campaign_id` belong to
    Charlie, who is an administrator there. Olga is an operator without an account.
    """

    account_id: str
    campaign_id: str
    other_account_id: str
    other_campaign_id: str

    @property
    def acme(self) -> str:
        """The address of the account's screens."""
        return f"/accounts/{self.account_id}"

    @property
    def campaign(self) -> str:
        """The address of the campaign's screens."""
        return f"{self.acme}/campaigns/{self.campaign_id}"

    @property
    def v2(self) -> str:
        """The base of the public API for the account."""
        return f"/api/v2/public/accounts/{self.account_id}"


def build() -> World:
    """Write the world into an empty database."""
    with transaction():
        acme = accounts.create("Acme", COMMAND_LINE, ["fr", "en"])
        other = accounts.create("Other", COMMAND_LINE, ["en"])
        for name, account, role in (
            ("Alice", acme, "account_admin"),
            ("Bob", acme, "campaign_manager"),
            ("Audrey", acme, "auditor"),
            ("Paula", acme, "participant"),
            ("Charlie", other, "account_admin"),
        ):
            people.add_member(account.id, _person(name), role, COMMAND_LINE)
        _person("Olga", is_operator=True)
        ours = campaigns.create(acme.id, {"name": "Spring survey"}, COMMAND_LINE)
        theirs = campaigns.create(other.id, {"name": "Secret survey"}, COMMAND_LINE)
        return World(acme.id, ours.id, other.id, theirs.id)


def _person(name: str, *, is_operator: bool = False) -> people.User:
    person = people.User(email=f"{name.lower()}@example.com", name=name, password_hash=_HASH, is_operator=is_operator)
    db.session.add(person)
    db.session.flush()
    return person


def sign_in(app: Flask, name: str) -> FlaskClient:
    """An English browser in which this person is signed in (without the argon2 wait of the sign-in page)."""
    client = app.test_client()
    client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "en"
    with transaction():
        person = db.session.scalars(select(people.User).where(people.User.email == f"{name.lower()}@example.com")).one()
        secret = people.open_session(person)
    with client.session_transaction() as session:
        session["sign_in"] = secret
    return client


def token(
    app: Flask, world: World, *scopes: str, accounts: list[str] | None = None, per_minute: int | None = None
) -> str:
    """A fresh token's plaintext; with every scope unless some are named."""
    with transaction():
        _row, plaintext = credentials.mint(
            app.config["SETTINGS"].secret_key,
            accounts=accounts or [world.account_id],
            scopes=scopes or SCOPES,
            by=COMMAND_LINE,
            label="test",
            per_minute=per_minute,
        )
    return plaintext


def add_participant(world: World, email: str, **properties: Any) -> str:
    """Put a person on the campaign's roster; returns the participant's id."""
    with transaction():
        campaign = campaigns.get(world.account_id, world.campaign_id)
        body = ParticipantUpsert.model_validate({"email": email, **properties})
        return str(roster.upsert(campaign, body, COMMAND_LINE).row["id"])
