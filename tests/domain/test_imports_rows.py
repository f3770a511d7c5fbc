"""Rows of a file become bodies and outcomes: the rules of contract 3, Import, without a database."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Refused
from domain.campaigns import roster
from domain.campaigns.imports import LastRows, PlannedRow, RowReader, chunks, columns, plan
from domain.campaigns.imports.plan import tally


class Row(NamedTuple):
    number: int
    cells: list[str]
    refused: str | None = None
    extra: tuple[str, ...] = ()


def planned(
    header: list[str],
    *cells: list[str],
    stored: dict[str, dict[str, Any]] | None = None,
    mapping: list[str] | None = None,
) -> list[PlannedRow]:
    """The plan of a whole small file."""
    rows = [Row(number, each) for number, each in enumerate(cells, start=2)]
    return plan_of(header, rows, stored, mapping)


def plan_of(
    header: list[str],
    rows: list[Row],
    stored: dict[str, dict[str, Any]] | None = None,
    mapping: list[str] | None = None,
) -> list[PlannedRow]:
    reader, last = RowReader(header, mapping or columns.suggest(header, [], None)), LastRows()
    reader.note(rows, last)
    return plan([reader.read(row, last) for row in rows], stored or {})


def person(**values: Any) -> dict[str, Any]:
    return {**roster.NOBODY, **values}


def codes(row: PlannedRow) -> list[str]:
    return [notice.code for notice in row.notices]


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("E-Mail", "email"),
        ("e_mail address", "email"),
        ("Courriel", "email"),
        ("Correo electrónico", "email"),
        ("First_Name", "first_name"),
        ("PRÉNOM", "first_name"),
        ("LAST NAME", "last_name"),
        ("Sobrenome", "last_name"),
        ("lang", "language"),
        ("Locale", "language"),
        ("emailLanguage", "language"),
        ("Preferred-Language", "language"),
        ("Idioma", "language"),
        ("Phone", "ignore"),
        ("", "ignore"),
    ],
)
def test_headers_match_without_case_spaces_and_dashes(name: str, target: str) -> None:
    assert columns.meaning(name) == target


def test_a_column_of_addresses_is_found_by_its_cells() -> None:
    assert columns.suggest(["Who", "Contact"], [["Ana", "ana@example.com"]], None) == ["ignore", "email"]


def test_a_file_without_an_email_column_is_refused() -> None:
    with pytest.raises(Refused, match="NO_EMAIL_COLUMN"):
        columns.suggest(["name", "lang"], [["Ana", "fr"]], None)


def test_a_mapping_without_email_or_with_a_key_of_ours_is_refused() -> None:
    with pytest.raises(Refused, match="EMAIL_COLUMN_REQUIRED"):
        columns.check(["email"], ["ignore"])
    with pytest.raises(Refused, match="KEY_IS_OURS"):
        columns.check(["email", "takerLink"], ["email", "metadata"])
    with pytest.raises(Refused, match="COLUMN_HAS_NO_NAME"):
        columns.check(["email", ""], ["email", "segment"])


def test_of_two_language_columns_the_first_that_is_not_empty_counts() -> None:
    first, second = planned(["email", "lang", "locale"], ["a@example.com", "", "es"], ["b@example.com", "fr", "es"])
    assert first.given == {"email": "a@example.com", "language": "es"} and not first.notices
    assert second.given == {"email": "b@example.com", "language": "fr"} and codes(second) == ["SET_ASIDE"]


def test_a_blank_cell_leaves_alone_and_a_dash_clears() -> None:
    stored = {"a@example.com": person(first_name="Ana", last_name="Souza", language="fr")}
    (row,) = planned(["email", "first name", "last name", "lang"], ["A@Example.com", "", "-", "-"], stored=stored)
    assert row.given == {"email": "a@example.com", "lastName": None, "language": None}
    assert row.outcome == "updated"
    assert row.changes["last_name"] == ["Souza", None] and "first_name" not in row.changes


def test_an_unrecognised_language_never_fails_the_row() -> None:
    stored = {"old@example.com": person(language="es")}
    new, old = planned(["email", "lang"], ["new@example.com", "nl-BE"], ["old@example.com", "pt-PT"], stored=stored)
    assert (new.outcome, new.given, codes(new)) == ("created", {"email": "new@example.com"}, ["LANGUAGE_UNKNOWN"])
    assert (old.outcome, codes(old)) == ("unchanged", ["LANGUAGE_UNKNOWN"])
    assert old.notices[0].params == {"value": "pt-PT"} and old.notices[0].column == 1


def test_of_one_address_twice_the_later_row_wins() -> None:
    first, other, last = planned(["email"], ["A@example.com"], ["b@example.com"], [" a@EXAMPLE.com".strip()])
    assert (first.outcome, first.given, codes(first)) == ("unchanged", None, ["LATER_ROW"])
    assert first.notices[0].params == {"row": 4}
    assert other.outcome == last.outcome == "created"


def test_a_later_row_that_is_refused_does_not_win() -> None:
    rows = [Row(2, ["a@example.com"]), Row(3, ["a@example.com"], "NUL_IN_ROW")]
    kept, refused = plan_of(["email"], rows)
    assert kept.outcome == "created" and not kept.notices
    assert refused.outcome == "refused" and codes(refused) == ["NUL_IN_ROW"]


def test_a_bad_address_and_a_long_name_refuse_their_row_alone() -> None:
    rows = planned(
        ["email", "first name"], ["nobody", "X"], ["", "Y"], ["a@example.com", "n" * 201], ["b@example.com", ""]
    )
    assert [row.outcome for row in rows] == ["refused", "refused", "refused", "created"]
    assert [codes(row) for row in rows] == [["EMAIL_INVALID"], ["EMAIL_MISSING"], ["NAME_TOO_LONG"], []]


def test_cells_beyond_the_header_are_named_and_ignored() -> None:
    (row,) = plan_of(["email"], [Row(2, ["a@example.com"], None, ("x", "y"))])
    assert row.outcome == "created" and codes(row) == ["EXTRA_CELLS"]


def test_metadata_and_segments_are_read_where_people_ask_for_them() -> None:
    stored = {"a@example.com": person(bag={"Site": "Lyon", "segments": {"Team": "A"}})}
    header, mapping = ["email", "Site", "Team"], ["email", "metadata", "segment"]
    (row,) = planned(header, ["a@example.com", "-", "B"], stored=stored, mapping=mapping)
    assert row.given == {"email": "a@example.com", "metadata": {"Site": None}, "segments": {"Team": "B"}}
    assert row.changes["bag"][1] == {"segments": {"Team": "B"}}


def test_the_51st_metadata_key_refuses_the_row() -> None:
    stored = {"a@example.com": person(bag={f"k{n}": n for n in range(50)})}
    (row,) = planned(["email", "Site"], ["a@example.com", "x"], stored=stored, mapping=["email", "metadata"])
    assert row.outcome == "refused" and codes(row) == ["TOO_MANY_METADATA_KEYS"]


CELLS = st.text(alphabet="abAB@. -éñ'=", max_size=8) | st.sampled_from(["a@example.com", "b@example.com", "fr", "-"])


@given(st.lists(st.lists(CELLS, min_size=4, max_size=4), max_size=30))
def test_every_row_has_one_outcome_and_the_counts_sum(cells: list[list[str]]) -> None:
    rows = planned(["email", "first name", "lang", "locale"], *([cell.strip() for cell in row] for row in cells))
    counts = tally(rows)
    assert counts["created"] + counts["updated"] + counts["unchanged"] + counts["refused"] == len(cells)
    addresses = [row.given["email"] for row in rows if row.given is not None]
    assert len(addresses) == len(set(addresses))
    assert chunks.unpack(chunks.pack(rows)) == rows


@given(st.lists(st.sampled_from([f"p{n}@example.com" for n in range(6)]), max_size=40))
def test_only_the_last_row_of_an_address_writes(addresses: list[str]) -> None:
    rows = planned(["email"], *([address] for address in addresses))
    last = {address: number for number, address in enumerate(addresses, start=2)}
    assert {row.number for row in rows if row.given is not None} == set(last.values())
    assert all(row.notices[0].params["row"] == last[row.cells[0]] for row in rows if row.given is None)


def test_memory_of_the_first_pass_is_flat() -> None:
    last = LastRows()
    for row in range(50_000):
        last.note(f"p{row}@example.com", row)
    assert len(last._last) < 500
