"""The people of an account: administrators add, change and remove; managers see."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from core.db import db, transaction
from domain.accounts import people
from domain.events import audit
from tests.pages.test_sign_in import csrf, sign_in
from tests.world import PASSWORD, World


def user_id(name: str) -> str:
    person = people.find(f"{name}@example.com")
    assert person is not None
    return person.id


def role_of(name: str, world: World) -> str | None:
    db.session.rollback()
    person = people.find(f"{name}@example.com")
    return people.role_in(person, world.account_id) if person else None


def send(client: FlaskClient, path: str, **fields: str) -> TestResponse:
    return client.post(path, data={"csrf_token": csrf(client, "/me/profile"), **fields})


def test_an_administrator_sees_everybody_with_role_and_what_roles_may(alice: FlaskClient, world: World) -> None:
    page = alice.get(f"{world.acme}/people").text
    for name in ("Alice", "Audrey", "Bob", "Paula"):
        assert f"{name.lower()}@example.com" in page
    assert "charlie@example.com" not in page
    assert "What each role may do" in page
    assert "Add a person" in page


def test_a_manager_sees_the_people_and_changes_none(bob: FlaskClient, world: World) -> None:
    page = bob.get(f"{world.acme}/people").text
    assert "alice@example.com" in page
    assert "Add a person" not in page
    assert "Remove" not in page
    for path in ("", f"/{user_id('paula')}/role", f"/{user_id('paula')}/removal"):
        refused = send(
            bob, f"{world.acme}/people{path}", email="x@example.com", role="auditor", name="X", confirmed="1"
        )
        assert refused.status_code == 403
    assert role_of("paula", world) == "participant"


def test_a_stranger_to_the_account_sees_nothing_of_it(charlie: FlaskClient, world: World) -> None:
    assert charlie.get(f"{world.acme}/people").status_code == 404
    assert send(charlie, f"{world.acme}/people/{user_id('bob')}/removal", confirmed="1").status_code == 404
    assert role_of("bob", world) == "campaign_manager"


def test_a_new_person_gets_a_password_that_is_shown_once(app: Flask, alice: FlaskClient, world: World) -> None:
    fields = {"email": "New@example.com", "role": "auditor", "name": "Nina"}
    answer = send(alice, f"{world.acme}/people", **fields)
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    made = re.search(r'id="initial-password"[^>]*value="([^"]+)"', answer.text)
    assert made is not None
    assert sign_in(app.test_client(), "new@example.com", made[1]).status_code == 302
    assert made[1] not in alice.get(f"{world.acme}/people").text
    again = send(alice, f"{world.acme}/people", **fields)
    assert again.status_code == 400
    assert "member already" in again.text


def test_a_typed_password_is_not_shown(app: Flask, alice: FlaskClient, world: World) -> None:
    fields = {"email": "new@example.com", "role": "auditor", "name": "Nina", "password": "typed by the admin"}
    answer = send(alice, f"{world.acme}/people", **fields)
    assert answer.status_code == 303
    assert "typed by the admin" not in alice.get(answer.location).text
    assert sign_in(app.test_client(), "new@example.com", "typed by the admin").status_code == 302


def test_somebody_who_signs_in_already_keeps_the_password(app: Flask, alice: FlaskClient, world: World) -> None:
    fields = {"email": "charlie@example.com", "role": "auditor", "name": "Other", "password": "another password"}
    assert send(alice, f"{world.acme}/people", **fields).status_code == 303
    assert role_of("charlie", world) == "auditor"
    assert "The password stays as it was" in alice.get(f"{world.acme}/people").text
    assert sign_in(app.test_client(), "charlie@example.com", PASSWORD).status_code == 302


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "e-mail address."),
        ({"email": "nonsense", "role": "auditor", "name": "X"}, "This is not an e-mail address."),
        ({"email": "n@example.com", "role": "auditor"}, "Give the new person a name."),
        ({"email": "n@example.com", "role": "boss", "name": "X"}, "Choose one of the roles"),
        ({"email": "n@example.com", "role": "", "name": "X"}, "Choose one of the roles"),
        ({"email": "n@example.com", "role": "auditor", "name": "X", "password": "short"}, "at least 10 characters"),
        ({"email": "n@example.com", "role": "auditor", "name": "X" * 201}, "at most 200 characters"),
        ({"email": "bob@example.com", "role": "auditor"}, "member already"),
    ],
)
def test_a_refusal_stands_at_the_field_and_writes_nothing(
    alice: FlaskClient, world: World, fields: dict[str, str], sentence: str
) -> None:
    answer = send(alice, f"{world.acme}/people", **fields)
    assert answer.status_code == 400
    assert sentence in answer.text
    assert 'aria-invalid="true"' in answer.text
    assert fields.get("email", "") in answer.text
    assert people.find("n@example.com") is None


def test_a_role_changes_after_the_question(alice: FlaskClient, world: World) -> None:
    path = f"{world.acme}/people/{user_id('bob')}/role"
    asked = send(alice, path, role="auditor")
    assert asked.status_code == 200
    assert "Bob will be: Auditor." in asked.text
    assert role_of("bob", world) == "campaign_manager"
    assert send(alice, path, role="auditor", confirmed="1").status_code == 303
    assert role_of("bob", world) == "auditor"
    entry = db.session.scalars(audit.entries(world.account_id)).first()
    assert entry is not None
    assert (entry.action, entry.actor_label, entry.changes) == (
        "member.role.changed",
        "Alice",
        {"role": ["campaign_manager", "auditor"]},
    )


def test_an_unknown_role_and_an_unknown_person_are_refused(alice: FlaskClient, world: World) -> None:
    assert send(alice, f"{world.acme}/people/{user_id('bob')}/role", role="boss", confirmed="1").status_code == 303
    assert role_of("bob", world) == "campaign_manager"
    for person in ("usr_nobody", user_id("charlie")):
        assert send(alice, f"{world.acme}/people/{person}/role", role="auditor", confirmed="1").status_code == 404
        assert send(alice, f"{world.acme}/people/{person}/removal", confirmed="1").status_code == 404


def test_a_person_is_removed_after_the_question_and_keeps_the_sign_in(
    alice: FlaskClient, bob: FlaskClient, world: World
) -> None:
    path = f"{world.acme}/people/{user_id('bob')}/removal"
    assert "Bob will not see Acme any more" in send(alice, path).text
    assert role_of("bob", world) == "campaign_manager"
    assert send(alice, path, confirmed="1").status_code == 303
    assert role_of("bob", world) is None
    assert bob.get(f"{world.acme}/campaigns").status_code == 404
    assert bob.get("/me/profile").status_code == 200


def test_the_last_administrator_stays(alice: FlaskClient, world: World) -> None:
    path = f"{world.acme}/people/{user_id('alice')}"
    for step in ("removal", "role"):
        answer = send(alice, f"{path}/{step}", role="auditor", confirmed="1")
        assert answer.status_code == 303
        assert "An account needs an administrator." in alice.get(answer.location).text
    assert role_of("alice", world) == "account_admin"


def test_an_administrator_may_leave_once_there_is_another(alice: FlaskClient, world: World) -> None:
    send(alice, f"{world.acme}/people/{user_id('bob')}/role", role="account_admin", confirmed="1")
    left = send(alice, f"{world.acme}/people/{user_id('alice')}/removal", confirmed="1")
    assert (left.status_code, left.location) == (303, "/")
    assert alice.get(f"{world.acme}/people").status_code == 404


def test_a_name_with_markup_is_only_text(alice: FlaskClient, world: World) -> None:
    with transaction():
        person = people.find("bob@example.com")
        assert person is not None
        people.change_profile(person, '<script>alert(1)</script>" onload="x', None)
    page = alice.get(f"{world.acme}/people").text
    assert "<script>alert(1)" not in page
    assert '" onload="x' not in page
