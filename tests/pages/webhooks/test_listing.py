"""The list of webhooks with their health, who sees it, and registering one."""

from __future__ import annotations

import html
import threading
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from contract.webhooks import WebhookRegister
from core import vault
from core.db import db, transaction
from core.ids import new_id
from domain.events import subscription
from domain.events.audit import COMMAND_LINE
from domain.events.catalogue import CATALOGUE
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
        ({"secret": "not-quite-16"}, "Use 16 to 256 characters."),
    ],
)
def test_a_mistake_stands_at_its_field_and_only_the_secret_is_not_kept(
    alice: FlaskClient, world: World, fields: dict[str, Any], sentence: str
) -> None:
    values = {"url": OPEN, "events": ["campaign.updated"], "secret": SECRET, **fields}
    answer = send(alice, at(world, "new"), **values)
    assert answer.status_code == 400
    assert sentence in visible(answer.text)
    assert values["secret"] not in answer.text
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
    assert "Success rate in 24 hours 0% Failing Given up in 24 hours 3 Waiting now 2" in page
