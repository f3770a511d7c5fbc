"""The campaigns of an account on their screens, and the account's overview."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from core import clock
from core.db import db, transaction
from domain.campaigns import campaign as campaigns
from domain.campaigns import roster
from domain.campaigns.campaign import Campaign
from domain.events.audit import COMMAND_LINE, AuditEntry
from domain.events.event import Event
from tests import world as worlds
from tests.pages.form import send
from tests.world import World


def stored(world: World) -> Campaign:
    db.session.rollback()
    return campaigns.get(world.account_id, world.campaign_id)


def move(world: World, *names: str) -> None:
    with transaction():
        for name in names:
            campaigns.move(campaigns.get(world.account_id, world.campaign_id), name, COMMAND_LINE)


def test_the_overview_counts_campaigns_and_people_and_links_to_the_rows(alice: FlaskClient, app: Flask, world: World):
    worlds.add_participant(world, "ana@example.com", language="pt-BR")
    worlds.add_participant(world, "bo@example.com", metadata={"lang": "fr-CA"})
    worlds.add_participant(world, "cy@example.com")
    page = alice.get(world.acme).text
    assert "3 people stand on rosters." in page
    assert f"{world.acme}/campaigns?status=draft" in page
    for row in (
        '<th scope="row">Brazilian Portuguese</th><td>1</td>',
        '<th scope="row">French</th><td>1</td>',
        '<th scope="row">Not stated</th><td>1</td>',
        '<th scope="row">Added</th><td>3</td>',
    ):
        assert row in page
    assert "go out in English and French" in page


def test_a_cleared_language_ends_the_say_of_the_metadata_in_the_counts(alice: FlaskClient, world: World):
    worlds.add_participant(world, "bo@example.com", metadata={"lang": "fr"}, language="es")
    worlds.add_participant(world, "bo@example.com", language=None)
    assert '<th scope="row">Not stated</th><td>1</td>' in alice.get(world.acme).text


def test_the_overview_of_an_empty_account_says_what_to_do_next(alice: FlaskClient, world: World):
    with transaction() as session:
        session.execute(Campaign.__table__.delete())
    assert f'href="{world.acme}/campaigns/new"' in alice.get(world.acme).text


def test_active_campaigns_show_who_has_completed(alice: FlaskClient, world: World):
    worlds.add_participant(world, "ana@example.com")
    bo = worlds.add_participant(world, "bo@example.com")
    with transaction():
        campaign = campaigns.get(world.account_id, world.campaign_id)
        roster.get(campaign, bo).status = "completed"
    move(world, "launch")
    page = alice.get(world.acme).text
    assert "1 campaign is active." in page
    assert "1 of 2 completed" in page


def test_bob_starts_a_campaign_as_a_draft(bob: FlaskClient, world: World):
    page = send(
        bob, f"{world.acme}/campaigns/new", name="  Autumn   survey ", description="Why", starts_at="2027-01-05T09:00"
    )
    assert "Autumn survey" in page.text and "stands as a draft" in page.text
    made = db.session.scalars(select(Campaign).where(Campaign.name == "Autumn survey")).one()
    assert (made.status, made.starts_at) == ("draft", clock.instant("2027-01-05T09:00Z"))
    assert (
        db.session.scalars(select(Event.name).where(Event.account_id == world.account_id))
        .all()
        .count("campaign.created")
    )


def test_the_list_tells_start_and_end_to_the_minute(alice: FlaskClient, world: World):
    send(alice, f"{world.campaign}/edit", name="Spring survey", starts_at="2027-01-05T09:05")
    page = alice.get(f"{world.acme}/campaigns").text
    assert "Jan 5, 2027, 9:05" in page and "—" in page


@pytest.mark.parametrize(
    ("fields", "sentence", "kept"),
    [
        ({"name": "  "}, "Give it a name.", ""),
        ({"name": "x" * 201}, "Use at most 200 characters.", "x" * 201),
        ({"name": "A", "passcode": "y" * 101}, "Use at most 100 characters.", "y" * 101),
        ({"name": "A", "starts_at": "2027-02-30T10:00"}, "Enter a date and a time", "2027-02-30T10:00"),
        ({"name": "A", "starts_at": "0000"}, "Enter a date and a time", 'value="0000"'),
        (
            {"name": "A", "starts_at": "2027-01-05T09:00", "ends_at": "2027-01-05T09:00"},
            "The end must come after the start.",
            "2027-01-05T09:00",
        ),
    ],
)
def test_a_mistake_stands_at_its_field_with_the_value_kept(
    alice: FlaskClient, world: World, fields: dict[str, str], sentence: str, kept: str
):
    answer = send(alice, f"{world.acme}/campaigns/new", **fields)
    assert answer.status_code == 400
    assert sentence in answer.text and kept in answer.text and 'aria-invalid="true"' in answer.text
    assert campaigns.count(world.account_id) == 1


def test_a_passcode_is_made_up_when_it_is_switched_on_empty(alice: FlaskClient, app: Flask, world: World):
    page = send(alice, f"{world.campaign}/edit", name="Spring survey", enable_passcode="y", passcode="")
    passcode = stored(world).passcode
    assert passcode and len(passcode) == 8 and passcode in page.text
    assert passcode not in worlds.sign_in(app, "Audrey").get(world.campaign).text
    logged = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "campaign.updated")).one()
    assert passcode not in str(logged.changes)


def test_a_time_that_nobody_touched_keeps_its_seconds(alice: FlaskClient, world: World):
    with transaction():
        campaigns.get(world.account_id, world.campaign_id).starts_at = clock.instant("2027-01-05T09:00:42Z")
    page = send(alice, f"{world.campaign}/edit", name="Spring survey", starts_at="2027-01-05T09:00")
    assert "Nothing was changed." in page.text
    assert stored(world).starts_at == clock.instant("2027-01-05T09:00:42Z")


def test_the_list_is_searched_and_filtered_in_the_address(alice: FlaskClient, world: World):
    with transaction():
        for name in ("100% honest", "Autumn survey"):
            campaigns.create(world.account_id, {"name": name}, COMMAND_LINE)
    move(world, "launch")
    at = f"{world.acme}/campaigns"
    assert "Autumn survey" in alice.get(f"{at}?q=SURVEY+aut").text
    assert "Autumn survey" not in alice.get(f"{at}?q=100%25").text
    active = alice.get(f"{at}?status=active", headers={"HX-Request": "true"}).text
    assert "Spring survey" in active and "Autumn survey" not in active and "<h1" not in active
    assert "No campaign fits" in alice.get(f"{at}?q=nothing+such").text
    assert "This page is empty" in alice.get(f"{at}?page=99").text
    assert alice.get(f"{at}?status=nonsense&page=abc").status_code == 200
    assert "Autumn survey" in alice.get(f"{at}?q=au%00t").text
    assert "Secret survey" not in alice.get(at).text


def test_a_transition_asks_first_and_then_runs(alice: FlaskClient, world: World):
    worlds.add_participant(world, "ana@example.com")
    at = f"{world.campaign}/transitions"
    asked = send(alice, at, page=world.campaign, transition="launch")
    assert "It opens for the 1 person on its roster." in asked.text and 'name="confirmed"' in asked.text
    assert stored(world).status == "draft"
    done = send(alice, at, page=world.campaign, transition="launch", confirmed="1")
    assert "is active now" in done.text
    assert stored(world).status == "active"
    raised = db.session.scalars(select(Event.name).where(Event.account_id == world.account_id)).all()
    assert {"campaign.transition.executed", "campaign.status.changed"} <= set(raised)


@pytest.mark.parametrize("name", ["reopen", "close", "explode", ""])
def test_a_transition_that_is_not_possible_any_more_is_told_kindly(alice: FlaskClient, world: World, name: str):
    answer = send(alice, f"{world.campaign}/transitions", page=world.campaign, transition=name, confirmed="1")
    assert answer.status_code == 200 and "has moved on meanwhile" in answer.text
    assert stored(world).status == "draft"


def test_reopening_removes_an_end_that_has_passed_and_says_so(alice: FlaskClient, world: World):
    move(world, "launch", "close")
    with transaction():
        campaigns.get(world.account_id, world.campaign_id).ends_at = clock.now_ms() - clock.DAY_MS
    at = f"{world.campaign}/transitions"
    assert "has passed and will be removed" in send(alice, at, page=world.campaign, transition="reopen").text
    send(alice, at, page=world.campaign, transition="reopen", confirmed="1")
    assert (stored(world).status, stored(world).ends_at) == ("active", None)


def test_an_auditor_sees_but_is_offered_no_change(app: Flask, world: World):
    audrey = worlds.sign_in(app, "Audrey")
    for path in (f"{world.acme}/campaigns", world.campaign):
        page = audrey.get(path)
        assert page.status_code == 200
        assert "/edit" not in page.text and "/transitions" not in page.text and "/new" not in page.text
    assert audrey.get(f"{world.campaign}/edit").status_code == 403
    assert audrey.post(f"{world.campaign}/transitions").status_code == 403
    assert audrey.get(f"{world.acme}/campaigns/new").status_code == 403


def test_charlie_finds_nothing_of_the_account(charlie: FlaskClient, world: World):
    foreign = f"/accounts/{world.other_account_id}/campaigns/{world.campaign_id}"
    for path in (world.acme, f"{world.acme}/campaigns", world.campaign, foreign, f"{foreign}/edit"):
        assert charlie.get(path).status_code == 404
    assert send(charlie, f"{foreign}/transitions", page=f"/accounts/{world.other_account_id}").status_code == 404


def test_a_form_without_its_token_changes_nothing(alice: FlaskClient, world: World):
    assert (
        alice.post(f"{world.campaign}/transitions", data={"transition": "launch", "confirmed": "1"}).status_code == 400
    )
    assert stored(world).status == "draft"


def test_a_form_sent_twice_makes_one_campaign(alice: FlaskClient, world: World) -> None:
    here = f"{world.acme}/campaigns/new"
    key = re.search(r'name="form_key"[^>]* value="(cmp_[^"]+)"', alice.get(here).text)
    assert key is not None
    pages = [send(alice, here, form_key=key[1], name=name) for name in ("Spring", "Spring again")]
    assert pages[0].request.path == pages[1].request.path == f"{world.acme}/campaigns/{key[1]}"
    assert "The form was sent twice, and made this campaign once." in pages[1].text
    db.session.rollback()
    names = db.session.scalars(select(Campaign.name).where(Campaign.account_id == world.account_id)).all()
    assert "Spring" in names and "Spring again" not in names


def test_the_key_of_another_account_s_campaign_makes_nothing_and_tells_nothing(
    charlie: FlaskClient, world: World
) -> None:
    here = f"/accounts/{world.other_account_id}/campaigns/new"
    answer = send(charlie, here, form_key=world.campaign_id, name="Mine")
    assert answer.status_code == 409 and stored(world).name != "Mine"
