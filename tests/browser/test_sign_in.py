"""Signing in: with mistakes, by keyboard alone, and without scripts."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import axe
from tests.browser.conftest import Open
from tests.browser.live import Live
from tests.world import PASSWORD


def test_alice_signs_in_after_mistakes_and_out_again(live: Live, open_page: Open) -> None:
    page = open_page()
    page.goto(live.acme)
    expect(page).to_have_url(re.compile(r"/login\?next="))
    submit(page)
    expect(page.get_by_label("E-mail")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Password")).to_have_attribute("aria-invalid", "true")
    axe.check(page)
    sign_in(page, "alice@example.com", "not the password")
    expect(page.get_by_role("alert")).to_contain_text("The e-mail or the password is not correct")
    expect(page.get_by_label("E-mail")).to_have_value("alice@example.com")
    axe.check(page)
    sign_in(page, "alice@example.com", PASSWORD)
    expect(page).to_have_url(live.acme)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    leave(page)
    expect(page).to_have_url(re.compile(r"/login$"))
    page.goto(live.acme)
    expect(page).to_have_url(re.compile(r"/login\?next="))


def test_bob_signs_in_by_keyboard_alone(live: Live, open_page: Open) -> None:
    page = open_page()
    page.goto("/login")
    expect(page.get_by_label("E-mail")).to_be_focused()
    page.keyboard.type("bob@example.com")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Password")).to_be_focused()
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page).to_have_url(live.acme)
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#main$"))


def test_alice_signs_in_without_scripts(live: Live, open_page: Open) -> None:
    page = open_page(java_script_enabled=False)
    page.goto(live.acme)
    sign_in(page, "alice@example.com", "not the password")
    expect(page.get_by_text("The e-mail or the password is not correct")).to_be_visible()
    sign_in(page, "alice@example.com", PASSWORD)
    expect(page).to_have_url(live.acme)


def test_an_ended_session_leads_out_of_a_fragment_to_the_sign_in_page(live: Live, open_page: Open) -> None:
    page = open_page("Alice")
    page.goto(f"{live.acme}/campaigns")
    page.context.clear_cookies()
    page.get_by_role("searchbox").fill("spring")
    expect(page).to_have_url(re.compile("/login"))
    expect(page.get_by_label("E-mail")).to_be_visible()


@pytest.mark.parametrize("code", ["fr", "es", "pt-BR"])
def test_a_stranger_reads_the_sign_in_page_in_another_language(live: Live, open_page: Open, code: str) -> None:
    page = open_page()
    page.goto(f"/login?lang={code}")
    expect(page.locator("html")).to_have_attribute("lang", code)
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Sign in")
    page.goto("/login")  # the choice is remembered
    expect(page.locator("html")).to_have_attribute("lang", code)


def sign_in(page: Page, email: str, password: str) -> None:
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(password)
    submit(page)


def submit(page: Page) -> None:
    page.get_by_role("button", name="Sign in").click()


def leave(page: Page) -> None:
    """Sign out by the menu of the person."""
    page.locator("summary", has_text="Alice").first.click()
    page.get_by_role("button", name="Sign out").click()
