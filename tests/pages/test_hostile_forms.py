"""Forms that no browser sends: each is refused or read sensibly, never met with a failure of ours."""

from __future__ import annotations

import io
import json
import re
import resource
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from core import clock
from core.db import db, transaction
from domain.campaigns import campaign as campaigns
from tests import world as worlds
from tests.pages.form import csrf
from tests.world import World

# Where a form is sent to (within the account, or from the root), and its text fields.
FORMS = {
    "/login": "email password next",
    "+/campaigns/new": "name description passcode starts_at",
    "+/contacts/new": "email first_name company language",
    "+/people": "email role name password",
    "*/edit": "name description starts_at ends_at",
    "*/roster/new": "new-email new-first_name new-language",
    "*/roster/{participant}": "first_name language",
    "+/webhooks/new": "url events groups secret",
    "+/webhooks/receiver": "headers body secret",
    "/me/profile": "name language",
    "/me/password": "current password again",
}
OPERATORS_FORMS = {
    "/console/accounts/new": "form_key name first email person_name password",
    "/console+/name": "name",
    "/console/api-credentials/new": "form_key label accounts scopes per_minute",
}


def address(world: World, path: str, participant: str) -> str:
    path = path.replace("+", world.acme).replace("*", world.campaign)
    return path.replace("{participant}", participant)


def send_oddities(client: FlaskClient, path: str, fields: list[str]) -> None:
    token = csrf(client, "/developers")
    for field in fields:
        file = (io.BytesIO(b"a,b\n"), "a.csv")
        answer = client.post(path, data={"csrf_token": token, **dict.fromkeys(fields, "x"), field: file})
        assert answer.status_code < 500, f"a file as {field}"
    for body in ([1], {}, {fields[0]: {"a": 1}}, "x", None):
        answer = client.post(
            path, data=json.dumps(body), content_type="application/json", headers={"X-CSRF-Token": token}
        )
        assert answer.status_code < 500, f"{body} as JSON"
    assert client.post(path, data={"csrf_token": token}).status_code < 500


@pytest.mark.parametrize("path", FORMS)
def test_a_file_or_json_in_the_place_of_a_text_is_no_failure(alice: FlaskClient, world: World, path: str):
    participant = worlds.add_participant(world, "ana@example.com")
    with transaction():
        campaigns.get(world.account_id, world.campaign_id).starts_at = clock.instant("2027-01-05T09:00:42Z")
    send_oddities(alice, address(world, path, participant), FORMS[path].split())


@pytest.mark.parametrize("path", OPERATORS_FORMS)
def test_nor_in_the_forms_of_operators(olga: FlaskClient, world: World, path: str):
    send_oddities(olga, address(world, path, ""), OPERATORS_FORMS[path].split())


# Nobody types these: a NUL in them is read past.
CHOSEN = {"form_key", "next", "role", "language", "new-language", "events", "groups", "first", "accounts", "scopes"}
# What its page never writes again.
SECRET = {"password", "current", "again", "secret"}


def send_nul(client: FlaskClient, path: str, fields: list[str]) -> None:
    """Each text that a person may paste comes back without its NUL, and is told of where it stands."""
    token = csrf(client, "/developers")
    for field in (each for each in fields if each not in CHOSEN):
        answer = client.post(path, data={"csrf_token": token, **dict.fromkeys(fields, ""), field: "Spr\0ing"})
        assert answer.status_code == 400, field
        said = re.search(rf'id="(?:field-)?{field}-error".*?</p>', answer.text, re.DOTALL)
        assert said is not None and "An invisible character that cannot be stored was taken out here." in said[0]
        assert "\0" not in answer.text and (field in SECRET or "Spring" in answer.text), field


@pytest.mark.parametrize("path", FORMS)
def test_a_nul_that_was_pasted_is_told_of_at_its_field(alice: FlaskClient, world: World, path: str):
    participant = worlds.add_participant(world, "ana@example.com")
    client = alice if path != "/login" else alice.application.test_client()
    send_nul(client, address(world, path, participant), FORMS[path].split())


@pytest.mark.parametrize("path", OPERATORS_FORMS)
def test_and_in_the_forms_of_operators(olga: FlaskClient, world: World, path: str):
    send_nul(olga, address(world, path, ""), OPERATORS_FORMS[path].split())


def test_a_nul_in_an_address_is_read_past_in_a_search_and_refused_in_a_path(alice: FlaskClient, world: World):
    worlds.add_participant(world, "ana@example.com")
    for listed in (f"{world.campaign}/roster", f"{world.acme}/campaigns", f"{world.acme}/contacts", "/developers"):
        assert alice.get(f"{listed}?q=an%00a&page=1%00").status_code == 200
    assert "ana@example.com" in alice.get(f"{world.campaign}/roster?q=an%00a").text
    assert alice.get(f"{world.acme}%00/campaigns").status_code == 400


def test_an_edit_that_does_not_name_the_times_leaves_them(alice: FlaskClient, world: World):
    with transaction():
        campaigns.get(world.account_id, world.campaign_id).starts_at = clock.instant("2027-01-05T09:00:42Z")
    data = {"csrf_token": csrf(alice, world.campaign), "name": "Autumn survey"}
    assert alice.post(f"{world.campaign}/edit", data=data).status_code == 303
    db.session.rollback()
    stored = campaigns.get(world.account_id, world.campaign_id)
    assert (stored.name, stored.starts_at) == ("Autumn survey", clock.instant("2027-01-05T09:00:42Z"))


def test_screens_make_their_forms_of_the_one_that_reads_no_files():
    """The screen that takes a file is the exception."""
    screens = Path(__file__).parents[2] / "blueprints"
    theirs = {str(file.relative_to(screens)) for file in screens.rglob("*.py") if "(FlaskForm):" in file.read_text()}
    assert theirs == {"fields.py", "admin/imports/__init__.py"}


def test_a_file_for_which_the_disk_has_no_room_is_refused_and_dropped(app: Flask, alice: FlaskClient, world: World):
    data = {"csrf_token": csrf(alice, world.campaign), "file": (io.BytesIO(b"email\n" + b"x" * 400_000), "a.csv")}
    uploads = app.config["SETTINGS"].files_path
    standing = sorted(uploads.glob("*"))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, before[1]))
    try:
        answer = alice.post(f"{world.campaign}/import", data=data, content_type="multipart/form-data")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert answer.status_code == 507
    assert "The disk is full" in answer.text
    assert sorted(uploads.glob("*")) == standing
