"""A file becomes a roster in the browser: columns, dry run, progress, report, and back again."""

from __future__ import annotations

import csv
import io
import re
import time
from contextlib import suppress

import pytest
from playwright.sync_api import Error, Locator, Page, expect

from tests.browser import axe
from tests.browser.conftest import PATIENCE_MS, Open
from tests.browser.live import Live

PEOPLE = 50_000
SMALL = """E-mail;Prénom;Langue
zoe@exemple.test;Zoé;fr
rui@exemplo.test;Rui;pt-BR
not an address;Nobody;fr
ana@ejemplo.test;Ana;klingon
"""


def test_alice_imports_many_people_while_a_bar_moves(live: Live, open_page: Open) -> None:
    page = open_page("Alice")
    campaign = live.new_campaign("Fifty thousand")
    upload(page, campaign, "people.csv", many(PEOPLE))
    expect(page.get_by_label("Read “first name” as")).to_have_value(re.compile("first", re.IGNORECASE))
    page.get_by_role("button", name="Check the rows").click()
    apply = page.get_by_role("button", name="Apply to the roster")
    while_it_moves(page, apply)
    expect(tile(page, "New")).to_contain_text(f"{PEOPLE:,}")
    axe.check(page)
    apply.click()
    seen = while_it_moves(page, page.get_by_role("link", name="Download the report"))
    assert seen == sorted(seen), f"the bar went back: {seen}"
    assert len(set(seen)) > 1, f"the bar stood still: {seen}"
    page.get_by_role("link", name="To the roster").click()
    expect(page.locator("#roster-table")).to_contain_text(f"{PEOPLE:,} people")


def test_a_report_says_what_became_of_each_row_and_the_import_is_taken_back(live: Live, open_page: Open) -> None:
    page = open_page("Alice")
    campaign = live.new_campaign("A report", people=1)
    upload(page, campaign, "gens.csv", SMALL.encode("cp1252"))
    expect(page.get_by_text("Zoé").first).to_be_visible()  # the encoding was found
    axe.check(page)
    page.get_by_role("button", name="Check the rows").click()
    expect(tile(page, "New")).to_contain_text("3")
    expect(tile(page, "Refused")).to_contain_text("1")
    tile(page, "Refused").click()
    expect(page.get_by_text("not an address")).to_be_visible()
    page.get_by_role("button", name="Apply to the roster").click()
    report = page.get_by_role("link", name="Download the report")
    expect(report).to_be_visible()
    axe.check(page)
    with page.expect_download() as downloading:
        report.click()
    lines = list(csv.DictReader(io.StringIO(downloading.value.path().read_text("utf-8-sig"))))
    assert [line["outcome"] for line in lines] == ["created", "created", "refused", "created"]
    assert lines[3]["notice"], "the language that nobody knows is noticed, and refuses nothing"
    page.get_by_role("button", name="Take the import back").click()
    page.get_by_role("dialog", name="Are you sure?").get_by_role("button", name="Take it back").click()
    expect(page.get_by_text("This import was taken back")).to_be_visible()
    page.goto(f"{campaign}/roster")
    expect(page.locator("#roster-table tbody tr")).to_have_count(1)


def test_a_file_that_cannot_be_read_is_refused_at_its_field(live: Live, open_page: Open) -> None:
    page = open_page("Alice")
    upload(page, live.new_campaign("Not a table"), "people.csv", b"\x89PNG\r\n\x1a\n" + bytes(200))
    expect(page.get_by_label("File")).to_have_attribute("aria-invalid", "true")
    axe.check(page)


def test_a_file_is_dropped_on_its_place(live: Live, open_page: Open) -> None:
    page = open_page("Alice")
    page.goto(f"{live.new_campaign('A dropped file')}/import")
    drop(page, "photo.png", "no table")
    field = page.get_by_label("File", exact=True)
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description(re.compile("Save it as CSV or xlsx"))
    expect(page.locator("#live-region")).to_contain_text("Save it as CSV or xlsx")
    axe.check(page)
    drop(page, "gens.csv", SMALL)
    expect(field).not_to_have_attribute("aria-invalid", "true")
    expect(page.locator(".field-error")).to_be_hidden()
    expect(page.locator("[data-file-name]")).to_have_text("gens.csv")
    expect(page.locator("#live-region")).to_contain_text("gens.csv")
    axe.check(page)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", name="gens.csv")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("button", name="Upload")).to_be_visible()
    drop(page, "again.csv", SMALL)
    expect(page.locator("[data-file-name]")).to_have_text("again.csv")


@pytest.mark.parametrize(
    ("language", "sizes"),
    [
        ("en", ("1 byte", "40 bytes", "1.2 kB")),
        ("fr", ("1 octet", "40 octets", "1,2 ko")),
        ("es", ("1 byte", "40 bytes", "1,2 kB")),
        ("pt-BR", ("1 byte", "40 bytes", "1,2 kB")),
    ],
)
def test_the_size_of_a_file_is_said_in_words_of_the_reader(
    live: Live, open_page: Open, language: str, sizes: tuple[str, ...]
) -> None:
    page = open_page("Alice")
    page.goto(f"{live.new_campaign('Sizes')}/import?lang={language}")
    for length, size in zip((1, 40, 1234), sizes, strict=True):
        drop(page, "people.csv", "a" * length)
        expect(page.locator("[data-file-size]")).to_have_text(size)


@pytest.mark.parametrize(
    ("names", "told"), [(("old.xls",), "old Excel format"), (("a.csv", "b.csv"), "Choose one file at a time")]
)
def test_what_cannot_be_imported_is_told_before_it_is_sent(
    live: Live, open_page: Open, names: tuple[str, ...], told: str
) -> None:
    page = open_page("Alice")
    page.goto(f"{live.new_campaign('Refused at once')}/import")
    drop(page, *names, SMALL)
    expect(page.locator(".field-error")).to_contain_text(told)
    assert page.get_by_label("File", exact=True).evaluate("field => field.files.length") == 0


def test_a_file_dropped_beside_its_place_does_not_take_the_page_away(live: Live, open_page: Open) -> None:
    page = open_page("Alice")
    page.goto(f"{live.new_campaign('Beside')}/import")
    assert drop(page, "gens.csv", SMALL, at="h1"), "the browser would have opened the file"
    assert page.get_by_label("File", exact=True).evaluate("field => field.files.length") == 0


def test_the_place_of_a_file_is_reached_and_seen_by_keyboard(live: Live, open_page: Open) -> None:
    page = open_page("Alice")
    page.on("filechooser", lambda _chooser: None)  # asked for early: a press may come before the browser hears of it
    page.goto(f"{live.new_campaign('By keyboard')}/import")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.type") == "file":
            break
    assert page.locator(".file-drop").evaluate("place => getComputedStyle(place).outlineStyle") == "solid"
    with page.expect_file_chooser() as choosing:
        page.keyboard.press("Space")
    choosing.value.set_files({"name": "gens.csv", "mimeType": "text/csv", "buffer": SMALL.encode()})
    expect(page.locator("[data-file-name]")).to_have_text("gens.csv")


def test_a_file_is_imported_without_scripts(live: Live, open_page: Open) -> None:
    page = open_page("Alice", java_script_enabled=False)
    campaign = live.new_campaign("Plain file")
    upload(page, campaign, "gens.csv", SMALL.encode("utf-8"))
    page.get_by_role("button", name="Check the rows").click()
    come_back_until(page, "Apply to the roster")
    page.get_by_role("button", name="Apply to the roster").click()
    come_back_until(page, "Download the report")
    page.goto(f"{campaign}/roster")
    expect(page.locator("#roster-table tbody tr")).to_have_count(3)


def while_it_moves(page: Page, done: Locator) -> list[float]:
    """Look at the bar until the page has moved on; it may take its time as long as it goes on. What the bar said."""
    seen: list[float] = []
    told, since = "", time.monotonic()
    while not done.is_visible():
        with suppress(Error):  # the page moves on by itself
            seen += page.evaluate("[...document.querySelectorAll('progress')].map((bar) => bar.value / bar.max)")
            says = page.locator("#import-progress .spread").inner_text(timeout=1_000)
            told, since = says, since if says == told else time.monotonic()
        assert time.monotonic() - since < PATIENCE_MS / 1000, f"nothing moves any more: {told}"
        page.wait_for_timeout(100)
    return seen


def upload(page: Page, campaign: str, name: str, content: bytes) -> None:
    page.goto(f"{campaign}/import")
    page.get_by_label("File").set_input_files({"name": name, "mimeType": "text/csv", "buffer": content})
    page.get_by_role("button", name="Upload").click()


def drop(page: Page, *names_and_content: str, at: str = ".file-drop") -> bool:
    """Drag files of these names and one content over the page and let them go; whether the page took the event."""
    dropped: bool = page.evaluate(DROP, [at, list(names_and_content[:-1]), names_and_content[-1]])
    return dropped


DROP = """([at, names, content]) => {
    const held = new DataTransfer(), place = document.querySelector(at);
    names.forEach(name => held.items.add(new File([content], name)));
    const send = type => place.dispatchEvent(
        new DragEvent(type, {bubbles: true, cancelable: true, dataTransfer: held}));
    send("dragover");
    return !send("drop");
}"""


def come_back_until(page: Page, words: str) -> None:
    """What a person does without scripts: look again."""
    for _ in range(60):
        if page.get_by_text(words).first.is_visible():
            return
        page.wait_for_timeout(250)
        page.goto(page.url)
    raise AssertionError(f"{page.url} never said {words!r}")


def tile(page: Page, label: str):
    return page.locator(".tiles > *", has=page.get_by_text(label, exact=True))


def many(count: int) -> bytes:
    """A CSV of that many people."""
    languages = ("fr", "es", "pt-BR", "en", "")
    lines = (f"many{n}@example.com,Given{n},Family{n},{languages[n % 5]},Team {n % 7}" for n in range(count))
    return "\n".join(["email,first name,last name,language,team", *lines, ""]).encode()
