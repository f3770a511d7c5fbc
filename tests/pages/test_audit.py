"""The audit log's screen: newest first, filtered by the address, paged by id."""

from __future__ import annotations

import re

import pytest
import time_machine
from flask.testing import FlaskClient

from blueprints.admin import audit_words
from core import ids
from core.db import transaction
from domain.campaigns import campaign as campaigns
from domain.events import audit
from domain.events.audit import ACTIONS, Actor, Done
from domain.events.delivery import refiring
from tests.jobs import hooks
from tests.pages.webhooks.rows import USUAL, at, given_up
from tests.world import World, add_participant

ALICE = Actor("user", "usr_a", "Alice Martin", "page")
SYSTEM = Actor("token", "tok_a", "HR system", "v2_public_api")


def subjects(page: str) -> list[str]:
    return re.findall(r"subject-\d+", page)


def fill(world: World, number: int, by: Actor = ALICE, action: str = "campaign.updated") -> None:
    with transaction():
        done = [Done(action, f"cmp_{index}", f"subject-{index}", {}) for index in range(number)]
        audit.record_many(world.account_id, by, done)


def test_every_action_has_words_and_the_filter_lists_them(alice: FlaskClient, world: World) -> None:
    assert set(audit_words.ACTIONS) == set(ACTIONS)
    page = alice.get(f"{world.acme}/audit").text
    assert all(f'value="{action}"' in page for action in ACTIONS)


def test_only_administrators_read_the_log(
    alice: FlaskClient, bob: FlaskClient, charlie: FlaskClient, olga: FlaskClient, world: World
) -> None:
    statuses = [person.get(f"{world.acme}/audit").status_code for person in (alice, bob, charlie, olga)]
    assert statuses == [200, 403, 404, 404]


def test_an_entry_says_who_by_which_way_and_what_changed(alice: FlaskClient, world: World) -> None:
    with transaction():
        campaign = campaigns.get(world.account_id, world.campaign_id)
        campaigns.edit(campaign, {"name": "Autumn survey", "passcode": "hidden-code"}, SYSTEM)
    page = alice.get(f"{world.acme}/audit?actor=HR").text
    assert "HR system" in page
    assert "over the v2 API" in page
    assert "<del>Spring survey</del>" in page
    assert "Autumn survey" in page
    assert "hidden-code" not in page
    assert f'href="{world.campaign}"' in page


def test_a_delivery_sent_again_leads_to_its_page(alice: FlaskClient, world: World) -> None:
    webhook = hooks.subscribe(world, USUAL)
    delivery_id = given_up(world, webhook)[0]
    with transaction():
        refiring.refire(world.account_id, delivery_id, ALICE)
    page = alice.get(f"{world.acme}/audit?action=webhook.refired").text
    found = re.search(r'href="([^"]+/deliveries/[^"]+)"[^>]*>([^<]*)<', page)
    assert found is not None
    assert found.groups() == (at(world, webhook, "deliveries", delivery_id), USUAL)
    assert alice.get(found[1]).status_code == 200


def test_a_participant_leads_to_the_roster_until_removed(alice: FlaskClient, world: World) -> None:
    add_participant(world, "ana@example.com", language="fr", metadata={"team": "secret"})
    page = alice.get(f"{world.acme}/audit").text
    assert f"{world.campaign}/roster?q=ana@example.com" in page
    assert "changed keys: team" in page
    assert "French" in page


def test_the_log_is_filtered_by_part_of_a_name_and_by_action(alice: FlaskClient, world: World) -> None:
    fill(world, 1, SYSTEM)
    fill(world, 2, ALICE, "campaign.created")
    assert len(subjects(alice.get(f"{world.acme}/audit?actor=hr+SYS").text)) == 1
    assert len(subjects(alice.get(f"{world.acme}/audit?action=campaign.created").text)) == 2
    assert not subjects(alice.get(f"{world.acme}/audit?actor=%25").text)


def test_days_are_whole_and_both_inclusive(alice: FlaskClient, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    # Ids never go back within a process, and another test may have travelled further.
    monkeypatch.setattr(ids, "_last", 0)
    for day in ("2027-03-01T23:59:59Z", "2027-03-02T00:00:00Z", "2027-03-02T23:59:59Z", "2027-03-03T00:00:00Z"):
        with time_machine.travel(day, tick=False):
            fill(world, 1)
    assert len(subjects(alice.get(f"{world.acme}/audit?since=2027-03-02&until=2027-03-02").text)) == 2
    assert len(subjects(alice.get(f"{world.acme}/audit?since=2027-03-02").text)) == 3
    assert len(subjects(alice.get(f"{world.acme}/audit?until=2027-03-01&actor=Martin").text)) == 1


@pytest.mark.parametrize(
    "query", ["since=nonsense", "until=2027-02-30", "action=no.such", "since=2027-02-02&until=2027-02-01"]
)
def test_a_filter_that_cannot_be_read_is_named(alice: FlaskClient, world: World, query: str) -> None:
    answer = alice.get(f"{world.acme}/audit?{query}")
    assert answer.status_code == 200
    assert "tone-warning" in answer.text


@pytest.mark.parametrize(
    "query", ["before=x", "after=aud_%27", "since=9999-12-31", "until=9999-12-31", "until=0001-01-01"]
)
def test_odd_addresses_are_no_fault(alice: FlaskClient, world: World, query: str) -> None:
    assert alice.get(f"{world.acme}/audit?{query}").status_code == 200


def test_older_and_newer_walk_the_whole_log_and_keep_the_filters(alice: FlaskClient, world: World) -> None:
    fill(world, 120)
    seen: list[str] = []
    page = alice.get(f"{world.acme}/audit?actor=Martin").text
    assert 'rel="prev"' not in page
    addresses = []
    for _ in range(3):
        seen += subjects(page)
        older = re.search(r'href="([^"]+)" rel="next"', page)
        if older:
            addresses.append(older[1].replace("&amp;", "&"))
            page = alice.get(addresses[-1]).text
    assert seen == [f"subject-{index}" for index in range(119, -1, -1)]
    assert all("actor=Martin" in address for address in addresses)
    newer = re.search(r'href="([^"]+)" rel="prev"', page)
    assert newer is not None
    middle = subjects(alice.get(newer[1].replace("&amp;", "&")).text)
    assert middle == [f"subject-{index}" for index in range(69, 19, -1)]


def test_htmx_gets_the_table_alone(alice: FlaskClient, world: World) -> None:
    part = alice.get(f"{world.acme}/audit", headers={"HX-Request": "true"}).text
    assert 'id="audit-log"' in part
    assert "<html" not in part
