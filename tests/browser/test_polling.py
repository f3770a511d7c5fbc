"""Parts of a page that ask for themselves again: they take nothing away from whoever reads, filters or listens."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from core import clock
from core.db import db, transaction
from domain.events.delivery import DeliveryAttempt
from tests.browser.conftest import Open
from tests.browser.live import Live
from tests.jobs import hooks
from tests.pages.webhooks import rows
from tests.world import World

USUAL = "https://hooks.example.com/"
SAID = "#live-region"


@pytest.fixture
def apart(live: Live) -> World:
    """Charlie's account, where no other journey has webhooks."""
    return World(live.world.other_account_id, live.world.other_campaign_id, "", "")


@pytest.fixture
def webhook(live: Live, apart: World) -> Iterator[str]:
    """Fifty deliveries that were given up, and three that wait: the webhook is switched off."""
    with live.app.app_context():
        made = hooks.subscribe(apart, USUAL)
        rows.given_up(apart, made, 50)
        rows.kept_waiting(apart, made, 3)
        yield made
        hooks.change(apart, made, "delete")
        db.session.remove()


@pytest.mark.parametrize("asked", ["state=queued", "before="])
def test_what_is_asked_of_the_log_wins_over_its_polls(
    live: Live, open_page: Open, apart: World, webhook: str, asked: str
) -> None:
    page = opened(open_page("Charlie"), live.base + rows.at(apart, webhook))
    table = page.locator("#delivery-log tbody tr")
    expect(table).to_have_count(50)
    held: list[Route] = []
    page.route(re.compile(asked), lambda route: held.append(route), times=1)
    with page.expect_request(re.compile(asked)):
        if asked == "before=":
            page.get_by_role("link", name="Older").click()
        else:
            page.get_by_role("combobox", name="State").select_option("queued")
    page.clock.run_for(6_000)
    page.wait_for_timeout(500)  # a poll that goes out would be answered by now
    held[0].continue_()
    expect(table).to_have_count(3)
    expect(page).to_have_url(re.compile(asked))
    answered_again(page)
    expect(table).to_have_count(3)


@pytest.mark.parametrize("place", ["#log-form-all", "#given-up", "#waiting", "#deliveries"])
def test_the_focus_stays_where_it_is_in_the_log(
    live: Live, open_page: Open, apart: World, webhook: str, place: str
) -> None:
    page = opened(open_page("Charlie"), live.base + rows.at(apart, webhook))
    page.locator(place).focus()
    rows.kept_waiting(apart, webhook)
    polled(page, "#delivery-log", 5)
    expect(page.locator(place)).to_be_focused()


@pytest.mark.parametrize("place", ["#copy-body", "#download-body", "#attempts-table"])
def test_what_is_selected_and_focused_stays_while_a_delivery_waits(
    live: Live, open_page: Open, apart: World, webhook: str, place: str
) -> None:
    delivery = next(each for each in hooks.rows(webhook) if each.state == "queued")
    tried(delivery.id)
    page = opened(open_page("Charlie"), live.base + rows.at(apart, webhook, "deliveries", delivery.id))
    page.locator("#body").evaluate("body => getSelection().selectAllChildren(body)")
    page.locator(place).focus()
    tried(delivery.id, 2)
    polled(page, "#delivery", 2)
    expect(page.locator(place)).to_be_focused()
    assert delivery.id in page.evaluate("getSelection().toString()")


def test_a_poll_that_brings_nothing_new_leaves_the_table_alone(
    live: Live, open_page: Open, apart: World, webhook: str
) -> None:
    page = opened(open_page("Charlie"), live.base + rows.at(apart, webhook))
    page.locator("#delivery-log th code").first.evaluate("code => getSelection().selectAllChildren(code)")
    page.wait_for_timeout(1_100)  # the tokens of the page's forms are of another second from now on
    answered_again(page)
    assert page.evaluate("getSelection().toString()") == "campaign.updated"
    rows.kept_waiting(apart, webhook)
    polled(page, "#delivery-log", 5)
    expect(page.locator("#waiting")).to_contain_text("4")


def test_the_list_is_read_aloud_when_it_says_something_else(
    live: Live, open_page: Open, apart: World, webhook: str
) -> None:
    one = hooks.subscribe(apart, f"{USUAL}one", "campaign.created")
    other = hooks.subscribe(apart, f"{USUAL}other", "campaign.status.changed")
    rows.given_up(apart, one, name="campaign.created")
    page = opened(open_page("Charlie"), live.base + rows.at(apart))
    stands = page.locator("#webhooks .notice")
    before = stands.inner_text()
    answered(page, 10)
    expect(page.locator("#webhooks [role=alert]")).to_have_count(0)
    page.clock.run_for(1_000)
    expect(page.locator(SAID)).to_have_text("")
    rows.given_up(apart, other, name="campaign.status.changed")
    polled(page, "#webhooks", 10)
    expect(stands).not_to_have_text(before)
    expect(page.locator(SAID)).to_have_text(stands.inner_text())
    for each in (one, other):
        hooks.change(apart, each, "delete")


def test_a_lost_connection_is_told_until_it_is_back_and_takes_no_message_away(
    live: Live, browser: Browser, apart: World
) -> None:
    context = browser.new_context(locale="en-GB", base_url=live.base)  # not watched: it is cut off on purpose
    context.add_cookies([live.cookie_of("Charlie")])
    page = opened(context.new_page(), f"{live.base}{apart.acme}/webhooks/new")
    page.get_by_label("URL").fill(USUAL)
    page.get_by_label("user.profile.updated").check()
    page.get_by_role("button", name="Register").click()
    message, trouble = page.get_by_text("The webhook is registered."), page.get_by_text("The server cannot be reached.")
    expect(message).to_be_visible()
    log = page.url
    page.route(log, lambda route: route.abort())
    page.clock.run_for(6_000)
    expect(trouble).to_be_visible()
    page.unroute(log)
    answered(page, 5)
    expect(trouble).to_be_hidden()
    expect(message).to_be_visible()
    context.close()


def opened(page: Page, url: str) -> Page:
    """The page, with a clock of its own that makes its polls go out when the journey wants them."""
    page.clock.install()
    page.goto(url)
    return page


def polled(page: Page, part: str, seconds: int) -> None:
    """One poll of this part has gone out and what it brought, which is something new, is in its place."""
    page.locator(part).evaluate("part => part.setAttribute('data-before', '')")
    page.clock.run_for((seconds + 1) * 1000)
    expect(page.locator(f"{part}[data-before]")).to_have_count(0)


def answered_again(page: Page) -> None:
    """Two polls of a log were answered; what the first of them brought, if anything, is in its place."""
    for _ in range(2):
        answered(page, 5)


def answered(page: Page, seconds: int) -> None:
    with page.expect_response(lambda answer: answer.url == page.url):
        page.clock.run_for((seconds + 1) * 1000)


def tried(delivery_id: str, number: int = 1) -> None:
    """The delivery has an attempt (more) behind it."""
    with transaction():
        db.session.add(
            DeliveryAttempt(
                delivery_id=delivery_id, round=1, number=number, at=clock.now_ms(), milliseconds=12, status=500,
                error="BAD_STATUS", answer=b"",
            )
        )  # fmt: skip
