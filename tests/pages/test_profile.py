"""My profile: name, language, password, and what the accounts of a person are told of it."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from core.db import db, transaction
from domain.accounts import people
from domain.accounts.people import User
from domain.events.audit import COMMAND_LINE
from domain.events.delivery import Delivery
from domain.events.event import Event
from tests import world as worlds
from tests.jobs import hooks
from tests.pages.test_people import send
from tests.pages.test_sign_in import sign_in
from tests.world import PASSWORD, World

NEW = "a new and longer password"


def me() -> User:
    db.session.rollback()
    person = people.find("alice@example.com")
    assert person is not None
    return person


def told(account_id: str) -> list[tuple[str, Any]]:
    """The events of an account, in their order, with their payloads."""
    db.session.rollback()
    query = select(Event.name, Event.payload).where(Event.account_id == account_id).order_by(Event.id)
    return [(name, payload) for name, payload in db.session.execute(query) if name.startswith("user.")]


def test_name_and_language_are_saved_and_the_next_page_speaks_it(alice: FlaskClient) -> None:
    assert send(alice, "/me/profile", name="  Alice   Martin ", language="fr").status_code == 303
    assert (me().name, me().language) == ("Alice Martin", "fr")
    assert '<html lang="fr">' in alice.get("/me/profile").text


def test_a_saved_language_goes_before_the_one_chosen_earlier(alice: FlaskClient) -> None:
    assert '<html lang="es">' in alice.get("/me/profile?lang=es").text
    assert '<html lang="es">' in alice.get("/me/profile").text
    send(alice, "/me/profile", name="Alice", language="pt-BR")
    assert '<html lang="pt-BR">' in alice.get("/me/profile").text


def test_following_the_browser_forgets_the_choice(alice: FlaskClient) -> None:
    alice.get("/me/profile?lang=es")
    send(alice, "/me/profile", name="Alice", language="")
    assert me().language is None
    assert '<html lang="fr">' in alice.get("/me/profile", headers={"Accept-Language": "fr-CA,en"}).text


def test_the_preference_speaks_in_a_fresh_browser(app: Flask, alice: FlaskClient) -> None:
    send(alice, "/me/profile", name="Alice", language="fr")
    fresh = worlds.sign_in(app, "Alice")
    assert '<html lang="fr">' in fresh.get("/me/profile", headers={"Accept-Language": "es"}).text


@pytest.mark.parametrize(
    ("name", "sentence"), [("", "Enter your name."), ("   ", "Enter your name."), ("x" * 201, "at most 200 characters")]
)
def test_a_name_that_will_not_do_is_refused_at_its_field(alice: FlaskClient, name: str, sentence: str) -> None:
    answer = send(alice, "/me/profile", name=name, language="")
    assert answer.status_code == 400
    assert sentence in answer.text
    assert me().name == "Alice"


def test_an_unknown_language_follows_the_browser(alice: FlaskClient) -> None:
    assert send(alice, "/me/profile", name="Alice", language="de").status_code == 303
    assert me().language is None


def test_a_new_name_is_told_to_every_account_of_the_person_and_to_no_other(alice: FlaskClient, world: World) -> None:
    with transaction():
        people.add_member(world.other_account_id, me(), "auditor", COMMAND_LINE)
    hook = hooks.subscribe(world, "https://hooks.example.com/", "user.profile.updated")
    send(alice, "/me/profile", name="Alice Martin", language="")
    person = {"userId": me().id, "email": "alice@example.com", "name": "Alice Martin", "updatedAt": me().updated_at}
    happened = [("user.profile.updated", {"user": person, "changed": ["name"]})]
    assert told(world.account_id) == told(world.other_account_id) == happened
    assert [row.event for row in hooks.rows(hook)] == ["user.profile.updated"]
    assert db.session.scalars(select(Delivery.account_id)).all() == [world.account_id]


def test_an_account_that_was_left_is_not_told(alice: FlaskClient, world: World) -> None:
    with transaction():
        people.add_member(world.other_account_id, me(), "auditor", COMMAND_LINE)
    with transaction():
        people.remove_member(world.other_account_id, me().id, COMMAND_LINE)
    send(alice, "/me/profile", name="Alice Martin", language="")
    assert told(world.other_account_id) == []


def test_a_language_that_is_chosen_and_cleared_is_told_each_time(alice: FlaskClient, world: World) -> None:
    send(alice, "/me/profile", name="Alice", language="fr")
    send(alice, "/me/profile", name="Alice", language="")
    names, payloads = zip(*told(world.account_id), strict=True)
    assert names == ("user.preferences.updated",) * 2
    assert [payload["changed"] for payload in payloads] == [["language"]] * 2
    assert [payload["user"].get("language") for payload in payloads] == ["fr", None]
    assert "language" not in payloads[1]["user"]


def test_name_and_language_at_once_are_two_events_of_the_same_person(alice: FlaskClient, world: World) -> None:
    send(alice, "/me/profile", name="Alice Martin", language="es")
    (first, profile), (second, preferences) = told(world.account_id)
    assert (first, second) == ("user.profile.updated", "user.preferences.updated")
    assert profile["user"] == preferences["user"]
    assert (profile["user"]["name"], profile["user"]["language"]) == ("Alice Martin", "es")


def test_nothing_is_told_where_nothing_changed(alice: FlaskClient, world: World) -> None:
    before = me().updated_at
    send(alice, "/me/profile", name=" Alice ", language="")
    send(alice, "/me/profile", name="x" * 201, language="fr")
    assert me().updated_at == before
    send(alice, "/me/password", current=PASSWORD, password=NEW, again=NEW)
    assert told(world.account_id) == []


def test_a_person_without_an_account_has_nobody_to_tell(olga: FlaskClient, world: World) -> None:
    send(olga, "/me/profile", name="Olga Lind", language="es")
    assert "Olga Lind" in olga.get("/me/profile").text
    assert told(world.account_id) + told(world.other_account_id) == []


def test_a_new_password_ends_every_session_and_begins_one_here(app: Flask, alice: FlaskClient) -> None:
    elsewhere = worlds.sign_in(app, "Alice")
    with alice.session_transaction() as session:
        former = session["sign_in"]
    answer = send(alice, "/me/password", current=PASSWORD, password=NEW, again=NEW)
    assert answer.status_code == 303
    assert "Your password is changed." in alice.get("/me/profile").text
    assert elsewhere.get("/me/profile").status_code == 302
    assert people.of_session(former) is None
    assert sign_in(app.test_client(), "alice@example.com", PASSWORD).status_code == 401
    assert sign_in(app.test_client(), "alice@example.com", NEW).status_code == 302


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"current": "wrong", "password": NEW, "again": NEW}, "This is not your current password."),
        ({"current": PASSWORD, "password": NEW, "again": NEW + "x"}, "The two new passwords differ."),
        ({"current": PASSWORD, "password": "short", "again": "short"}, "at least 10 characters"),
        ({"current": PASSWORD, "password": "x" * 201, "again": "x" * 201}, "at most 200 characters"),
        ({}, "Enter your current password."),
    ],
)
def test_a_password_that_will_not_do_is_refused_and_nothing_ends(
    app: Flask, alice: FlaskClient, fields: dict[str, str], sentence: str
) -> None:
    elsewhere = worlds.sign_in(app, "Alice")
    answer = send(alice, "/me/password", **fields)
    assert answer.status_code == 400
    assert sentence in answer.text
    assert elsewhere.get("/me/profile").status_code == 200
    assert alice.get("/me/profile").status_code == 200


@pytest.mark.usefixtures("one_window")
def test_guessing_the_current_password_is_throttled(alice: FlaskClient) -> None:
    fields = {"current": "wrong", "password": NEW, "again": NEW}
    answers = [send(alice, "/me/password", **fields).status_code for _ in range(11)]
    assert answers == [400] * 10 + [429]


def test_nobody_else_reaches_a_profile(stranger: FlaskClient, world: World) -> None:
    assert stranger.get("/me/profile").location == "/login?next=/me/profile"
