"""The account's contacts on their screen."""

from __future__ import annotations

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from contract.contacts import ContactWrite
from core.db import db, transaction
from domain.campaigns import contacts
from domain.campaigns.contacts import Contact
from domain.events.audit import COMMAND_LINE
from tests import world as worlds
from tests.pages.form import send
from tests.world import World


def write(world: World, email: str, **properties: str) -> str:
    with transaction():
        body = ContactWrite.model_validate({"email": email, **properties})
        return contacts.create(world.account_id, body, COMMAND_LINE).id


def only(world: World) -> Contact:
    db.session.rollback()
    return db.session.scalars(select(Contact).where(Contact.account_id == world.account_id)).one()


def test_an_empty_list_says_what_to_do_next(alice: FlaskClient, world: World):
    page = alice.get(f"{world.acme}/contacts").text
    assert "No contacts yet" in page and f'href="{world.acme}/contacts/new"' in page


def test_bob_writes_down_a_contact_whose_language_is_not_stated(bob: FlaskClient, world: World):
    at = f"{world.acme}/contacts/new"
    assert '<option value="">Not stated</option>' in bob.get(at).text
    page = send(bob, at, email=" Ana@Example.com ", first_name=" Ana ", last_name="", company="Nordwind", language="")
    assert "Ana is among the contacts now." in page.text and "Not stated" in page.text
    made = only(world)
    assert (made.email, made.first_name, made.last_name, made.language) == ("ana@example.com", "Ana", None, None)


def test_the_language_of_a_contact_is_stated_and_cleared_again(alice: FlaskClient, world: World):
    at = f"{world.acme}/contacts/{write(world, 'ana@example.com')}/edit"
    send(alice, at, email="ana@example.com", language="pt-BR")
    assert only(world).language == "pt-BR"
    assert '<option selected value="pt-BR">' in alice.get(at).text
    send(alice, at, email="ana@example.com", language="")
    assert only(world).language is None


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"email": ""}, "Enter an e-mail address."),
        ({"email": "nobody"}, "This is not an e-mail address."),
        ({"email": "TAKEN@example.com"}, "This address is in use already."),
        ({"email": "a@example.com", "first_name": "x" * 201}, "Use at most 200 characters."),
        ({"email": "a@example.com", "language": "de"}, "Not a valid choice"),
    ],
)
def test_a_mistake_stands_at_its_field_with_the_value_kept(
    alice: FlaskClient, world: World, fields: dict[str, str], sentence: str
):
    write(world, "taken@example.com")
    answer = send(alice, f"{world.acme}/contacts/new", **{"company": "Nordwind", "language": "", **fields})
    assert answer.status_code == 400
    assert sentence in answer.text and 'value="Nordwind"' in answer.text and 'aria-invalid="true"' in answer.text
    assert only(world).email == "taken@example.com"


def test_the_list_is_searched_and_filtered_in_the_address(alice: FlaskClient, world: World):
    write(world, "ana@example.com", firstName="Ana", company="Nordwind", language="fr")
    write(world, "bo@example.com", lastName="Lima")
    at = f"{world.acme}/contacts"
    assert "bo@example.com" not in alice.get(f"{at}?q=ana+nord").text
    assert "ana@example.com" not in alice.get(f"{at}?language=none").text
    french = alice.get(f"{at}?language=fr", headers={"HX-Request": "true"}).text
    assert "ana@example.com" in french and "bo@example.com" not in french and "<h1" not in french
    assert '<option value="fr" selected>' in alice.get(f"{at}?language=fr").text
    assert "No contact fits" in alice.get(f"{at}?q=nobody").text
    assert alice.get(f"{at}?language=nonsense&page=-1&limit=0").status_code == 200
    assert "bo@example.com" not in alice.get(f"{at}?q=an%00a").text


def test_removing_asks_first(alice: FlaskClient, world: World):
    at = f"{world.acme}/contacts/{write(world, 'ana@example.com')}/removal"
    asked = send(alice, at, page=f"{world.acme}/contacts")
    assert "Rosters that hold this person keep theirs." in asked.text and only(world)
    done = send(alice, at, page=f"{world.acme}/contacts", confirmed="1")
    assert "ana@example.com is no longer a contact." in done.text
    assert send(alice, at, page=f"{world.acme}/contacts", confirmed="1").status_code == 404


def test_an_auditor_and_charlie_stay_out(app: Flask, charlie: FlaskClient, world: World):
    contact_id = write(world, "ana@example.com")
    assert worlds.sign_in(app, "Audrey").get(f"{world.acme}/contacts").status_code == 403
    foreign = f"/accounts/{world.other_account_id}/contacts"
    assert charlie.get(f"{world.acme}/contacts").status_code == 404
    assert charlie.get(f"{foreign}/{contact_id}/edit").status_code == 404
    assert send(charlie, f"{foreign}/{contact_id}/removal", page=foreign, confirmed="1").status_code == 404
    assert only(world)
