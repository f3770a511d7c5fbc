"""A token is minted in the console, used by another program over HTTP, and ended."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from typing import Any

from playwright.sync_api import expect

from tests.browser import axe
from tests.browser.conftest import Open
from tests.browser.live import Live


def test_olga_mints_a_token_and_another_system_upserts_and_lists_with_it(live: Live, open_page: Open) -> None:
    page = open_page("Olga")
    page.goto("/console/api-credentials")
    page.get_by_role("link", name="Mint a token").first.click()
    page.get_by_label("Label").fill("Payroll")
    page.get_by_label("participants:read", exact=True).check()
    page.get_by_label("participants:write", exact=True).check()
    page.get_by_role("button", name="Mint the token").click()
    expect(page.get_by_text("Acme")).to_be_visible()
    expect(page.locator("fieldset.has-error")).to_be_visible()  # a token that reaches no account is refused
    expect(page.get_by_label("participants:write", exact=True)).to_be_checked()
    axe.check(page)
    page.get_by_label("Acme", exact=True).check()
    page.get_by_role("button", name="Mint the token").click()
    secret = page.get_by_label("Token", exact=True)
    expect(secret).to_have_value(re.compile(r"^(asr|aio)_[0-9a-f]+\.[0-9a-f]+$"))
    token = secret.input_value()
    axe.check(page)
    page.reload()
    assert token not in page.content()

    campaign = live.new_campaign("Payroll's").rsplit("/", 1)[1]
    people = f"{live.base}{live.world.v2}/campaigns/{campaign}/participants"
    status, created = call(
        people, token, {"email": "Pia@Example.com", "language": "pt-BR", "metadata": {"team": "Red"}}
    )
    assert (status, created["meta"]["created"]) == (201, True)
    status, again = call(people, token, {"email": "pia@example.com", "metadata": {"team": None, "site": "Recife"}})
    assert (status, again["meta"]["created"]) == (200, False)
    assert again["data"]["participantId"] == created["data"]["participantId"]
    assert again["data"]["metadata"] == {"site": "Recife"}
    status, listed = call(people, token)
    assert (status, [each["email"] for each in listed["data"]]) == (200, ["pia@example.com"])

    alice = open_page("Alice")
    alice.goto(f"{live.acme}/campaigns/{campaign}/roster")
    expect(alice.get_by_label("Language of pia@example.com")).to_have_value("pt-BR")

    page.goto("/console/api-credentials")
    row = page.get_by_role("row", name=re.compile("Payroll"))
    row.get_by_role("button", name=re.compile("Revoke")).click()
    page.get_by_role("dialog", name="Are you sure?").get_by_role("button", name=re.compile("Revoke")).click()
    expect(page.get_by_role("row", name=re.compile("Payroll"))).to_contain_text(re.compile("[Rr]evoked"))
    assert call(people, token)[0] == 401


def call(url: str, token: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
    """One call as another program makes it."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode() if body else None, headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)
