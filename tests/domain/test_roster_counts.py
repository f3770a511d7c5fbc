"""How many people are written to in which language: 2.7; contract 3, Language resolution."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import event, select

from core import clock
from core.db import db, transaction
from core.i18n import LANGUAGES
from domain.accounts import people
from domain.accounts.people import User
from domain.campaigns.campaign import Campaign
from domain.campaigns.roster import Participant, counts
from domain.campaigns.roster.participant import name_key
from domain.events.audit import COMMAND_LINE
from domain.messages import language as message_language
from tests.world import World

FIELDS = (None, "fr", "pt-BR")
BAGS: tuple[dict[str, Any], ...] = (
    {}, {"lang": "es"}, {"lang": " Français "}, {"lang": "pt_BR"}, {"lang": "klingon"}, {"lang": ""},
    {"lang": None}, {"lang": 5}, {"lang": True}, {"lang": ["fr"]}, {"lang": {"lang": "fr"}},
    {"nested": {"lang": "fr"}}, {"said": 'his "lang": "fr"'}, {"LANG": "fr"}, {"lang": 'f"r\\'}, {"lang": "%"},
)  # fmt: skip
ENDED = (False, True)
# Who the address belongs to: nobody, a member without a wish, members with one, and a member of another account.
IDENTITIES = ("nobody", "undecided", "en", "es", "elsewhere")
PEOPLE = list(product(FIELDS, BAGS, ENDED, IDENTITIES))


@pytest.fixture
def everybody(world: World) -> list[Participant]:
    """A person for every combination of what may speak for a language."""
    with transaction():
        for number, spoken in enumerate(PEOPLE):
            _enrol(world, f"person{number}@example.com", *spoken)
    return list(db.session.scalars(select(Participant)))


def test_the_counts_are_those_of_asking_person_by_person(world: World, everybody: list[Participant]) -> None:
    asked = Counter(_language_of(person) for person in everybody)
    counted = counts.by_language(counts.of_account(world.account_id))
    assert counted == {language: asked[language] for language in (*LANGUAGES, None)}
    assert all(counted.values()), "a language that nobody has would prove nothing"
    assert _counted_for(world.campaign_id) == counted
    assert _counted_for(world.other_campaign_id) == dict.fromkeys((*LANGUAGES, None), 0)


def test_languages_are_counted_in_one_query(world: World, everybody: list[Participant]) -> None:
    seen: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        seen.append(statement)

    event.listen(db.engine, "before_cursor_execute", note)
    try:
        counts.by_language(counts.of_account(world.account_id))
    finally:
        event.remove(db.engine, "before_cursor_execute", note)
    assert len(seen) == 1


def test_the_overview_counts_a_member_by_the_language_of_their_own_profile(
    app: Flask, world: World, alice: FlaskClient
) -> None:
    with transaction():
        _enrol(world, "member@example.com", None, {}, False, "es")
    page = alice.get(world.acme).get_data(as_text=True)
    assert '<tr><th scope="row">Spanish</th><td>1</td></tr>' in page
    assert "whose Language is not stated go out" not in page


def _language_of(person: Participant) -> str | None:
    preference = people.preference_of(person.account_id, person.email)
    return message_language.stated(person.language, person.bag, person.bag_language_ended, preference)


def _counted_for(campaign_id: str) -> dict[Any, int]:
    campaign = db.session.get_one(Campaign, campaign_id)
    return dict(counts.by_language(counts.of_campaign(campaign)))


def _enrol(world: World, email: str, field: str | None, bag: dict[str, Any], ended: bool, identity: str) -> None:
    db.session.add(
        Participant(
            account_id=world.account_id, campaign_id=world.campaign_id, email=email,
            name_key=name_key(None, None, email), language=field, bag=bag, bag_language_ended=ended,
            created_at=clock.now_ms(), updated_at=clock.now_ms(),
        )
    )  # fmt: skip
    if identity != "nobody":
        _sign_up(world.other_account_id if identity == "elsewhere" else world.account_id, email, identity)


def _sign_up(account_id: str, email: str, identity: str) -> None:
    wish = {"undecided": None, "elsewhere": "es"}.get(identity, identity)
    person = User(email=email, name=email, password_hash="none", language=wish)
    db.session.add(person)
    db.session.flush()
    people.add_member(account_id, person, "participant", COMMAND_LINE)
