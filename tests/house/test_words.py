"""No word of a screen escapes translation: with a catalogue that marks every sentence, nothing unmarked is left."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from babel.messages.pofile import read_po
from babel.support import NullTranslations
from flask_babel import Domain

from core.db import Model, db
from core.i18n import NATIVE_NAMES, TRANSLATIONS
from domain.events.catalogue import EVENTS
from tests.house.page_lint import VOID
from tests.house.sources import listed
from tests.house.visits import Walk, each, one_database

pytestmark = one_database

READ_ALOUD = ("aria-label", "alt", "title", "placeholder", "data-confirm", "data-confirm-button", "data-announce")
# Names that no language changes, and what stands in code.
NAMES = {
    "Assessor",
    "API",
    "CSV",
    "UTC",
    "CSS",
    "xlsx",
    "JSON",
    "MB",
    "UTF",
    "https",
    "Python",
    "Node",
    "PHP",
    "Go",
    "email",
    "first_name",
    *NATIVE_NAMES.values(),
}
CODE = ("code", "pre", "script", "style", "template")
WORD = re.compile(r"[^\W\d_]{2,}")
EVENT = re.compile("|".join(rf"(?<![\w.]){re.escape(name)}(?![\w.])" for name in EVENTS))
SCOPE = re.compile(r"\b[a-z]+(:[a-z]+)+…?")
# Dates come from the calendar of the language, not from the catalogues.
DATE = re.compile(r"\b[A-Z][a-z]{2} \d{1,2}, \d{4}(, \d{1,2}:\d{2}:\d{2}\s[AP]M)?")


class Marking(NullTranslations):
    """A catalogue in which every sentence stands in brackets, and that knows what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[str] = set()

    def ugettext(self, message: str) -> str:
        self.asked.add(message)
        return f"⟦{message}⟧"

    def ungettext(self, singular: str, plural: str, number: int) -> str:
        self.asked.add(singular)
        return f"⟦{singular if number == 1 else plural}⟧"

    def upgettext(self, _context: str, message: str) -> str:
        return self.ugettext(message)

    def unpgettext(self, _context: str, singular: str, plural: str, number: int) -> str:
        return self.ungettext(singular, plural, number)


class Words(HTMLParser):
    """Every text of a page that a person reads or hears, code left out."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(html.replace("<wbr>", ""))  # where a word may break it is one word still

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.texts += [value for name, value in attrs if name in READ_ALOUD and value]
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if not set(CODE) & set(self._open):
            self.texts.append(data)


def test_every_sentence_of_every_screen_can_be_translated(walk: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Domain, "get_translations", lambda _self: Marking())
    stored = re.compile("|".join(rf"(?<!\w){re.escape(text)}(?!\w)" for text in _stored_texts()))
    failures: dict[str, str] = {}
    for visit in each(walk, lambda visit: visit.is_page and visit.rule.rule != "/developers"):
        answer = walk.go(visit.people_who_pass()[0], visit)
        if answer.mimetype != "text/html" or answer.status_code != 200:
            continue
        for text in Words(answer.text).texts:
            left = _unmarked(text, stored)
            if left:
                failures.setdefault(left, f"{visit} says {left!r}")
    assert not failures, listed(list(failures.values()))


def test_every_sentence_that_a_screen_asks_for_is_in_the_catalogue(walk: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    marking = Marking()
    monkeypatch.setattr(Domain, "get_translations", lambda _self: marking)
    for visit in each(walk, lambda visit: visit.is_page):
        walk.go(visit.people_who_pass()[0], visit)
    with (TRANSLATIONS / "messages.pot").open("rb") as template:
        kept = {each.id[0] if isinstance(each.id, tuple) else each.id for each in read_po(template)}
    assert not marking.asked - kept, listed(sorted(marking.asked - kept))


def _unmarked(text: str, stored: re.Pattern[str]) -> str:
    """What of a text is neither marked, nor stored by people, nor a name that stays as it is."""
    outside = ""
    depth = 0
    for character in text:
        depth += (character == "⟦") - (character == "⟧")
        outside += character if depth == 0 and character != "⟧" else ""
    outside = SCOPE.sub("", EVENT.sub("", DATE.sub("", outside)))
    words = [word for word in WORD.findall(stored.sub("", outside)) if word not in NAMES]
    return " ".join(outside.split()) if words else ""


def _stored_texts() -> list[str]:
    """Every text in the database, the longest first."""
    found: set[str] = set(NATIVE_NAMES.values())
    for table in Model.metadata.sorted_tables:
        for row in db.session.execute(table.select()):
            for value in row:
                found |= set(_texts(value))
    db.session.rollback()
    return sorted((text for text in found if len(text) > 1), key=len, reverse=True)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value, *value.splitlines()]
    if isinstance(value, dict):
        return [text for each in (*value, *value.values()) for text in _texts(each)]
    return [text for each in value for text in _texts(each)] if isinstance(value, list | tuple) else []
