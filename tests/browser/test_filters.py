"""Filters in the browser: a bar that stays while its table is swapped offers the way back out of them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.live import Live


@pytest.mark.parametrize(
    ("screen", "label", "asked", "address"),
    [("campaigns", "Status", "draft", "status=draft"), ("audit", "Action", "campaign.created", "action=")],
)
def test_filters_are_cleared_once_htmx_has_filtered(
    live: Live, open_page: Open, screen: str, label: str, asked: str, address: str
) -> None:
    page = open_page("Alice")
    page.goto(f"{live.acme}/{screen}")
    clear, choice = page.get_by_role("link", name="Clear filters"), page.get_by_label(label, exact=True)
    expect(clear).to_be_hidden()
    choice.select_option(asked)
    expect(page).to_have_url(re.compile(address))
    expect(clear).to_be_visible()
    choice.select_option("")
    expect(page).to_have_url(f"{live.acme}/{screen}")
    expect(clear).to_be_hidden()
    choice.select_option(asked)
    clear.click()
    expect(page).to_have_url(f"{live.acme}/{screen}")
    expect(choice).to_have_value("")
