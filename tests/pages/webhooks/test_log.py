"""The log of deliveries, and the page of each."""

from __future__ import annotations

import html
import re

from flask.testing import FlaskClient
from sqlalchemy import select

from core import clock
from core.db import db, transaction
from domain.events.audit import COMMAND_LINE
from domain.events.delivery import Delivery, DeliveryAttempt, refiring
from jobs import deliveries
from tests.jobs import hooks
from tests.pages.form import send
from tests.pages.webhooks.rows import OPEN, USUAL, at, given_up, state_of, visible
from tests.servers.receiver import Receiver
from tests.world import World


def test_the_log_is_filtered_by_its_address(alice: FlaskClient, world: World) -> None:
    webhook = hooks.subscribe(world, "https://hooks.example.com/", "campaign.updated", "campaign.created")
    old = given_up(world, webhook, created_at=clock.instant("2026-01-05T10:30Z"))[0]
    hooks.happen(world, name="campaign.created")
    new = next(row for row in hooks.rows(webhook) if row.id != old)
    here = at(world, webhook)

    def found(query: str) -> set[str]:
        page = alice.get(f"{here}?{query}", headers={"HX-Request": "true"}).text
        return set(re.findall(r'id="open-(dlv_\w+)"', page))

    assert found("") == {old, new.id}
    assert found("state=exhausted") == {old} and found("event=campaign.created") == {new.id}
    assert found(f"id={new.event_id}") == {new.id} and found(f"id={old}") == {old} and found("id=nonsense") == set()
    assert found(f"id=%20{old.upper()}") == {old}
    assert "is no id of a delivery" in alice.get(f"{here}?id={old[-8:]}").text
    assert "is no id of a delivery" not in alice.get(f"{here}?id={old}").text
    assert found("since=2026-01-05T10:30&until=2026-01-05T10:30") == {old}
    assert found("until=2026-01-05T10:29") == set()
    page = alice.get(f"{here}?state=broken&event=no.event&since=yesterday&until=9999-99-99").text
    assert page.count("tone-warning") >= 4 and "no date and time" in page
    for name in ("state", "event", "since"):
        page = alice.get(f"{here}?{name}={'x' * 10_000}").text
        assert "x" * 200 not in re.sub(r'(value|href|hx-get)="[^"]*"', "", page), "nothing makes the page wide"


def test_the_log_goes_by_keys(alice: FlaskClient, world: World) -> None:
    webhook = hooks.subscribe(world, USUAL)
    hooks.happen(world, 120)
    pages, url = [], at(world, webhook)
    for _ in range(3):
        page = alice.get(url).text
        pages.append(re.findall(r'id="open-(dlv_\w+)"', page))
        older = re.search(r'id="older" href="([^"]+)"', page)
        url = html.unescape(older[1]) if older else ""
    assert [len(page) for page in pages] == [50, 50, 20] and not url
    shown = [each for page in pages for each in page]
    assert shown == sorted(set(shown), reverse=True)
    back = re.search(r'id="newer" href="([^"]+)"', page)
    assert back and re.findall(r'id="open-(dlv_\w+)"', alice.get(html.unescape(back[1])).text) == pages[1]


def test_a_failed_delivery_says_what_to_check(alice: FlaskClient, world: World) -> None:
    webhook = hooks.subscribe(world, USUAL)
    delivery_id = given_up(world, webhook)[0]
    log, page = alice.get(at(world, webhook)).text, alice.get(at(world, webhook, "deliveries", delivery_id)).text
    assert "The receiver answered with an error: 500" in log
    assert "The receiver failed while it handled the delivery." in page
    assert "no &lt;b&gt;room&lt;/b&gt;␀" in page and "192.0.2.1" in page


def test_where_a_redirect_would_have_led_stands_with_its_attempt_as_text(
    alice: FlaskClient, world: World, listener: Receiver
) -> None:
    listener.answer, listener.location = lambda got: 301, "https://elsewhere.example.com/<b>?a=1"
    webhook = hooks.subscribe(world, listener.url)
    hooks.happen(world)
    deliveries.drain()
    page = alice.get(at(world, webhook, "deliveries", hooks.rows(webhook)[0].id)).text
    assert "It leads to: https://elsewhere.example.com/<b>?a=1" in visible(page.replace("<wbr>", ""))
    assert 'href="https://elsewhere' not in page and "/<b>" not in page and len(listener.got) == 1


def test_a_new_round_begins_without_the_error_of_the_last_one(alice: FlaskClient, world: World) -> None:
    webhook = hooks.subscribe(world, USUAL)
    delivery_id = given_up(world, webhook)[0]
    here = at(world, webhook, "deliveries", delivery_id)
    with transaction():
        refiring.refire(world.account_id, delivery_id, COMMAND_LINE)
    page = alice.get(here).text
    assert "Round 2: no attempt yet" in page and "The receiver answered with an error" in page
    assert "The receiver failed while it handled" not in page and 'class="notice tone-' not in page
    log = alice.get(at(world, webhook), headers={"HX-Request": "true"}).text.split('id="delivery-log"')[1]
    assert "Round 2, no attempt yet" in log and "answered with an error" not in log
    with transaction():
        db.session.get_one(Delivery, delivery_id).attempts = 1
    assert "Round 2: 1 attempt" in alice.get(here).text and "The receiver failed while" in alice.get(here).text


def test_an_attempt_tells_its_seconds_and_no_number_of_a_machine(alice: FlaskClient, world: World) -> None:
    webhook = hooks.subscribe(world, USUAL)
    delivery_id = given_up(world, webhook)[0]
    with transaction():
        attempt = db.session.scalars(select(DeliveryAttempt).where(DeliveryAttempt.delivery_id == delivery_id)).one()
        attempt.at = clock.instant("2026-01-05T10:30Z") + 7_000
    page = alice.get(at(world, webhook, "deliveries", delivery_id)).text
    assert "10:30:07" in page and str(attempt.at) not in page


def test_what_was_not_sent_yet_is_shown_at_one_time(alice: FlaskClient, world: World) -> None:
    webhook = hooks.subscribe(world, USUAL)
    hooks.happen(world)
    here = at(world, webhook, "deliveries", hooks.rows(webhook)[0].id)
    for _ in range(30):
        page = visible(alice.get(here).text)
        header, body, signed = (
            re.findall(rf"{where} ?(\d{{13}})", page) for where in ("X-Service-Timestamp", '"timestamp":', "t=")
        )
        assert header == body == signed and len(header) == 1


def test_a_body_that_is_not_shown_whole_is_downloaded_and_not_copied(alice: FlaskClient, world: World) -> None:
    webhook = hooks.subscribe(world, USUAL)
    for words, copies in (("short", 1), ("long " * 4000, 0)):
        hooks.happen(world, words=words)
        page = alice.get(at(world, webhook, "deliveries", hooks.rows(webhook)[-1].id)).text
        assert page.count('data-copy="#body"') == copies and page.count("/body.json") == 1


def test_a_page_that_asks_again_gets_the_request_once_it_was_sent(alice: FlaskClient, world: World) -> None:
    webhook = hooks.subscribe(world, USUAL)
    hooks.happen(world)
    delivery = hooks.rows(webhook)[0]
    here, htmx = at(world, webhook, "deliveries", delivery.id), {"HX-Request": "true"}
    again = html.unescape(re.findall(r'hx-get="([^"]+)"', alice.get(here).text)[0])
    assert 'id="delivery"' in alice.get(again, headers=htmx).text
    assert 'id="body"' not in alice.get(again, headers=htmx).text and 'id="body"' in alice.get(again).text
    with transaction():
        db.session.get_one(Delivery, delivery.id).last_sent_at = clock.now_ms()
    assert 'id="body"' in alice.get(again, headers=htmx).text


def test_a_delivery_is_found_under_its_own_webhook_alone(alice: FlaskClient, world: World) -> None:
    mine, other = hooks.subscribe(world, USUAL), hooks.subscribe(world, OPEN, "file.uploaded")
    delivery_id = given_up(world, mine)[0]
    assert alice.get(at(world, other, "deliveries", delivery_id)).status_code == 404
    again = at(world, other, "deliveries", delivery_id, "again")
    assert send(alice, again, page=at(world), confirmed="1").status_code == 404
    send(alice, at(world, other, "again"), page=at(world), chosen=[delivery_id], confirmed="1")
    assert state_of(delivery_id) == "exhausted"
