"""The operators' console: accounts, and tokens whose plaintext is seen once."""

from __future__ import annotations

import re
from typing import Any

import pytest
import time_machine
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from core.db import db, transaction
from core.ids import new_id
from domain.accounts import account as accounts
from domain.accounts import credentials, people
from domain.accounts.account import Account
from domain.accounts.credentials import ServiceToken
from domain.events import audit
from domain.events.audit import COMMAND_LINE
from tests.pages.test_people import send
from tests.pages.test_sign_in import sign_in
from tests.world import World

TOKEN = re.compile(r"(?:asr|aio)_[0-9a-f]{48}\.[0-9a-f]{32}")
MINT = "/console/api-credentials/new"
NEW_ACCOUNT = {
    "name": "Nordwind",
    "first": "fr",
    "second": "en",
    "email": "nina@example.com",
    "person_name": "Nina",
}


def tokens() -> list[ServiceToken]:
    db.session.rollback()
    return credentials.all_tokens()


@pytest.mark.parametrize("path", ["/console/accounts", "/console/accounts/new", "/console/api-credentials", MINT])
def test_the_console_is_for_operators(alice: FlaskClient, stranger: FlaskClient, olga: FlaskClient, path: str) -> None:
    assert [who.get(path).status_code for who in (olga, alice, stranger)] == [200, 403, 302]
    assert send(alice, path, name="X").status_code in (403, 405)


def test_accounts_are_listed_with_their_sizes_and_no_way_in(olga: FlaskClient, world: World) -> None:
    page = olga.get("/console/accounts").text
    assert "Acme" in page
    assert "French, English" in page
    assert f'href="{world.acme}"' not in page
    assert "alice@example.com" not in page
    assert "Spring survey" not in page
    assert olga.get(world.acme).status_code == 404
    assert "Acme" not in olga.get("/console/accounts?q=oth", headers={"HX-Request": "true"}).text


def test_an_account_comes_with_its_first_administrator(app: Flask, olga: FlaskClient, world: World) -> None:
    answer = send(olga, "/console/accounts/new", form_key=new_id("acc"), **NEW_ACCOUNT)
    assert answer.status_code == 200
    made = re.search(r'id="initial-password"[^>]*value="([^"]+)"', answer.text)
    assert made is not None
    account = db.session.scalars(select(Account).where(Account.name == "Nordwind")).one()
    assert account.languages == ["fr", "en"]
    assert sign_in(app.test_client(), "nina@example.com", made[1]).location == f"/accounts/{account.id}"


def test_a_form_sent_twice_makes_one_account(olga: FlaskClient, world: World) -> None:
    key = new_id("acc")
    send(olga, "/console/accounts/new", form_key=key, **NEW_ACCOUNT)
    again = send(olga, "/console/accounts/new", form_key=key, **NEW_ACCOUNT)
    assert again.status_code == 303
    assert "was sent before" in olga.get(again.location).text
    assert len(accounts.all_accounts()) == 3


@pytest.mark.parametrize(
    ("changed", "field", "sentence"),
    [
        ({"name": " "}, "name", "Give it a name."),
        ({"second": "fr"}, "second", "stands in the list already"),
        ({"first": "de"}, "first", "Choose one of the four languages."),
        ({"email": "nonsense"}, "email", "This is not an e-mail address."),
        ({"person_name": ""}, "person_name", "Give the new person a name."),
        ({"password": "short"}, "password", "at least 10 characters"),
    ],
)
def test_a_refused_account_is_not_written(
    olga: FlaskClient, world: World, changed: dict[str, str], field: str, sentence: str
) -> None:
    answer = send(olga, "/console/accounts/new", **{**NEW_ACCOUNT, **changed})
    assert answer.status_code == 400
    assert sentence in answer.text
    assert f'id="{field}-error"' in answer.text
    db.session.rollback()
    assert len(accounts.all_accounts()) == 2
    assert people.find("nina@example.com") is None


def test_an_account_is_renamed_and_its_log_says_so(olga: FlaskClient, world: World) -> None:
    path = f"/console/accounts/{world.account_id}/name"
    assert send(olga, path, name="").status_code == 400
    assert send(olga, path, name="Acme Europe").status_code == 303
    assert "Acme Europe" in olga.get("/console/accounts").text
    entry = db.session.scalars(audit.entries(world.account_id)).first()
    assert entry is not None
    assert (entry.action, entry.changes) == ("account.updated", {"name": ["Acme", "Acme Europe"]})
    assert send(olga, "/console/accounts/acc_nobody/name", name="X").status_code == 404


def test_a_token_is_shown_once_and_only_its_hash_is_kept(olga: FlaskClient, world: World) -> None:
    fields: dict[str, Any] = {
        "form_key": new_id("tok"),
        "label": "HR system",
        "accounts": [world.account_id, world.other_account_id],
        "scopes": ["campaigns:read", "results:export"],
        "per_minute": "50",
    }
    answer = send(olga, MINT, **fields)
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    found = TOKEN.findall(answer.text)
    assert len(found) == 1
    assert "data-copy" in answer.text
    principal = credentials.principal_of(found[0])
    assert principal is not None
    assert principal.accounts == {world.account_id, world.other_account_id}
    assert (principal.scopes, principal.per_minute) == ({"campaigns:read", "results:export"}, 50)
    assert not TOKEN.search(olga.get("/console/api-credentials").text)
    assert not TOKEN.search(str(answer.headers))
    again = send(olga, MINT, **fields)
    assert again.status_code == 409
    assert not TOKEN.search(again.text)
    assert len(tokens()) == 1


@pytest.mark.parametrize(
    ("changed", "field", "sentence"),
    [
        ({"accounts": []}, "accounts", "Choose at least one account"),
        ({"accounts": ["acc_nobody"]}, "accounts", "There is no account acc_nobody."),
        ({"scopes": []}, "scopes", "Choose at least one scope"),
        ({"scopes": ["campaigns:read", "all"]}, "scopes", "There is no scope all."),
        ({"per_minute": "0"}, "per_minute", "Choose a number from 1"),
        ({"per_minute": "-1"}, "per_minute", "Choose a number from 1"),
        ({"per_minute": "ten"}, "per_minute", "Choose a number from 1"),
        ({"per_minute": "9" * 5000}, "per_minute", "Choose a number from 1"),
    ],
)
def test_a_refused_token_is_not_minted_and_the_form_keeps_what_was_entered(
    olga: FlaskClient, world: World, changed: dict[str, Any], field: str, sentence: str
) -> None:
    fields = {
        "label": "Kept label",
        "accounts": [world.account_id],
        "scopes": ["campaigns:read"],
        **changed,
    }
    answer = send(olga, MINT, **fields)
    assert answer.status_code == 400
    assert sentence in answer.text
    assert f'id="{field}-error"' in answer.text
    assert 'value="Kept label"' in answer.text
    assert tokens() == []


def test_htmx_gets_a_refused_form_as_422_so_that_it_is_swapped(olga: FlaskClient, world: World) -> None:
    csrf_token = re.search(r'name="csrf_token" value="([^"]+)"', olga.get(MINT).text)
    assert csrf_token is not None
    headers = {"HX-Request": "true", "X-CSRF-Token": csrf_token[1]}
    assert olga.post(MINT, data={"label": "x"}, headers=headers).status_code == 422


def test_the_form_flags_the_two_sensitive_scopes_and_says_what_they_open(olga: FlaskClient, world: World) -> None:
    page = olga.get(MINT).text
    assert page.count("Sensitive") == 2
    assert "Opens what respondents answered" in page


def test_the_list_says_last_use_and_days_left(olga: FlaskClient, app: Flask, world: World) -> None:
    with time_machine.travel("2026-09-01T00:00:00Z"), transaction():
        credentials.mint("k", accounts=[world.account_id], scopes=["campaigns:read"], by=COMMAND_LINE, label="Old")
    assert "Never used" in olga.get("/console/api-credentials").text
    with transaction():
        credentials.note_use({tokens()[0].id: 1_790_000_000_000})
    with time_machine.travel("2026-12-30T12:00:00Z"), app.app_context():
        with transaction():
            operator = people.find("olga@example.com")
            assert operator is not None
            secret = people.open_session(operator)
        client = app.test_client()
        with client.session_transaction() as session:
            session["sign_in"] = secret
        page = client.get("/console/api-credentials").text
        assert "2 days left" in page
        assert "Sep 21, 2026" in page
    with time_machine.travel("2027-01-01T00:00:00Z"):
        assert "Expired" in client.get("/console/api-credentials").text


def test_a_token_is_revoked_after_the_question(olga: FlaskClient, app: Flask, world: World) -> None:
    with transaction():
        token, plaintext = credentials.mint(
            "k", accounts=[world.account_id], scopes=["campaigns:read"], by=COMMAND_LINE, label="HR"
        )
    path = f"/console/api-credentials/{token.id}/revocation"
    assert "cannot be taken back" in send(olga, path).text
    assert credentials.principal_of(plaintext) is not None
    assert send(olga, path, confirmed="1").status_code == 303
    db.session.rollback()
    assert credentials.principal_of(plaintext) is None
    assert "Revoked" in olga.get("/console/api-credentials").text
    assert send(olga, path, confirmed="1").status_code == 303
    assert send(olga, "/console/api-credentials/tok_nobody/revocation", confirmed="1").status_code == 404
