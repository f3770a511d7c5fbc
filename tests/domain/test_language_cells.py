"""Language cells as people write them (contract 3, Import; B.5)."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.i18n import LANGUAGES
from domain.messages.language import from_cell

CODES = {"en": "en", "fr": "fr", "es": "es", "pt": "pt-BR"}


@pytest.mark.parametrize(
    ("cell", "language"),
    [
        ("fr-CA", "fr"),
        ("FR", "fr"),
        ("es_419", "es"),
        ("en-GB", "en"),
        ("pt", "pt-BR"),
        ("PT_br", "pt-BR"),
        ("Portuguese", "pt-BR"),
        ("Português (Brasil)", "pt-BR"),
        ("portugais", "pt-BR"),
        ("inglés", "en"),
        ("INGLÊS", "en"),
        ("Français", "fr"),
        ("francés", "fr"),
        ("Español", "es"),
        ("espagnol", "es"),
        ("  anglais  ", "en"),
    ],
)
def test_a_language_is_read_as_people_write_it(cell: str, language: str) -> None:
    assert from_cell(cell) == language


@pytest.mark.parametrize("cell", ["pt-PT", "nl-BE", "klingon", "", "-", "f", "frfr", "fr-", "e n", "1", "français?"])
def test_an_unknown_spelling_is_no_language(cell: str) -> None:
    assert from_cell(cell) is None


@given(st.text())
def test_any_text_is_one_of_the_four_or_nothing(cell: str) -> None:
    assert from_cell(cell) in (*LANGUAGES, None)


@given(
    st.sampled_from(["en", "fr", "es"]),
    st.sampled_from(["-", "_"]),
    st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=2, max_size=2),
    st.booleans(),
)
def test_any_region_of_a_language_is_that_language(code: str, between: str, region: str, upper: bool) -> None:
    cell = f"{code}{between}{region}"
    assert from_cell(cell.upper() if upper else cell) == CODES[code]


@given(st.sampled_from(["English", "français", "Español", "portugues", "fr-CA"]), st.randoms())
def test_case_and_surrounding_spaces_do_not_matter(cell: str, random: Random) -> None:
    mixed = "".join(char.upper() if random.random() < 0.5 else char.lower() for char in cell)
    assert from_cell(f"  {mixed}\t") == from_cell(cell)
