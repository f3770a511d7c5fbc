"""The `'` before formulas, both ways."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outbound.spreadsheets import guard_formula, strip_formula_guard


@pytest.mark.parametrize(
    ("text", "guarded"),
    [
        ("=1+1", "'=1+1"),
        ("+33 6 12 34", "'+33 6 12 34"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("-", "'-"),
        ("-5\n", "'-5\n"),
        ("-٣", "'-٣"),
        ("'=1", "''=1"),
        ("''=1", "'''=1"),
        ("-5", "-5"),
        ("+3.25e-7", "+3.25e-7"),
        ("-.5", "-.5"),
        ("'-5", "'-5"),
        ("'tis", "'tis"),
        ("a=1", "a=1"),
        ("", ""),
        ("'", "'"),
    ],
)
def test_a_formula_gets_its_guard_and_loses_it_again(text: str, guarded: str) -> None:
    assert guard_formula(text) == guarded
    assert strip_formula_guard(guarded) == text


@given(st.one_of(st.text(), st.text(alphabet="'=+-@\t\r0123456789.eE a\n")))
def test_every_text_comes_back_as_it_was(text: str) -> None:
    assert strip_formula_guard(guard_formula(text)) == text


@given(st.text(alphabet="'=+-@\t\r019.e a"))
def test_no_guarded_text_starts_as_a_formula(text: str) -> None:
    guarded = guard_formula(text)
    if guarded.startswith(("=", "+", "-", "@", "\t", "\r")):
        float(guarded)
