"""The log of deliveries, and the page of each."""

from __future__ import annotations

import html
import re

from flask.testing import FlaskClient

from core import clock
from tests.jobs import hooks
from tests.pages.form import send
from tests.pages.webhooks.rows import OPEN, USUAL, at, given_up, state_of
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
    assert found("since=2026-01-05T10:30&until=2026-01-05T10:30") == {old}
    assert found("until=2026-01-05T10:29") == set()
    page = alice.get(f"{here}?state=broken&event=no.event&since=yesterday&until=9999-99-99").text
    assert page.count("tone-warning") >= 4 and "no date and time" in page


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
    assert "Anything but a 2xx counts as a failure." in page
    assert "no &lt;b&gt;room&lt;/b&gt;␀" in page and "192.0.2.1" in page


def test_a_delivery_is_found_under_its_own_webhook_alone(alice: FlaskClient, world: World) -> None:
    mine, other = hooks.subscribe(world, USUAL), hooks.subscribe(world, OPEN, "file.uploaded")
    delivery_id = given_up(world, mine)[0]
    assert alice.get(at(world, other, "deliveries", delivery_id)).status_code == 404
    again = at(world, other, "deliveries", delivery_id, "again")
    assert send(alice, again, page=at(world), confirmed="1").status_code == 404
    send(alice, at(world, other, "again"), page=at(world), chosen=[delivery_id], confirmed="1")
    assert state_of(delivery_id) == "exhausted"
