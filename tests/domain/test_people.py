"""People, memberships and sessions."""

from __future__ import annotations

import threading

import pytest
from flask import Flask
from sqlalchemy import select

from core.db import db, transaction
from core.errors import NotFound, Refused
from domain.accounts import people
from domain.accounts.people import User
from domain.events.audit import COMMAND_LINE
from domain.events.event import Event
from tests.world import PASSWORD, World


def person(name: str) -> User:
    found = people.find(f"{name}@example.com")
    assert found is not None
    return found


def test_an_address_is_found_in_any_case_and_nothing_else_is(world: World) -> None:
    assert people.find("  ALICE@Example.COM ") is not None
    assert [people.find(text) for text in ("", "alice", "a\0@example.com", "x" * 9000)] == [None] * 4


@pytest.mark.parametrize(
    ("email", "name", "password", "code"),
    [
        ("nonsense", "N", "long enough!", "EMAIL_INVALID"),
        ("ALICE@example.com", "N", "long enough!", "EMAIL_TAKEN"),
        ("n@example.com", " \0 ", "long enough!", "NAME_REQUIRED"),
        ("n@example.com", "N" * 201, "long enough!", "TOO_LONG"),
        ("n@example.com", "N", "123456789", "PASSWORD_TOO_SHORT"),
        ("n@example.com", "N", "1" * 201, "TOO_LONG"),
    ],
)
def test_a_person_without_sense_is_refused(world: World, email: str, name: str, password: str, code: str) -> None:
    with pytest.raises(Refused) as refused, transaction():
        people.create(email, name, password, COMMAND_LINE)
    assert refused.value.code == code


def test_a_password_fits_exactly_and_an_endless_one_never(world: World) -> None:
    alice = person("alice")
    assert people.password_fits(alice, PASSWORD)
    assert not any(people.password_fits(alice, text) for text in (PASSWORD + " ", "", "x" * 1_000_000))
    assert not people.password_fits(None, PASSWORD)


def test_generated_passwords_are_long_enough_and_differ(world: World) -> None:
    made = {people.generated_password() for _ in range(50)}
    assert len(made) == 50
    assert all(len(each) >= people.PASSWORD_LEAST for each in made)


def test_a_member_of_another_account_is_nobody_here(world: World) -> None:
    with pytest.raises(NotFound), transaction():
        people.change_role(world.account_id, person("charlie").id, "auditor", COMMAND_LINE)


def test_of_two_changes_at_once_the_later_tells_the_person_as_they_are_now(app: Flask, world: World) -> None:
    begun = threading.Event()

    def speak_french() -> None:
        with app.app_context():
            begun.wait()
            with transaction():
                people.change_profile(person("alice"), "Alice", "fr")

    later = threading.Thread(target=speak_french)
    later.start()
    with transaction():
        people.change_profile(person("alice"), "Alice Martin", None)
        begun.set()
        later.join(0.3)  # it waits for this transaction
    later.join()
    db.session.rollback()
    last = db.session.scalars(select(Event).order_by(Event.id.desc())).first()
    assert last is not None
    assert last.payload["user"] == people.as_public(person("alice"))


def test_two_administrators_who_leave_at_once_do_not_both_leave(app: Flask, world: World) -> None:
    with transaction():
        people.change_role(world.account_id, person("bob").id, "account_admin", COMMAND_LINE)
    leaving = [person("alice").id, person("bob").id]
    db.session.rollback()
    together = threading.Barrier(2)

    def leave(user_id: str) -> None:
        with app.app_context():
            together.wait()
            try:
                with transaction():
                    people.remove_member(world.account_id, user_id, COMMAND_LINE)
            except Refused:
                pass

    threads = [threading.Thread(target=leave, args=(user_id,)) for user_id in leaving]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [people.role_in(db.session.get_one(User, each), world.account_id) for each in leaving].count(None) == 1
