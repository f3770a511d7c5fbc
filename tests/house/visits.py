"""Every route of the application, with an address in the world for it: a new route is walked unnamed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from typing import Any, get_args

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from blueprints import access
from contract.contacts import ContactWrite
from contract.webhooks import WebhookRegister
from core import clock, files
from core.db import Model, db, transaction
from domain.accounts import people
from domain.accounts.credentials import ServiceToken
from domain.accounts.permissions import PERMISSIONS, Permission
from domain.campaigns import campaign as campaigns
from domain.campaigns import contacts
from domain.campaigns.imports import steps
from domain.events import event, subscription
from domain.events.audit import COMMAND_LINE, Actor
from domain.events.delivery import Delivery, DeliveryAttempt
from jobs import imports
from outbound import spreadsheets
from tests import world as worlds
from tests.world import World

# The rules of the house do not depend on the database, and the walks are long: one kind is enough.
one_database = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

ROLES = {"Alice": "account_admin", "Bob": "campaign_manager", "Audrey": "auditor", "Paula": "participant"}
WRITING = ("POST", "PUT", "PATCH", "DELETE")
PERMISSION_NAMES = get_args(Permission)

# One of each outcome, and a notice.
PEOPLE_CSV = b"""email,first name,language,team
dora@example.com,Dorothea,fr,Red
elena@example.com,Elena,Klingon,Blue
not an address,Felix,en,Blue
"""


class UnknownArgument(Exception):
    """An address has a part that the walk cannot fill; the message says what to do."""


@dataclass(frozen=True)
class Visit:
    """One method of one route."""

    method: str
    rule: Rule
    allowed: str | None

    def __str__(self) -> str:
        return f"{self.method} {self.rule.rule}"

    @property
    def is_api(self) -> bool:
        return self.allowed == "gate"

    @property
    def is_page(self) -> bool:
        """Whether a person opens it in a browser and sees a page."""
        machine = ("/healthz", "/readyz", "/metrics", "/api/")
        return self.method == "GET" and not self.rule.rule.startswith(machine)

    @property
    def is_of_an_account(self) -> bool:
        return self.allowed in PERMISSION_NAMES

    def people_who_pass(self) -> list[str]:
        """Whom the route lets in, by the permissions page; the first one is right for a walk."""
        if self.is_of_an_account:
            return [name for name, role in ROLES.items() if self.allowed in PERMISSIONS[role]]
        return {"operator": ["Olga"], "signed in": [*ROLES, "Charlie", "Olga"]}.get(self.allowed or "", ["Alice"])


@dataclass
class Places:
    """What the parts of an address mean in the world: `ours` in Acme, `theirs` in Charlie's account.

    A part is filled from `ours` by its name in the rule. Add a line in `_places` when a route brings a new one.
    """

    ours: dict[str, str]
    theirs: dict[str, str]
    free: dict[str, str] = field(default_factory=dict)

    def address(self, rule: Rule, mine: dict[str, str] | None = None) -> str:
        """The rule's address in Acme; `mine` replaces parts by name."""
        known = {**self.free, **self.ours, **(mine or {})}
        unknown = rule.arguments - set(known)
        if unknown:
            raise UnknownArgument(
                f"{rule.rule}: the walk does not know what {', '.join(sorted(unknown))} is. "
                "Add it to `_places` in tests/house/visits.py."
            )
        filled = rule.rule
        for name in rule.arguments:
            for converter in ("", "path:", "int:", "string:", "any:"):
                filled = filled.replace(f"<{converter}{name}>", known[name])
        assert "<" not in filled, f"{rule.rule}: the walk does not know this converter; add it to `Places.address`"
        return filled


def visits(app: Flask) -> list[Visit]:
    """Every route but the static files, once for each of its methods."""
    return [
        Visit(method, rule, access.declared(app.view_functions[rule.endpoint]))
        for rule in sorted(app.url_map.iter_rules(), key=str)
        if rule.endpoint != "static"
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
    ]


@dataclass
class Walk:
    """The people of the tests in their browsers, and the addresses that they try."""

    app: Flask
    world: World
    places: Places
    browsers: dict[str, FlaskClient] = field(default_factory=dict)

    @cached_property
    def visits(self) -> list[Visit]:
        return visits(self.app)

    def stranger(self) -> FlaskClient:
        return self.app.test_client()

    def browser(self, name: str) -> FlaskClient:
        if name not in self.browsers:
            self.browsers[name] = worlds.sign_in(self.app, name)
        return self.browsers[name]

    def go(self, name: str, visit: Visit, *, mine: dict[str, str] | None = None, **request: Any) -> TestResponse:
        """Open an address as one of the people; nothing proves where the request comes from."""
        address = self.places.address(visit.rule, mine)
        return self.browser(name).open(address, method=visit.method, **request)

    def send(self, name: str, visit: Visit, *, mine: dict[str, str] | None = None, **values: Any) -> TestResponse:
        """Send a form with the token of the person's own page."""
        form = {"csrf_token": self.token_of(name), **values}
        return self.go(name, visit, mine=mine, data=form if visit.method in WRITING else None)

    def token_of(self, name: str) -> str:
        """The CSRF token that this person's pages carry."""
        page = self.browser(name).get("/me/profile").get_data(as_text=True)
        return page.partition('name="csrf-token" content="')[2].partition('"')[0]


def begin(app: Flask, world: World) -> Walk:
    return Walk(app, world, build(app, world))


def build(app: Flask, world: World) -> Places:
    """Something behind every part of an address, in both accounts."""
    campaigns = {world.account_id: world.campaign_id, world.other_account_id: world.other_campaign_id}
    ours, theirs = (_places(app, world, account_id, campaign_id) for account_id, campaign_id in campaigns.items())
    groups = {"group": "participants", "filename": "app.css"}
    return Places(ours, theirs, groups)


def _places(app: Flask, world: World, account_id: str, campaign_id: str) -> dict[str, str]:
    with transaction():
        contact = contacts.create(
            account_id, ContactWrite(email="carmen@example.com", firstName="Carmen", company="Example"), COMMAND_LINE
        )
        contact_id = contact.id
    here = World(account_id, campaign_id, world.other_account_id, world.other_campaign_id)
    worlds.token(app, here)
    subscription_id, delivery_id = _delivery_of(account_id)
    return {
        "account_id": account_id,
        "campaign_id": campaign_id,
        "participant_id": worlds.add_participant(here, "dora@example.com", firstName="Dora", language="fr"),
        "contact_id": contact_id,
        "user_id": _member_of("Bob" if account_id == world.account_id else "Charlie"),
        "subscription_id": subscription_id,
        "delivery_id": delivery_id,
        "import_id": _import_of(account_id, campaign_id),
        "token_id": db.session.scalars(select(ServiceToken.id).order_by(ServiceToken.id.desc())).first() or "",
    }


def _member_of(name: str) -> str:
    return db.session.scalars(select(people.User.id).where(people.User.email == f"{name.lower()}@example.com")).one()


def _delivery_of(account_id: str) -> tuple[str, str]:
    """A webhook, and a delivery to it that was given up after an answer."""
    body = WebhookRegister(url="https://hooks.example.com/", events=["campaign.cloned"], secret="0123456789abcdef")
    now = clock.now_ms()
    with transaction():
        subscription_id = subscription.register(account_id, body, COMMAND_LINE).id
        event.record(account_id, "campaign.cloned", {"campaign": {"name": "Spring survey"}})
        delivery = db.session.scalars(select(Delivery).where(Delivery.subscription_id == subscription_id)).one()
        delivery.state, delivery.attempts, delivery.last_status, delivery.last_error = "exhausted", 3, 500, "BAD_STATUS"
        delivery.last_sent_at = delivery.settled_at = now
        db.session.add(
            DeliveryAttempt(
                delivery_id=delivery.id, round=1, number=3, at=now, milliseconds=12, status=500, error="BAD_STATUS",
                answer=b"no room", address="192.0.2.1",
            )
        )  # fmt: skip
        return subscription_id, delivery.id


def _import_of(account_id: str, campaign_id: str) -> str:
    """An import whose dry run stands, read and checked as a worker does it."""
    stored = files.store(BytesIO(PEOPLE_CSV))
    layout = spreadsheets.inspect(files.path_of(stored.name), "people.csv")
    by = Actor("user", _member_of("Alice"), "Alice", "page")
    with transaction():
        campaign = campaigns.get(account_id, campaign_id)
        received = steps.receive(campaign, "people.csv", stored, layout, by)
        steps.choose_columns(received, received.mapping, by)
        import_id = received.id
    imports.run(import_id)
    return import_id


def everything_stored() -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, to hold a later state against it."""
    db.session.rollback()
    stored = {
        table.name: sorted((tuple(row) for row in db.session.execute(table.select())), key=repr)
        for table in Model.metadata.sorted_tables
    }
    db.session.rollback()
    return stored


def each(walk: Walk, wanted: Callable[[Visit], bool]) -> Iterator[Visit]:
    """The visits that a rule is about; never none, or the rule would hold nothing."""
    found = [visit for visit in walk.visits if wanted(visit)]
    assert found, "no route is left for this rule"
    yield from found
