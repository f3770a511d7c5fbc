"""Sending on request: a test, and again what was given up."""

from __future__ import annotations

import html

from flask.testing import FlaskClient
from sqlalchemy import select

from core import clock
from core.db import db
from domain.events.catalogue import EVENTS
from domain.events.delivery import Delivery
from jobs import deliveries
from tests.jobs import hooks
from tests.jobs.hooks import SECRET
from tests.pages.form import send
from tests.pages.webhooks.rows import USUAL, at, form_key, given_up, only, state_of
from tests.servers.receiver import Receiver
from tests.world import World


def test_a_test_arrives_and_its_page_tells_everything_but_the_secret(
    alice: FlaskClient, world: World, listener: Receiver
) -> None:
    webhook = hooks.subscribe(world, listener.url)
    page = send(alice, at(world, webhook, "test"), page=at(world, webhook))
    assert "A test is on its way." in page.text
    assert deliveries.drain() == 1
    got = listener.got[0]
    shown = alice.get(page.request.path).text
    assert html.escape(got.body.decode(), quote=True) in shown.replace("&#34;", "&quot;")
    assert "Accepted" in shown and "webhook.test" in shown and ">ok<" in shown
    for name, value in got.headers.items():
        if "signature" not in name:
            assert value in html.unescape(shown), name
        else:
            assert value not in shown and name in shown.lower()
    assert SECRET not in shown
    assert alice.get(f"{page.request.path}/body.json").data == got.body
    listed = alice.get(at(world)).text
    assert "Healthy" in listed and "100%" in listed


def test_a_test_pressed_twice_is_one(alice: FlaskClient, world: World, listener: Receiver) -> None:
    webhook = hooks.subscribe(world, listener.url)
    key = form_key(alice.get(at(world, webhook)).text)
    pages = [send(alice, at(world, webhook, "test"), page=at(world, webhook), form_key=key) for _ in range(2)]
    assert pages[0].request.path == pages[1].request.path
    assert all("A test is on its way." in page.text for page in pages)
    assert deliveries.drain() == 1
    late = send(alice, at(world, webhook, "test"), page=at(world, webhook), form_key=key)
    assert "The form was sent twice, and sent this test once." in late.text and "Accepted" in late.text
    next_key = form_key(alice.get(at(world, webhook)).text)
    other = send(alice, at(world, webhook, "test"), page=at(world, webhook), form_key=next_key)
    assert other.request.path != late.request.path
    assert deliveries.drain() == 1 and len(listener.got) == 2


def test_an_inactive_webhook_refuses_a_test(alice: FlaskClient, world: World) -> None:
    webhook = hooks.subscribe(world, USUAL)
    page = send(alice, at(world, webhook, "activity"), page=at(world, webhook), active="0")
    assert "The webhook is inactive" in page.text and not only(world).is_active
    answer = send(alice, at(world, webhook, "test"), page=at(world, webhook))
    assert "The webhook is inactive. Activate it first." in answer.text
    assert db.session.scalars(select(Delivery)).all() == []
    send(alice, at(world, webhook, "activity"), page=at(world, webhook), active="1")
    assert only(world).is_active


def test_a_delivery_that_was_given_up_is_sent_again_under_its_id(
    alice: FlaskClient, world: World, listener: Receiver
) -> None:
    webhook = hooks.subscribe(world, listener.url)
    delivery_id = given_up(world, webhook)[0]
    here = at(world, webhook, "deliveries", delivery_id)
    assert "keeps its id" in send(alice, f"{here}/again", page=here).text and state_of(delivery_id) == "exhausted"
    send(alice, f"{here}/again", page=here, confirmed="1")
    twice = send(alice, f"{here}/again", page=here, confirmed="1").text
    assert "This delivery is on its way again." in twice and "given up can be" not in twice
    deliveries.drain()
    assert listener.ids == [delivery_id] and state_of(delivery_id) == "accepted"
    again = send(alice, f"{here}/again", page=here, confirmed="1")
    assert "Only a delivery that was given up can be sent again." in again.text
    assert "round 2" in again.text


def test_a_selection_is_sent_again(alice: FlaskClient, world: World) -> None:
    webhook = hooks.subscribe(world, USUAL)
    ids = given_up(world, webhook, 3)
    here = at(world, webhook)
    assert "Tick the deliveries" in send(alice, f"{here}/again", page=here).text
    asked = send(alice, f"{here}/again", page=here, chosen=ids[:2])
    assert "Send 2 deliveries again?" in asked.text and all(each in asked.text for each in ids[:2])
    page = send(alice, f"{here}/again", page=here, chosen=ids[:2], confirmed="1")
    assert "2 deliveries are sent again." in page.text
    assert [state_of(each) for each in ids] == ["queued", "queued", "exhausted"]
    twice = send(alice, f"{here}/again", page=here, chosen=ids[:2], confirmed="1").text
    assert "they are on their way again, or have arrived" in twice


def test_a_time_range_is_sent_again_once_its_number_was_seen(alice: FlaskClient, world: World) -> None:
    webhook = hooks.subscribe(world, USUAL)
    inside = given_up(world, webhook, 2, created_at=clock.instant("2026-01-05T10:30Z") + 59_000)
    outside = given_up(world, webhook)
    here = at(world, webhook)
    span = {"since": "2026-01-05T10:00", "until": "2026-01-05T10:30"}

    def sent(**fields: str) -> str:
        return send(alice, f"{here}/again/range", page=here, **{**span, **fields}).text

    assert "Enter both times" in sent(until="") and "must come after" in sent(until="2026-01-05T09:00")
    empty = sent(since="", until="")
    assert empty.index('id="again-since-error"') < empty.index("Enter both times")
    assert "again-since-error" not in alice.get(here).text, "nothing was sent yet"
    assert "There is no event" in sent(event="no.event")
    assert "Nothing was given up in that time." in sent(event="campaign.created")
    longest = max(EVENTS, key=len)
    chosen = sent(event=longest, until="2026-01-05T09:00").partition('id="range"')[2]
    assert f'<option value="{longest}" selected>' in chosen
    answer = send(alice, f"{here}/again/range", page=here, follow=False, **{**span, "until": "2026-01-05T09:00"})
    assert answer.location.endswith("#again-until")
    wrong = sent(until="2026-01-05T09:00")
    assert wrong.index('id="range"') < wrong.index('id="again-until-error"'), "in the card of the form"
    assert 'aria-invalid="true" aria-describedby="again-until-error"' in wrong
    kept = sent(until="2026-01-05T10:01")
    assert "Nothing was given up" in kept and 'value="2026-01-05T10:01"' in kept
    assert "Send 2 deliveries again?" in sent()
    assert "2 deliveries are sent again." in sent(confirmed="1")
    assert [state_of(each) for each in inside + outside] == ["queued", "queued", "exhausted"]


def test_what_an_inactive_webhook_is_sent_again_waits_and_the_page_says_so(alice: FlaskClient, world: World) -> None:
    webhook = hooks.subscribe(world, USUAL)
    ids = given_up(world, webhook, 3)
    hooks.change(world, webhook, "set_active", False)
    here = at(world, webhook)
    one = send(alice, f"{here}/deliveries/{ids[0]}/again", page=here, confirmed="1").text
    assert "1 delivery waits: it is sent once this webhook is active again." in one and "is sent again." not in one
    more = send(alice, f"{here}/again", page=here, chosen=ids[1:], confirmed="1").text
    assert "2 deliveries wait: they are sent once this webhook is active again." in more
    assert [state_of(each) for each in ids] == ["queued"] * 3
