"""Four languages: a person changes the language of the screens, and it stays."""

from __future__ import annotations

import re

import pytest
from babel.support import Translations
from playwright.sync_api import expect

from core.i18n import LANGUAGES, TRANSLATIONS, to_locale
from tests.browser.conftest import Open
from tests.browser.live import Live


def in_language(sentence: str, language: str) -> str:
    """What the catalogue of a language says for a sentence, which must be something of its own."""
    said = str(Translations.load(str(TRANSLATIONS), [to_locale(language)]).gettext(sentence))
    assert language == "en" or said != sentence, f"{sentence!r} is not translated into {language}"
    return said


def test_bob_goes_on_in_french(live: Live, open_page: Open) -> None:
    page = open_page("Bob")
    page.goto(f"{live.acme}/campaigns")
    expect(page.get_by_role("heading", level=1)).to_have_text("Campaigns")
    page.locator("summary", has_text="Bob").first.click()
    page.get_by_role("link", name="Français").first.click()
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    expect(page.get_by_role("heading", level=1)).to_have_text(in_language("Campaigns", "fr"))
    page.goto(live.acme)
    expect(page.locator("html")).to_have_attribute("lang", "fr")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_browsers_own_language_is_spoken(live: Live, open_page: Open, language: str) -> None:
    page = open_page("Bob", locale=language)
    page.goto(f"{live.acme}/campaigns")
    expect(page.locator("html")).to_have_attribute("lang", language)
    expect(page.get_by_role("heading", level=1)).to_have_text(in_language("Campaigns", language))


def test_a_filter_is_kept_when_the_language_changes(live: Live, open_page: Open) -> None:
    page = open_page("Bob")
    page.goto(f"{live.acme}/campaigns?q=spring")
    page.locator("summary", has_text="Bob").first.click()
    page.get_by_role("link", name="Español").first.click()
    expect(page).to_have_url(re.compile("q=spring"))
    expect(page.get_by_role("searchbox")).to_have_value("spring")
    expect(page.locator("html")).to_have_attribute("lang", "es")


TURNED = "A\u202egnp.exe"
# Where a word of the element begins and ends on the screen.
SPAN_OF = """(element, word) => {
  const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const at = node.data.indexOf(word);
    if (at < 0) continue;
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + word.length);
    const {left, right} = range.getBoundingClientRect();
    return [left, right];
  }
}"""


def test_a_name_that_turns_what_follows_turns_nothing_but_itself(live: Live, open_page: Open) -> None:
    page = open_page("Alice")
    page.goto(f"{live.new_campaign(TURNED)}/edit")
    page.get_by_label("Name").fill("Calm name")
    page.get_by_role("button", name="Save changes").click()
    expect(page.get_by_role("heading", name="Calm name")).to_be_visible()
    page.goto(f"{live.acme}/audit")
    change = page.locator("#audit-log tbody tr", has_text="Calm name").first.locator("li")
    before, after = (change.evaluate(SPAN_OF, word) for word in ("gnp.exe", "Calm"))
    assert before[1] < after[0], "the change reads from the left"
    page.goto(f"{live.acme}/contacts/new")
    page.get_by_label("E-mail").fill("turned@example.com")
    page.get_by_label("First name").fill(TURNED)
    page.get_by_role("button", name="Create contact").click()
    toast = page.locator("#alerts p")
    name, end = (toast.evaluate(SPAN_OF, word) for word in ("gnp.exe", "now"))
    assert name[1] < end[0], "the sentence reads on behind the name"
