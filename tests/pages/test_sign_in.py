"""Signing in and out: the door, its throttle, and what a session is."""

from __future__ import annotations

import re

import pytest
import time_machine
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from blueprints import throttle
from core.db import db, transaction
from domain.accounts import people
from domain.accounts.people import SignIn
from tests.world import PASSWORD, World

REFUSAL = "The e-mail or the password is not correct."


def csrf(client: FlaskClient, path: str = "/login") -> str:
    found = re.search(r'name="csrf_token" value="([^"]+)"', client.get(path).text)
    assert found is not None
    return found[1]


def sign_in(client: FlaskClient, email: str, password: str, **more: str) -> TestResponse:
    fields = {"csrf_token": csrf(client), "email": email, "password": password, **more}
    return client.post("/login", data=fields)


def test_alice_signs_in_and_lands_in_her_account(stranger: FlaskClient, world: World) -> None:
    answer = sign_in(stranger, " ALICE@example.com ", PASSWORD)
    assert (answer.status_code, answer.location) == (302, world.acme)
    assert stranger.get(world.acme).status_code == 200


def test_an_operator_lands_in_the_console_and_a_participant_on_the_own_page(app: Flask, world: World) -> None:
    assert sign_in(app.test_client(), "olga@example.com", PASSWORD).location == "/console/accounts"
    assert sign_in(app.test_client(), "paula@example.com", PASSWORD).location == "/me/profile"


def test_the_refusal_does_not_tell_whether_the_address_exists(stranger: FlaskClient) -> None:
    wrong = sign_in(stranger, "alice@example.com", "wrong")
    nobody = sign_in(stranger, "nobody@example.com", "wrong")
    assert wrong.status_code == nobody.status_code == 401
    assert REFUSAL in wrong.text
    assert REFUSAL in nobody.text
    without_token = [re.sub(r'(value|content)="[^"]*"', "", page.text) for page in (wrong, nobody)]
    assert without_token[0] == without_token[1]


@pytest.mark.parametrize("email", ["", "no address", "a\0b@example.com", "x" * 5000, "\ud800@example.com", "'; --"])
def test_odd_input_at_the_door_is_refused_without_a_fault(stranger: FlaskClient, email: str) -> None:
    fields = {"csrf_token": csrf(stranger), "email": email.encode(errors="replace"), "password": "x" * 100_000}
    assert stranger.post("/login", data=fields).status_code in (400, 401)


@pytest.mark.parametrize(
    "path",
    [
        "https://evil.test/",
        "//evil.test",
        "/\\evil.test",
        "/\t/evil.test",
        "javascript:alert(1)",
        "evil.test",
        "/\n//x",
    ],
)
def test_next_never_leads_to_another_site(app: Flask, world: World, path: str) -> None:
    assert sign_in(app.test_client(), "alice@example.com", PASSWORD, next=path).location == world.acme


def test_next_leads_back_to_the_page_that_was_asked_for(app: Flask, stranger: FlaskClient, world: World) -> None:
    door = stranger.get(f"{world.acme}/people?x=1")
    assert door.status_code == 302
    assert "next=" in door.location
    assert f'value="{world.acme}/people?x=1"' in stranger.get(door.location).text
    wanted = f"{world.acme}/people?x=1"
    assert sign_in(stranger, "alice@example.com", PASSWORD, next=wanted).location == wanted


def test_whoever_is_signed_in_goes_on_from_the_door(alice: FlaskClient, world: World) -> None:
    assert alice.get("/login").location == world.acme
    assert alice.get("/login?next=/me/profile").location == "/me/profile"
    assert alice.get("/login?next=//evil.test").location == world.acme


def test_the_session_is_renewed_at_sign_in_and_the_former_one_ends(app: Flask, world: World) -> None:
    client = app.test_client()
    sign_in(client, "alice@example.com", PASSWORD)
    with client.session_transaction() as session:
        former = session["sign_in"]
    client.post(
        "/login", data={"csrf_token": csrf(client, "/me/profile"), "email": "alice@example.com", "password": PASSWORD}
    )
    with client.session_transaction() as session:
        assert session["sign_in"] != former
    assert people.of_session(former) is None


def test_cookies_are_kept_from_scripts_and_other_sites(stranger: FlaskClient) -> None:
    cookies = sign_in(stranger, "alice@example.com", PASSWORD).headers.getlist("Set-Cookie")
    assert len(cookies) == 2
    assert all("HttpOnly" in cookie and "SameSite=Lax" in cookie for cookie in cookies)


def test_private_pages_and_the_door_are_not_cached(alice: FlaskClient, world: World) -> None:
    for path in ("/me/profile", f"{world.acme}/people", f"{world.acme}/audit"):
        assert alice.get(path).headers["Cache-Control"] == "no-store"


def test_signing_out_ends_the_session_in_the_database_too(app: Flask, alice: FlaskClient) -> None:
    with alice.session_transaction() as session:
        secret = session["sign_in"]
    answer = alice.post("/logout", data={"csrf_token": csrf(alice, "/me/profile")})
    assert (answer.status_code, answer.location) == (302, "/login")
    assert people.of_session(secret) is None
    thief = app.test_client()
    with thief.session_transaction() as session:
        session["sign_in"] = secret
    assert thief.get("/me/profile").location == "/login?next=/me/profile"


def test_signing_out_and_in_need_the_csrf_token(alice: FlaskClient, stranger: FlaskClient) -> None:
    assert alice.post("/logout").status_code == 400
    assert stranger.post("/login", data={"email": "alice@example.com", "password": PASSWORD}).status_code == 400
    assert alice.get("/logout").status_code == 405


def test_a_session_ends_after_two_weeks(alice: FlaskClient) -> None:
    with time_machine.travel("2040-01-01T00:00:00Z"):
        assert alice.get("/me/profile").status_code == 302


def test_old_sessions_are_cleared_at_the_next_sign_in(app: Flask, world: World) -> None:
    with transaction():
        alice = people.find("alice@example.com")
        assert alice is not None
        db.session.add(SignIn(secret_hash="old", user_id=alice.id, created_at=1))
    sign_in(app.test_client(), "alice@example.com", PASSWORD)
    assert db.session.get(SignIn, "old") is None


def test_a_session_that_is_over_sends_an_htmx_call_to_the_sign_in_page(stranger: FlaskClient, world: World) -> None:
    asked = {"HX-Request": "true", "HX-Current-URL": f"http://localhost{world.acme}/audit?actor=a"}
    answer = stranger.get(f"{world.acme}/audit", headers=asked)
    assert answer.status_code == 401
    assert answer.headers["HX-Redirect"] == f"/login?next={world.acme}/audit?actor%3Da"
    assert not answer.text


@pytest.mark.usefixtures("one_window")
def test_after_ten_tries_one_address_waits_at_one_account(app: Flask, world: World) -> None:
    client = app.test_client()
    tries = [sign_in(client, "alice@example.com", "wrong").status_code for _ in range(11)]
    assert tries == [401] * 10 + [429]
    refused = sign_in(client, "alice@example.com", PASSWORD)
    assert refused.status_code == 429
    assert 0 < int(refused.headers["Retry-After"]) <= throttle.WINDOW_SECONDS
    assert sign_in(client, "bob@example.com", PASSWORD).status_code == 302


def test_the_wait_is_over_with_the_quarter_of_an_hour(app: Flask, world: World) -> None:
    client = app.test_client()
    with time_machine.travel("2027-03-01T10:00:00Z", tick=False):
        for _ in range(11):
            sign_in(client, "alice@example.com", "wrong")
    with time_machine.travel("2027-03-01T10:15:01Z", tick=False):
        assert sign_in(client, "alice@example.com", PASSWORD).status_code == 302


@pytest.mark.usefixtures("one_window")
def test_an_address_that_tries_many_accounts_waits(app: Flask, world: World) -> None:
    client = app.test_client()
    answers = [sign_in(client, f"person{number}@example.com", "wrong").status_code for number in range(61)]
    assert answers == [401] * 60 + [429]


@pytest.mark.usefixtures("one_window")
def test_strangers_cannot_keep_a_person_out_of_the_usual_browser(app: Flask, world: World) -> None:
    usual = app.test_client()
    assert sign_in(usual, "alice@example.com", PASSWORD).status_code == 302
    usual.post("/logout", data={"csrf_token": csrf(usual, "/me/profile")})
    with app.test_request_context(environ_base={"REMOTE_ADDR": "198.51.100.1"}):
        for _ in range(throttle.MOST_AT_ACCOUNT + 1):
            throttle.seconds_to_wait("alice@example.com")
    assert sign_in(app.test_client(), "alice@example.com", PASSWORD).status_code == 429
    assert sign_in(usual, "alice@example.com", PASSWORD).status_code == 302


def test_a_right_password_does_not_count(app: Flask, world: World) -> None:
    answers = {sign_in(app.test_client(), "alice@example.com", PASSWORD).status_code for _ in range(12)}
    assert answers == {302}


@pytest.mark.usefixtures("one_window")
def test_the_throttle_counts_without_the_queue_too(app: Flask, world: World) -> None:
    breaker = app.extensions["assessor_queue"].breaker
    breaker._open_until = 2**60
    try:
        client = app.test_client()
        answers = [sign_in(client, "alice@example.com", "wrong").status_code for _ in range(11)]
    finally:
        breaker._open_until = 0
        app.extensions["assessor_windows"]._own.reset()
    assert answers == [401] * 10 + [429]
