"""The list of webhooks with their health, who sees it, and registering one."""

from __future__ import annotations

import html
import re
import threading
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from contract.events import STILL_TO_COME
from contract.webhooks import WebhookRegister
from core import vault
from core.db import db, transaction
from core.ids import new_id
from domain.events import subscription
from domain.events.audit import COMMAND_LINE
from domain.events.catalogue import CATALOGUE
from domain.events.delivery import refiring
from domain.events.subscription import Subscription
from tests import world as worlds
from tests.jobs import hooks
from tests.jobs.hooks import SECRET
from tests.pages.form import csrf, send
from tests.pages.webhooks.rows import OPEN, USUAL, at, form_key, given_up, only, visible
from tests.world import World


def test_an_empty_list_offers_to_register(alice: FlaskClient, world: World) -> None:
    page = alice.get(at(world)).text
    assert "No webhooks yet" in page and f'href="{at(world, "new")}"' in page


def test_bob_registers_a_webhook_for_an_event_and_a_group(bob: FlaskClient, world: World) -> None:
    page = send(bob, at(world, "new"), url=f" {OPEN} ", events=["participant.joined"], groups=["Files"], secret=SECRET)
    made = only(world)
    assert (made.url, made.is_active) == (OPEN, True)
    assert made.events == ["participant.joined", *CATALOGUE["Files"]]
    assert vault.unseal(made.sealed_secret or "") == SECRET
    assert "The webhook is registered." in page.text and SECRET not in page.text


def test_without_a_secret_it_is_unsigned_and_the_list_says_so(alice: FlaskClient, world: World) -> None:
    send(alice, at(world, "new"), url=OPEN, events=["participant.joined"], secret="")
    assert only(world).sealed_secret is None
    assert "unsigned" in alice.get(at(world)).text


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"url": ""}, "Enter the URL that is to be called."),
        ({"url": "ftp://hooks.example.com/"}, "The address must start with https:// or http://."),
        ({"url": "https://localhost/hook"}, "The address leads to this machine itself."),
        ({"url": "http://10.1.2.3/hook"}, "The host is or leads to 10.1.2.3,"),
        ({"url": "https://me:you@hooks.example.com/"}, "The address holds a user name or a password."),
        ({"url": "https://hooks.example.com/" + "x" * 2000}, "Use at most 2000 characters."),
        ({"events": []}, "Choose at least one event."),
        ({"events": ["campaign.exploded"]}, "The event catalogue has no campaign.exploded."),
        ({"events": [f"no.such.event.{each}" for each in range(60)]}, "and 55 more."),
        ({"secret": "not-quite-16"}, "Use 16 to 256 characters."),
        ({"secret": " " * 16}, "The secret begins or ends with a space or a line break."),
        ({"secret": f"{SECRET}\n"}, "The secret begins or ends with a space or a line break."),
    ],
)
def test_a_mistake_stands_at_its_field_and_only_the_secret_is_not_kept(
    alice: FlaskClient, world: World, fields: dict[str, Any], sentence: str
) -> None:
    values = {"url": OPEN, "events": ["campaign.updated"], "secret": SECRET, **fields}
    answer = send(alice, at(world, "new"), **values)
    assert answer.status_code == 400
    assert sentence in visible(answer.text)
    assert f'value="{values["secret"]}"' not in answer.text and SECRET not in answer.text
    assert html.escape(values["url"]) in answer.text
    if values["events"] == ["campaign.updated"]:
        assert 'value="campaign.updated" checked' in answer.text
    db.session.rollback()
    assert db.session.scalars(select(Subscription)).all() == []


def test_a_form_sent_twice_registers_one_webhook_with_the_secret_of_the_first(alice: FlaskClient, world: World) -> None:
    here = at(world, "new")
    fields = {"url": OPEN, "events": ["campaign.updated"], "form_key": form_key(alice.get(here).text)}
    first = send(alice, here, secret=SECRET, **fields)
    again = send(alice, here, secret="another secret, typed later", **{**fields, "url": "not even a URL"})
    assert again.request.path == first.request.path == at(world, fields["form_key"])
    assert "registered this webhook once" in again.text and "another secret" not in again.text
    assert vault.unseal(only(world).sealed_secret or "") == SECRET and only(world).url == OPEN


def test_a_form_sent_twice_at_once_registers_one_webhook(alice: FlaskClient, world: World) -> None:
    key, body = new_id("whk"), WebhookRegister(url=OPEN, events=["campaign.updated"])
    fields = {"url": OPEN, "events": ["campaign.updated"], "form_key": key, "csrf_token": csrf(alice, at(world, "new"))}
    answers: list[TestResponse] = []
    with transaction():
        subscription.register(world.account_id, body, COMMAND_LINE, subscription_id=key)
        second = threading.Thread(target=lambda: answers.append(alice.post(at(world, "new"), data=fields)))
        second.start()
        second.join(0.5)  # it waits for this transaction
    second.join()
    assert [(answer.status_code, answer.location) for answer in answers] == [(303, at(world, key))]
    assert only(world).id == key


def test_a_key_that_is_no_id_or_another_account_s_webhook_gives_nothing_away(
    alice: FlaskClient, charlie: FlaskClient, world: World
) -> None:
    theirs = hooks.subscribe(world, USUAL)
    here = f"/accounts/{world.other_account_id}/webhooks/new"
    fields = {"url": OPEN, "events": ["campaign.updated"]}
    assert send(charlie, here, form_key=theirs, **fields).status_code == 409
    assert only(world).url == USUAL
    assert "The webhook is registered." in send(charlie, here, form_key="whk_' OR 1=1", **fields).text


def test_a_secret_that_was_typed_is_asked_for_again_beside_another_mistake(alice: FlaskClient, world: World) -> None:
    answer = send(alice, at(world, "new"), url="ftp://hooks.example.com/", events=["campaign.updated"], secret=SECRET)
    assert 'id="secret-error"' in answer.text and "Enter the secret again" in answer.text
    unsigned = send(alice, at(world, "new"), url="ftp://hooks.example.com/", events=["campaign.updated"], secret="")
    assert 'id="secret-error"' not in unsigned.text


def test_events_that_this_version_never_sends_are_told_apart(alice: FlaskClient, world: World) -> None:
    form = alice.get(at(world, "new")).text
    first, *later = re.split(r"<details>\s*<summary", form)
    assert 'value="participant.joined"' in first
    assert sum(part.split("</details>")[0].count('name="events"') for part in later) == len(STILL_TO_COME)
    assert "Not sent by this version yet (8)" in form and "<details open" not in form
    wrong = send(alice, at(world, "new"), url="", events=["file.uploaded"]).text
    assert wrong.count("<details open") == 1, "what is ticked is in sight"


def test_a_webhook_whose_events_are_never_sent_yet_says_so(alice: FlaskClient, world: World) -> None:
    silent = hooks.subscribe(world, USUAL, "file.uploaded")
    told = hooks.subscribe(world, USUAL, "file.uploaded", "campaign.updated")
    page = alice.get(at(world, silent)).text
    assert "This version sends none of the events of this webhook yet." in page and "not sent yet" in page
    page = alice.get(at(world, told)).text
    assert "This version sends none" not in page and page.count(">not sent yet<") == 1


def test_the_list_begins_with_how_many_fail_now(alice: FlaskClient, world: World) -> None:
    hooks.subscribe(world, OPEN)
    assert "Nothing was sent yet." in alice.get(at(world)).text
    given_up(world, hooks.subscribe(world, USUAL, "campaign.created"), name="campaign.created")
    assert "Failing now: 1 of 2." in alice.get(at(world)).text
    given_up(world, hooks.subscribe(world, f"{USUAL}/2", "campaign.created"), name="campaign.created", last_error=None)
    assert "Failing now: 1 of 3." in alice.get(at(world)).text


def test_a_webhook_that_is_switched_off_does_not_fail_now(alice: FlaskClient, world: World) -> None:
    failing, silent = (hooks.subscribe(world, f"{USUAL}/{each}", "campaign.created") for each in (1, 2))
    given_up(world, failing, name="campaign.created")
    hooks.change(world, failing, "set_active", False)
    assert "Nothing was sent yet." in alice.get(at(world)).text
    hooks.change(world, silent, "set_active", False)
    assert "Every webhook is switched off, so nothing is sent." in alice.get(at(world)).text


def test_the_number_given_up_is_the_number_of_its_rows(alice: FlaskClient, world: World) -> None:
    webhook = hooks.subscribe(world, USUAL)
    ids = given_up(world, webhook, 3)
    with transaction():
        subscription.get(world.account_id, webhook).failure_count = 3
    with transaction():
        refiring.refire(world.account_id, ids[0], COMMAND_LINE)
    row = re.search(rf'id="failed-{webhook}"[^>]*>(\d+)<', alice.get(at(world)).text)
    assert row is not None and row[1] == "2"
    assert "3 since registered" in alice.get(at(world)).text
    page = alice.get(at(world, webhook)).text
    assert "Given up 2" in visible(page) and "Times that a delivery was given up 3" in visible(page)
    assert alice.get(f"{at(world, webhook)}?state=exhausted").text.count('name="chosen"') == 2
    assert "Given up 2" in visible(alice.get(world.acme).text)


def test_webhooks_with_one_url_and_the_same_events_are_told_apart_quietly(alice: FlaskClient, world: World) -> None:
    said = "Same URL and events as another webhook"
    hooks.subscribe(world, USUAL, "campaign.created", "campaign.updated")
    hooks.subscribe(world, USUAL, "campaign.created")
    assert said not in alice.get(at(world)).text
    hooks.subscribe(world, USUAL, "campaign.updated", "campaign.created")
    assert alice.get(at(world)).text.count(said) == 2


def test_every_deleted_webhook_can_be_found(alice: FlaskClient, world: World) -> None:
    gone = [hooks.subscribe(world, f"{USUAL}/{number}") for number in range(41)]
    for each in gone:
        hooks.change(world, each, "delete")
    pages = [alice.get(f"{at(world)}?page={number}").text for number in (1, 2, 3)]
    assert [page.count(f'href="{at(world)}/whk_') for page in pages] == [20, 20, 1]
    assert all(any(f'href="{at(world, each)}"' in page for page in pages) for each in gone)


def test_a_long_url_is_cut_in_lists_and_whole_on_its_page(alice: FlaskClient, world: World) -> None:
    url = f"{USUAL}/{'x' * 1900}/end-of-it"
    webhook = hooks.subscribe(world, url)
    for page in (alice.get(at(world)).text, alice.get(f"{world.acme}/audit").text):
        assert "x" * 200 not in re.sub(r' title="[^"]*"', "", page)
    assert "end-<wbr>of-<wbr>it" in alice.get(at(world)).text
    assert "x" * 1900 in re.sub(r' title="[^"]*"', "", alice.get(at(world, webhook)).text)


def test_charlie_and_audrey_see_nothing_of_it(app: Flask, charlie: FlaskClient, world: World) -> None:
    webhook = hooks.subscribe(world, USUAL)
    delivery_id = given_up(world, webhook)[0]
    theirs = f"/accounts/{world.other_account_id}/webhooks"
    for address in (at(world, webhook), f"{theirs}/{webhook}", f"{theirs}/{webhook}/deliveries/{delivery_id}"):
        assert charlie.get(address).status_code == 404
    audrey = worlds.sign_in(app, "Audrey")
    assert audrey.get(at(world)).status_code == 403
    overview = audrey.get(world.acme).text
    assert "Webhook deliveries" not in overview and "/webhooks" not in overview


def test_the_overview_shows_the_health_of_deliveries_once_there_is_a_webhook(alice: FlaskClient, world: World) -> None:
    assert "Webhook deliveries" not in alice.get(world.acme).text
    webhook = hooks.subscribe(world, USUAL)
    assert "Nothing sent yet" in alice.get(world.acme).text
    given_up(world, webhook, 3)
    hooks.happen(world, 2)
    page = visible(alice.get(world.acme).text)
    assert "Success rate in 24 hours 0% Failing Given up 3 Waiting now 2" in page
