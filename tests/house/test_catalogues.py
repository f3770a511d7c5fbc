"""The catalogues hold every sentence of the screens, in every language, with its placeholders and plurals."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

from core.i18n import LANGUAGES, TRANSLATIONS, to_locale
from tests.house import sources
from tests.house.sources import listed

LOCALES = [to_locale(language) for language in LANGUAGES]
TRANSLATED = [locale for locale in LOCALES if locale != "en"]
PLACEHOLDER = re.compile(r"%\(\w+\)[sdfr]|%%")
TAG = re.compile(r"</?\w+[^>]*>")


def read(path: Path, locale: str | None = None) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=locale)


def catalogue(locale: str) -> Catalog:
    return read(TRANSLATIONS / locale / "LC_MESSAGES" / "messages.po", locale)


def ids(found: Catalog) -> set[Any]:
    """What is to be translated: a sentence, or the pair of singular and plural."""
    return {(message.context, message.id) for message in found if message.id}


@pytest.fixture(scope="module")
def extracted(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """The sentences that stand in the sources now, found as `make catalogues` finds them."""
    target = tmp_path_factory.mktemp("catalogues") / "messages.pot"
    command = [
        *(str(Path(sys.executable).with_name("pybabel")), "--quiet", "extract"),
        *("--mapping-file", "translations/babel.cfg", "--keywords", "lazy_gettext", "--keywords", "lazy_ngettext:1,2"),
        *("--keywords", "lazy", "--output-file", str(target), "."),
    ]
    env = {**os.environ, "PYTHONPATH": "."}  # one of the extractors is ours
    ran = subprocess.run(command, cwd=sources.ROOT, env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return read(target)


def test_the_template_holds_what_the_sources_say(extracted: Catalog) -> None:
    kept, said = ids(read(TRANSLATIONS / "messages.pot")), ids(extracted)
    found = [f"new: {what}" for what in sorted(said - kept, key=repr)]
    found += [f"gone: {what}" for what in sorted(kept - said, key=repr)]
    assert not found, "run `make catalogues`; " + listed(found)


@pytest.mark.parametrize("locale", LOCALES)
def test_each_catalogue_holds_the_sentences_of_the_template(locale: str) -> None:
    wanted, held = ids(read(TRANSLATIONS / "messages.pot")), ids(catalogue(locale))
    found = [f"missing: {what}" for what in sorted(wanted - held, key=repr)]
    found += [f"too many: {what}" for what in sorted(held - wanted, key=repr)]
    found += [f"obsolete: {message.id}" for message in catalogue(locale).obsolete.values()]
    assert not found, listed(found)


@pytest.mark.parametrize("locale", TRANSLATED)
def test_nothing_is_left_untranslated(locale: str) -> None:
    found = [f"fuzzy: {message.id}" for message in messages(locale) if message.fuzzy]
    found += [f"empty: {message.id}" for message in messages(locale) if not all(forms(message))]
    assert not found, listed(found)


@pytest.mark.parametrize("locale", TRANSLATED)
def test_plurals_have_every_form_of_the_language(locale: str) -> None:
    wanted = catalogue(locale).num_plurals
    found = [
        f"{message.id}: {len(forms(message))} forms, {wanted} wanted"
        for message in messages(locale)
        if message.pluralizable and len(forms(message)) != wanted
    ]
    assert not found, listed(found)


@pytest.mark.parametrize("locale", TRANSLATED)
def test_placeholders_and_tags_are_kept(locale: str) -> None:
    found = [
        f"{source!r} became {form!r}"
        for message in messages(locale)
        for source, form in pairs(message)
        if form and not same_marks(source, form, message.pluralizable)
    ]
    assert not found, listed(found)


@pytest.mark.parametrize("locale", LOCALES)
def test_every_sentence_can_be_filled_in(locale: str) -> None:
    """A bare `%` breaks the page that says it."""
    found = [form for message in messages(locale) for form in forms(message) if not can_be_filled_in(form)]
    assert not found, listed(found)


def can_be_filled_in(sentence: str) -> bool:
    try:
        sentence % defaultdict(int)
    except (TypeError, ValueError):
        return False
    return True


@pytest.mark.parametrize("locale", TRANSLATED)
def test_a_sentence_ends_as_its_source_does(locale: str) -> None:
    """A label stays a label, a question a question; spaces around are part of how pieces are put together."""
    found = [
        f"{source!r} became {form!r}"
        for message in messages(locale)
        for source, form in pairs(message)
        if form and (ending(source) != ending(form) or edges(source) != edges(form))
    ]
    assert not found, listed(found)


def messages(locale: str) -> Iterator[Message]:
    return (message for message in catalogue(locale) if message.id)


def forms(message: Message) -> list[str]:
    return list(message.string) if isinstance(message.string, list | tuple) else [message.string]


def pairs(message: Message) -> list[tuple[str, str]]:
    """Each translated form beside the source that it stands for."""
    if not isinstance(message.id, list | tuple):
        return [(message.id, forms(message)[0])]
    return [(message.id[min(number, 1)], form) for number, form in enumerate(forms(message))]


def same_marks(source: str, form: str, pluralizable: bool) -> bool:
    wanted, held = set(PLACEHOLDER.findall(source)), set(PLACEHOLDER.findall(form))
    if pluralizable:  # "1 person" may name the number or write it out
        wanted, held = wanted - {"%(num)s", "%(num)d"}, held - {"%(num)s", "%(num)d"}
    return wanted == held and sorted(TAG.findall(source)) == sorted(TAG.findall(form))


def ending(sentence: str) -> str:
    last = sentence.strip()[-1:]
    return last if last in ".:?!…" else ""


def edges(sentence: str) -> tuple[bool, bool]:
    return sentence[:1].isspace(), sentence[-1:].isspace()
