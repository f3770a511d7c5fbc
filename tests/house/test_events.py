"""service.md 6.4: every event of the catalogue is raised by a real action, and its payload has the shape that is told.

What stands in `STILL_TO_COME` (`contract/events.py`) waits for a part of the product, with its contract told already.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from pydantic import TypeAdapter
from sqlalchemy import select

from blueprints.api import openapi
from blueprints.api.examples import PAYLOAD_EXAMPLES
from blueprints.api_v2 import operations
from blueprints.developers.event_words import RAISED_BY
from contract.events import CATALOGUE, EVENTS, PAYLOADS, STILL_TO_COME
from core.db import db, transaction
from domain.events import event, subscription
from domain.events.audit import COMMAND_LINE
from domain.events.event import Event
from tests import world as worlds
from tests.api import documents
from tests.api.client import Caller
from tests.house.sources import calls, listed, python
from tests.world import World

RAISED = EVENTS - STILL_TO_COME
# Properties of the product, its reviews and its links that no payload may carry (contract 3, "Payloads").
NEVER = {"answers", "secret", "passcode", "takerLink", "token", "reviewer", "reviewerKey", "reviews", "note", "notes"}
VERBS = ("record", "record_many", "announce")


def _named_in_the_sources() -> set[str]:
    """The names that the product's own code gives to the verbs of `domain/events/event.py`, as second argument."""
    return {
        call.args[1].value
        for name in python("domain/", "jobs/", "blueprints/")
        for call, verb in calls(name)
        if verb in VERBS or (verb, name) == ("_record", "domain/events/event.py")
        if len(call.args) > 1 and isinstance(call.args[1], ast.Constant)
        if isinstance(call.args[1].value, str)
    }


def test_every_event_is_raised_somewhere_or_still_to_come() -> None:
    nowhere = sorted(EVENTS - STILL_TO_COME - _named_in_the_sources())
    assert not nowhere, "nothing raises these: " + listed(nowhere)


def test_what_is_raised_is_no_longer_to_come() -> None:
    raised = sorted(STILL_TO_COME & _named_in_the_sources())
    assert not raised, "take these out of STILL_TO_COME: " + listed(raised)


def test_only_events_of_the_catalogue_are_raised_or_awaited() -> None:
    assert _named_in_the_sources() | STILL_TO_COME == EVENTS


def test_no_event_stands_in_two_groups() -> None:
    assert sum(len(names) for names in CATALOGUE.values()) == len(EVENTS)


def test_every_event_has_a_payload_an_example_and_a_sentence() -> None:
    assert EVENTS == set(PAYLOADS) == set(PAYLOAD_EXAMPLES) == set(RAISED_BY)


def test_the_document_tells_every_event_and_marks_those_still_to_come() -> None:
    told = openapi.document(operations, "webhooks")["webhooks"]
    assert told.keys() == EVENTS
    assert {name for name, each in told.items() if "description" in each["post"]} == STILL_TO_COME


@pytest.mark.parametrize("name", PAYLOADS)
def test_no_payload_has_a_place_for_what_it_must_never_hold(name: str) -> None:
    assert not NEVER & set(_properties(TypeAdapter(PAYLOADS[name]).json_schema()))


def _properties(schema: Any) -> Iterator[str]:
    """The names of the properties of a schema, at every depth."""
    parts = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
    for part in parts:
        yield from _properties(part)


@pytest.mark.parametrize("name", PAYLOADS)
def test_an_example_has_the_shape_of_its_payload(name: str) -> None:
    documents.hold_payload(name, PAYLOAD_EXAMPLES[name])


class Product:
    """The actions of the product that raise events, as people and other systems take them."""

    def __init__(self, app: Flask, world: World) -> None:
        self._app, self._world = app, world
        self._browser: FlaskClient = worlds.sign_in(app, "Bob")
        self._caller = Caller(app, world.v2, worlds.token(app, world))

    def add_to_the_roster(self) -> None:
        body = {"email": "new@example.com", "language": "fr", "metadata": {"crmId": "1", "takerLink": "x"}}
        path = f"/campaigns/{self._world.campaign_id}/participants"
        assert self._caller.post(path, body).status_code == 201

    def create_a_campaign(self) -> None:
        self._send(f"{self._world.acme}/campaigns/new", name="Autumn survey")

    def edit_the_campaign(self) -> None:
        self._send(f"{self._world.campaign}/edit", name="Another name", enable_passcode="y", passcode="open sesame")

    def launch_the_campaign(self) -> None:
        self._send(f"{self._world.campaign}/transitions", transition="launch", confirmed="1")

    def change_my_name(self) -> None:
        self._send("/me/profile", name="Robert", language="")

    def prefer_french(self) -> None:
        self._send("/me/profile", name="Bob", language="fr")

    def test_a_webhook(self) -> None:
        body = {"url": "https://hooks.example.com/", "events": ["webhook.test"], "secret": "never in a payload"}
        made = self._caller.post("/webhooks", body).get_json()["data"]["subscriptionId"]
        with transaction():
            event.test_send(subscription.get(self._world.account_id, made), COMMAND_LINE)

    def _send(self, address: str, **form: str) -> None:
        page = self._browser.get("/me/profile").get_data(as_text=True)
        token = page.partition('name="csrf-token" content="')[2].partition('"')[0]
        answer = self._browser.post(address, data={"csrf_token": token, **form})
        assert answer.status_code in (302, 303), (address, answer.status)


ACTIONS: dict[str, Callable[[Product], None]] = {
    "participant.joined": Product.add_to_the_roster,
    "campaign.created": Product.create_a_campaign,
    "campaign.updated": Product.edit_the_campaign,
    "campaign.status.changed": Product.launch_the_campaign,
    "campaign.transition.executed": Product.launch_the_campaign,
    "user.profile.updated": Product.change_my_name,
    "user.preferences.updated": Product.prefer_french,
    "webhook.test": Product.test_a_webhook,
}


@pytest.mark.parametrize("name", sorted(RAISED))
def test_an_action_raises_it_with_the_payload_that_is_told(app: Flask, world: World, name: str) -> None:
    before = {each.id for each in _recorded(world)}
    ACTIONS[name](Product(app, world))
    raised = [each for each in _recorded(world) if each.id not in before]
    assert [each.name for each in raised].count(name) == 1
    for each in raised:
        documents.hold_payload(each.name, each.payload)
        said = str(each.payload)
        assert "sesame" not in said
        assert "takerLink" not in said
        assert "never in a payload" not in said


def _recorded(world: World) -> list[Event]:
    db.session.rollback()
    return list(db.session.scalars(select(Event).where(Event.account_id == world.account_id)))
