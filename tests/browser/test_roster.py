"""The roster in the browser: find, change, add, and remove people, with and without scripts, and by keyboard."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser import axe
from tests.browser.conftest import Open
from tests.browser.live import Live

PHONE = {"width": 390, "height": 844}


def test_bob_finds_people_and_the_address_keeps_what_he_asked(live: Live, open_page: Open) -> None:
    page = roster(open_page("Bob"), live.new_campaign("Finding", people=14))
    expect(rows(page)).to_have_count(14)
    page.get_by_role("searchbox").press_sequentially("Dolores")
    expect(rows(page)).to_have_count(2)
    expect(page).to_have_url(re.compile("q=Dolores"))
    page.get_by_label("Language", exact=True).select_option("es")
    expect(page).to_have_url(re.compile("language=es"))
    expect(rows(page)).to_have_count(2)
    page.reload()
    expect(page.get_by_role("searchbox")).to_have_value("Dolores")
    expect(rows(page)).to_have_count(2)
    page.get_by_role("searchbox").fill("nobody of that name")
    expect(page.get_by_text("Nobody fits")).to_be_visible()
    page.get_by_role("link", name="Clear filters").click()
    expect(rows(page)).to_have_count(14)


@pytest.mark.parametrize("scripts", [True, False])
def test_cards_on_a_phone_are_sorted_and_chosen_all_at_once(live: Live, open_page: Open, scripts: bool) -> None:
    page = open_page("Bob", viewport=PHONE, java_script_enabled=scripts)
    page.goto(f"{live.new_campaign('On a phone', people=12)}/roster?status=added&limit=25")
    choice = page.get_by_role("navigation", name="Sort by")
    expect(rows(page).first).to_contain_text("Aïcha Example 0")
    choice.get_by_role("link", name="Name").click()
    expect(rows(page).first).to_contain_text("Example 9")
    expect(page).to_have_url(re.compile(r"\?status=added&limit=25&sort=-name$"))
    expect(choice.get_by_role("link", name="Name descending")).to_have_attribute("aria-current", "true")
    choice.get_by_role("link", name="Language").click()
    expect(page).to_have_url(re.compile(r"sort=language$"))
    if scripts:
        expect(choice.get_by_role("link", name="Language ascending")).to_be_focused()
        page.get_by_label("Select everybody on this page").check()
        expect(page.get_by_text("12 rows selected")).to_be_visible()


def test_bob_changes_a_language_in_its_row(live: Live, open_page: Open) -> None:
    page = roster(open_page("Bob"), live.new_campaign("Inline", people=3))
    language = page.get_by_label("Language of Aïcha Example 0")
    with page.expect_response(re.compile("/language")):
        language.select_option("es")
    expect(page.get_by_text("Saved")).to_be_visible()
    expect(page.locator("#live-region")).to_contain_text("Aïcha")
    page.reload()
    expect(page.get_by_label("Language of Aïcha Example 0")).to_have_value("es")


def test_bob_adds_a_new_user_in_the_dialog_after_a_mistake(live: Live, open_page: Open) -> None:
    page = roster(open_page("Bob"), live.new_campaign("Adding", people=1))
    opener = page.get_by_role("link", name="Add participant")
    opener.click()
    dialog = page.get_by_role("dialog", name="Add participant")
    expect(dialog).to_be_visible()
    dialog.get_by_role("tab", name="New User").click()
    panel = dialog.locator("#add-new")
    expect(panel.get_by_label("Email language")).to_have_value("")
    panel.get_by_label("E-mail").fill("not an address")
    panel.get_by_label("First name").fill("Nadia")
    panel.get_by_role("button", name="Add to the roster").click()
    expect(panel.get_by_label("E-mail")).to_have_attribute("aria-invalid", "true")
    expect(panel.get_by_label("First name")).to_have_value("Nadia")
    axe.check(page)
    panel.get_by_label("E-mail").fill("Nadia@Example.com")
    panel.get_by_label("Email language").select_option("pt-BR")
    panel.get_by_role("button", name="Add to the roster").click()
    expect(page.get_by_role("alert").or_(page.get_by_role("status")).filter(has_text="Nadia")).to_be_visible()
    expect(rows(page)).to_have_count(2)
    expect(page.get_by_label("Language of Nadia")).to_have_value("pt-BR")
    expect(page.get_by_text("nadia@example.com")).to_be_visible()


def test_the_dialog_gives_the_focus_back(live: Live, open_page: Open) -> None:
    page = roster(open_page("Bob"), live.new_campaign("Focus", people=1))
    opener = page.get_by_role("link", name="Add participant")
    opener.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Add participant")
    expect(dialog.get_by_role("tab", name="New User")).to_be_visible()
    for _ in range(12):
        page.keyboard.press("Tab")
        is_inside = "document.activeElement === document.body || !!document.activeElement.closest('dialog')"
        assert page.evaluate(is_inside), "Tab left the open dialog"
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(opener).to_be_focused()


def test_bob_changes_many_at_once_and_removes_one(live: Live, open_page: Open) -> None:
    page = roster(open_page("Bob"), live.new_campaign("Many", people=5))
    page.get_by_label("Select everybody on this page").check()
    expect(page.get_by_text("5 rows selected")).to_be_visible()
    with_selection(page, "language:fr")
    axe.check(page)
    confirm(page)
    for name in ("Aïcha Example 0", "Cecília Example 2", "Émile Example 4"):
        expect(page.get_by_label(f"Language of {name}")).to_have_value("fr")
    page.get_by_label("Select Cecília Example 2").check()
    with_selection(page, "remove")
    confirm(page)
    expect(rows(page)).to_have_count(4)
    expect(page.get_by_label("Language of Cecília Example 2")).to_have_count(0)


def test_bob_removes_a_person_after_being_asked(live: Live, open_page: Open) -> None:
    page = roster(open_page("Bob"), live.new_campaign("Removal", people=2))
    page.get_by_role("link", name="Benoît Example 1").click()
    page.get_by_role("button", name="Remove from the roster").first.click()
    asked = page.get_by_role("dialog", name="Are you sure?")
    expect(asked.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Enter")
    expect(asked).to_be_hidden()
    page.get_by_role("button", name="Remove from the roster").first.click()
    asked.get_by_role("button", name="Remove from the roster").click()
    expect(page).to_have_url(re.compile("/roster"))
    expect(rows(page)).to_have_count(1)


def test_the_roster_is_walked_by_keyboard_alone(live: Live, open_page: Open) -> None:
    page = roster(open_page("Bob"), live.new_campaign("Keys", people=60))
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skip to the content
    seen = tab_until(page, "Search by name or e-mail")
    page.keyboard.type("Hélène")
    expect(page).to_have_url(re.compile(re.escape(quote("Hélène")) + "$"))
    expect(rows(page)).to_have_count(6)
    seen += tab_until(page, "Language of Hélène Example 7")
    with page.expect_response(re.compile("/language")):
        page.keyboard.type("Fr")
    expect(page.get_by_label("Language of Hélène Example 7")).to_be_focused()
    assert not any(seen), "\n".join(["the focus went where nothing shows it:", *filter(None, seen)])


def test_people_are_added_changed_and_removed_without_scripts(live: Live, open_page: Open) -> None:
    page = roster(open_page("Bob", java_script_enabled=False), live.new_campaign("Plain", people=1))
    page.get_by_role("link", name="Add participant").click()
    panel = page.locator("#add-new")
    panel.get_by_label("E-mail").fill("not an address")
    panel.get_by_role("button", name="Add to the roster").click()
    expect(panel.get_by_label("E-mail")).to_have_value("not an address")
    panel.get_by_label("E-mail").fill("plain@example.com")
    panel.get_by_role("button", name="Add to the roster").click()
    expect(rows(page)).to_have_count(2)
    page.get_by_label("Language of plain@example.com").select_option("es")
    page.get_by_role("button", name="Save Language of plain@example.com").click()
    expect(page.get_by_label("Language of plain@example.com")).to_have_value("es")
    page.get_by_label("Select plain@example.com").check()
    with_selection(page, "remove")
    confirm(page)
    expect(rows(page)).to_have_count(1)


def test_audrey_may_look_and_touch_nothing(live: Live, open_page: Open) -> None:
    page = roster(open_page("Audrey"), live.new_campaign("Looking", people=3))
    expect(rows(page)).to_have_count(3)
    for button in ("Add participant", "Remove from the roster", "Continue", "Import a file"):
        expect(page.get_by_role("button", name=button)).to_have_count(0)
        expect(page.get_by_role("link", name=button)).to_have_count(0)


def roster(page: Page, campaign: str) -> Page:
    page.goto(f"{campaign}/roster")
    return page


def rows(page: Page):
    return page.locator("#roster-table tbody tr")


def with_selection(page: Page, step: str) -> None:
    page.get_by_label("What to do with the selection").select_option(step)
    page.get_by_role("button", name="Continue").first.click()


def confirm(page: Page) -> None:
    """Say yes on the page that asks."""
    asked = page.locator("form", has=page.locator("input[name=confirmed]"))
    asked.get_by_role("button").first.click()


def tab_until(page: Page, label: str) -> list[str]:
    """Press Tab until the field of this label has the focus; for each stop, what it is if it does not show it."""
    seen = []
    for _ in range(80):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(HIDES_FOCUS))
        if page.evaluate(NAME_OF_FOCUS) == label:
            return seen
    raise AssertionError(f"Tab never came to {label}")


HIDES_FOCUS = """() => {
    const at = document.activeElement, style = getComputedStyle(at), box = at.getBoundingClientRect();
    const shows = box.width > 0 && (style.outlineStyle !== "none" || style.boxShadow !== "none");
    return shows ? "" : at.outerHTML.slice(0, 200);
}"""
NAME_OF_FOCUS = """() => {
    const at = document.activeElement;
    return at.getAttribute("aria-label") || (at.labels && at.labels[0] ? at.labels[0].textContent.trim() : "");
}"""
