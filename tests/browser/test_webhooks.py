"""A webhook in the browser: registered, tested, failing, sent again, rotated; and what its receiver can check."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from blueprints.admin.webhooks import receiver as kit
from core.db import db
from tests.browser import axe
from tests.browser.conftest import Open
from tests.browser.live import Live
from tests.jobs import hooks
from tests.pages.webhooks import rows
from tests.servers.receiver import Receiver, receiver

# In the viewport, and under no bar that sticks to its top.
IS_IN_SIGHT = """element => {
  const {x, y, width, height} = element.getBoundingClientRect();
  return element.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}"""


@pytest.fixture
def listener() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


def test_alice_registers_a_webhook_and_sees_its_test_arrive(live: Live, open_page: Open, listener: Receiver) -> None:
    page = open_page("Alice")
    page.goto(f"{live.acme}/webhooks/new")
    page.get_by_label("URL").fill("ftp://hooks.example.com/")
    page.get_by_role("button", name="Register").click()
    expect(page.locator("#url-error")).to_contain_text("must start with https:// or http://")
    expect(page.locator("#events-error")).to_contain_text("Choose at least one event.")
    axe.check(page)
    page.get_by_label("URL").fill(listener.url)
    page.get_by_role("group", name="Campaigns").get_by_label("All of this group").check()
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_text("The webhook is registered.")).to_be_visible()
    axe.check(page)
    send_a_test(page)
    expect(page.locator("#delivery")).to_contain_text("Accepted")  # by itself
    assert [got.headers["x-service-event"] for got in listener.got] == ["webhook.test"]
    expect(page.locator("#body")).to_have_text(listener.got[0].body.decode())
    axe.check(page)
    live.new_campaign("Told of")
    page.get_by_role("link", name="Deliveries").click()
    expect(page.locator("#delivery-log")).to_contain_text("campaign.created")
    page.get_by_role("combobox", name="Event").first.select_option("webhook.test")
    expect(page.locator("#delivery-log tbody tr")).to_have_count(1)
    assert "event=webhook.test" in page.url


def test_what_is_pressed_again_before_the_answer_is_done_once(live: Live, open_page: Open, listener: Receiver) -> None:
    page = open_page("Alice")
    fill_in(live, page, listener.url)
    press_unanswered(page, "#register")
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_text("The form was sent twice, and registered this webhook once.")).to_be_visible()
    log = page.url
    press_unanswered(page, "form[action$='/test']")
    page.get_by_role("button", name="Send a test").click()
    expect(page.locator("#delivery")).to_contain_text("Accepted")
    page.goto(f"{live.acme}/webhooks")
    expect(page.get_by_role("link", name=listener.url, exact=True)).to_have_count(1)
    page.goto(log)
    expect(page.locator("#delivery-log tbody tr")).to_have_count(1)
    expect(page.get_by_role("button", name="Send the ticked ones again")).to_be_hidden()


def test_what_was_given_up_is_ticked_and_sent_again_under_its_id(
    live: Live, open_page: Open, listener: Receiver
) -> None:
    listener.answer = lambda got: 500 if got.json["event"] == "webhook.test" else 200
    page = open_page("Alice")
    register(live, page, listener.url)
    log = page.url
    send_a_test(page)
    expect(page.get_by_text("The receiver answered with an error: 500")).to_be_visible()
    expect(page.get_by_role("button", name="Send again")).to_be_visible()
    axe.check(page)
    page.goto(log)
    tick = page.get_by_role("checkbox", name=re.compile("Select dlv_"))
    tick.check()
    with live.app.app_context():
        hooks.happen(live.world, name="user.profile.updated")
    expect(page.locator("#delivery-log")).to_contain_text("user.profile.updated")  # by itself
    expect(tick).to_be_checked()
    listener.answer = lambda got: 200
    page.get_by_role("button", name="Send the ticked ones again").click()
    expect(page.get_by_role("dialog", name="Are you sure?")).to_contain_text("Send 1 delivery again?")
    page.get_by_role("dialog", name="Are you sure?").get_by_role("button", name="Send again").click()
    expect(page.get_by_text("1 delivery is sent again.")).to_be_visible()
    expect(page.locator("#delivery-log tr", has_text="webhook.test")).to_contain_text("Accepted")
    tests = [got.json["id"] for got in listener.got if got.json["event"] == "webhook.test"]
    assert len(tests) == 4 and len(set(tests)) == 1
    page.goto(f"{live.acme}")
    expect(page.get_by_role("heading", name="Webhook deliveries")).to_be_visible()


def test_a_rotated_secret_is_copied_once_and_verifies_what_comes(
    live: Live, open_page: Open, listener: Receiver
) -> None:
    page = open_page("Alice")
    register(live, page, listener.url)
    log = page.url
    page.get_by_text("More").click()
    page.get_by_role("button", name="Give it a secret").click()
    page.get_by_role("dialog", name="Are you sure?").get_by_role("button", name="Rotate").click()
    shown = page.get_by_label("Secret", exact=True)
    expect(shown).to_have_value(re.compile("^whsec_"))
    secret = shown.input_value()
    axe.check(page)
    page.goto(log)
    assert secret not in page.content()
    send_a_test(page)
    expect(page.locator("#delivery")).to_contain_text("Accepted")
    assert secret not in page.content()
    got, code = listener.got[0], dict[str, Any]()
    exec(kit.sample("python"), code)
    assert code["is_genuine"](secret, got.headers, got.body)

    page.goto(f"{live.acme}/webhooks/receiver")
    check(page, "\n".join(f"{name}: {value}" for name, value in got.headers.items()), got.body.decode(), secret)
    expect(page.locator("#findings")).to_contain_text("Signature V2 fits")
    expect(page.locator("#findings")).to_be_focused()
    assert secret not in page.content()
    axe.check(page)
    check(page, page.get_by_role("textbox", name="Headers").input_value(), got.body.decode() + " ", secret)
    expect(page.locator("#findings")).to_contain_text("other space at its ends")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_webhook_is_deleted_once_the_consequence_was_read(live: Live, open_page: Open, scripts: bool) -> None:
    with live.app.app_context():
        webhook = hooks.subscribe(live.world, "https://hooks.example.com/gone")
        page = open_page("Bob", java_script_enabled=scripts)
        page.goto(live.base + rows.at(live.world, webhook))
        rows.kept_waiting(live.world, webhook)  # after the page was opened
        db.session.remove()
    page.get_by_text("More").click()
    page.get_by_role("button", name="Delete the webhook").click()
    expect(page.get_by_text("1 delivery that waits is cancelled. This cannot be taken back.")).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("is deleted. Its log stays.")).to_be_visible()


def test_a_phone_offers_to_select_all_where_something_was_given_up(live: Live, open_page: Open) -> None:
    with live.app.app_context():
        webhook = hooks.subscribe(live.world, "https://hooks.example.com/phone")
        rows.given_up(live.world, webhook)
        rows.kept_waiting(live.world, webhook)
        db.session.remove()
    page = open_page("Alice", viewport={"width": 390, "height": 844})
    page.goto(live.base + rows.at(live.world, webhook))
    head = page.locator("#deliveries th.tight")
    expect(head).to_be_visible()
    page.get_by_role("combobox", name="State").select_option("queued")
    expect(head).to_be_hidden()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_what_is_wrong_with_a_time_range_stands_in_sight_at_its_field(
    live: Live, open_page: Open, listener: Receiver, scripts: bool
) -> None:
    page = open_page("Alice", java_script_enabled=scripts)
    register(live, page, listener.url)
    page.locator("#again-since").fill("2026-01-05T12:00")
    page.locator("#again-until").fill("2026-01-05T11:00")
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("#again-until-error")).to_have_text("The end must come after the start.")
    expect(page.locator("#again-until")).to_be_focused()  # the page has moved there by now
    for each in ("#again-until", "#again-until-error"):
        assert page.locator(each).evaluate(IS_IN_SIGHT), each
    expect(page.locator("#again-until")).to_have_accessible_description("The end must come after the start.")
    expect(page.locator("#again-since")).to_have_value("2026-01-05T12:00")


def test_deleted_webhooks_are_turned_page_by_page(live: Live, open_page: Open) -> None:
    with live.app.app_context():
        for number in range(21):
            hooks.change(live.world, hooks.subscribe(live.world, f"https://hooks.example.com/{number}"), "delete")
        db.session.remove()
    page = open_page("Alice")
    page.goto(f"{live.acme}/webhooks")
    gone = page.locator("#deleted a[href*='/whk_']")
    expect(gone).to_have_count(20)
    page.get_by_role("link", name="Next page").click()
    expect(gone).not_to_have_count(20)
    assert gone.count() >= 1 and "page=2" in page.url


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_secret_beside_a_mistake_is_asked_for_again_and_not_lost_in_silence(
    live: Live, open_page: Open, scripts: bool
) -> None:
    page = open_page("Alice", java_script_enabled=scripts)
    fill_in(live, page, "ftp://hooks.example.com/")
    page.get_by_label("Secret").fill("a secret that was typed")
    page.get_by_role("button", name="Register").click()
    expect(page.locator("#url")).to_have_value("ftp://hooks.example.com/")
    expect(page.get_by_label("user.profile.updated")).to_be_checked()
    expect(page.locator("#secret")).to_have_value("")
    expect(page.locator("#secret")).to_have_accessible_description(re.compile("Enter the secret again"))


def test_a_long_filter_and_a_long_url_make_no_page_wide(live: Live, open_page: Open, listener: Receiver) -> None:
    page = open_page("Alice")
    register(live, page, f"{listener.url}/{'x' * 1900}")
    log = page.url
    for address in (log, f"{log}?event={'y' * 10_000}", f"{live.acme}/webhooks", f"{live.acme}/audit"):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, address


def fill_in(live: Live, page: Page, url: str) -> None:
    page.goto(f"{live.acme}/webhooks/new")
    page.get_by_label("URL").fill(url)
    page.get_by_label("user.profile.updated").check()


def register(live: Live, page: Page, url: str) -> None:
    fill_in(live, page, url)
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_text("The webhook is registered.")).to_be_visible()


def press_unanswered(page: Page, form: str) -> None:
    """Send a form as it stands; the page does not see the answer."""
    page.eval_on_selector(form, "form => fetch(form.action, {method: 'POST', body: new FormData(form)}).then(() => 0)")


def send_a_test(page: Page) -> None:
    page.get_by_role("button", name="Send a test").click()
    expect(page.get_by_text("A test is on its way.").first).to_be_visible()


def check(page: Page, headers: str, body: str, secret: str) -> None:
    page.get_by_role("textbox", name="Headers").fill(headers)
    page.get_by_role("textbox", name="Body").first.fill(body)
    page.locator("#field-secret").fill(secret)
    page.get_by_role("button", name="Check").click()
