"""A row of a file becomes the body of an upsert, the same that the API takes (contract 3, Import). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from pydantic import ValidationError

from contract.participants import ParticipantUpsert
from core.addresses import as_address
from core.i18n import Language
from domain.messages import language

from . import columns

LONGEST_NAME = 200
CLEARING = "-"


class SourceRow(Protocol):
    """A record as the reader of files gives it: its cells are trimmed, their `'` before formulas taken off."""

    @property
    def number(self) -> int: ...
    @property
    def cells(self) -> list[str]: ...
    @property
    def refused(self) -> str | None: ...
    @property
    def extra(self) -> tuple[str, ...]: ...


class Notice(NamedTuple):
    """What a person should know of a row: `column` is the cell's place from 0, None for the whole row."""

    code: str
    column: int | None = None
    params: dict[str, Any] = {}


class ReadRow(NamedTuple):
    """A row understood: what it asks for as a body of the API, or why it writes nothing.

    `body` and `given` (the same, as plain JSON) are None for a row that is refused or that a later one replaces.
    """

    number: int
    cells: list[str]
    body: ParticipantUpsert | None
    given: dict[str, Any] | None
    notices: list[Notice]
    is_refused: bool = False


class LastRows:
    """Which address stands in a later row again. Holds a bit for each address, and the text of repeated ones alone."""

    BITS = 1 << 25

    def __init__(self) -> None:
        self._seen = bytearray(self.BITS // 8)
        self._last: dict[str, int] = {}

    def note(self, address: str, row: int) -> None:
        """Take notice of one row, in the order of the file."""
        place = hash(address) & (self.BITS - 1)
        byte, bit = place >> 3, 1 << (place & 7)
        # Two addresses may share a bit: then one is held in vain, and nothing else happens.
        if self._seen[byte] & bit:
            self._last[address] = row
        else:
            self._seen[byte] |= bit

    def after(self, address: str, row: int) -> int | None:
        """The last row of this address, if it comes after `row`."""
        last = self._last.get(address)
        return last if last is not None and last > row else None


class RowReader:
    """Reads the rows of one file by its mapping."""

    def __init__(self, header: Sequence[str], mapping: Sequence[str]) -> None:
        self.header = header
        found = columns.places(header, mapping)
        self._email = found[("email", "")]
        self._names = [
            (field, found[(target, "")])
            for target, field in (("first_name", "firstName"), ("last_name", "lastName"))
            if (target, "") in found
        ]
        self._language = found.get(("language", ""), [])
        self._metadata = [(key, at) for (target, key), at in found.items() if target == "metadata"]
        self._segments = [(key, at) for (target, key), at in found.items() if target == "segment"]
        self._name_cells = [place for _field, at in self._names for place in at]

    def note(self, rows: Iterable[SourceRow], last: LastRows) -> None:
        """The first pass: notes the address of every row that can be applied."""
        for row in rows:
            address = self.address(row)
            if address is not None:
                last.note(address, row.number)

    def address(self, row: SourceRow) -> str | None:
        """The address of a row that can be applied; None for one that is refused."""
        cells = row.cells
        if row.refused is not None:
            return None
        for place in self._name_cells:
            if len(cells[place]) > LONGEST_NAME:
                return None
        for place in self._email:
            if cells[place]:
                return as_address(cells[place])
        return None

    def read(self, row: SourceRow, last: LastRows) -> ReadRow:
        """One row: its body, or why there is none, and what has to be said about its cells."""
        if row.refused is not None:
            return _refused(row, Notice(row.refused))
        notices: list[Notice] = [Notice("EXTRA_CELLS", None, {"cells": len(row.extra)})] if row.extra else []
        given = self._given(row.cells, notices)
        if "email" not in given:
            return _refused(row, Notice("EMAIL_MISSING", self._email[0]))
        try:
            body = ParticipantUpsert.model_validate(given)
        except ValidationError as error:
            return _refused(row, self._why(error, row.cells))
        given["email"] = body.email
        later = last.after(body.email, row.number)
        if later is not None:
            return ReadRow(row.number, row.cells, None, None, [Notice("LATER_ROW", self._email[0], {"row": later})])
        return ReadRow(row.number, row.cells, body, given, notices)

    def _given(self, cells: list[str], notices: list[Notice]) -> dict[str, Any]:
        """The body as plain JSON: a blank cell leaves alone, `-` clears."""
        given: dict[str, Any] = {}
        email = self._pick(cells, self._email, notices)
        if email is not None:
            given["email"] = email[0]
        for field, places in self._names:
            picked = self._pick(cells, places, notices)
            if picked is not None:
                given[field] = None if picked[0] == CLEARING else picked[0]
        if self._language:
            self._state_language(cells, given, notices)
        if self._metadata:
            self._fill(given, "metadata", self._metadata, cells, notices)
        if self._segments:
            self._fill(given, "segments", self._segments, cells, notices)
        return given

    def _pick(self, cells: list[str], places: list[int], notices: list[Notice]) -> tuple[str, int] | None:
        """The first cell that is not empty, and its place; another that says something else is set aside."""
        if len(places) == 1:
            place = places[0]
            return (cells[place], place) if cells[place] else None
        filled = [place for place in places if cells[place]]
        if not filled:
            return None
        first = filled[0]
        for other in filled[1:]:
            if cells[other] != cells[first]:
                notices.append(Notice("SET_ASIDE", other, {"value": _short(cells[other]), "first": self.header[first]}))
        return cells[first], first

    def _state_language(self, cells: list[str], given: dict[str, Any], notices: list[Notice]) -> None:
        picked = self._pick(cells, self._language, notices)
        if picked is None:
            return
        text, place = picked
        stated = None if text == CLEARING else _language(text)
        if stated is not None or text == CLEARING:
            given["language"] = stated
        else:
            notices.append(Notice("LANGUAGE_UNKNOWN", place, {"value": _short(text)}))

    def _fill(
        self,
        given: dict[str, Any],
        name: str,
        keys: list[tuple[str, list[int]]],
        cells: list[str],
        notices: list[Notice],
    ) -> None:
        values: dict[str, str | None] = {}
        for key, places in keys:
            picked = self._pick(cells, places, notices)
            if picked is not None:
                values[key] = None if picked[0] == CLEARING else picked[0]
        if values:
            given[name] = values

    def _why(self, error: ValidationError, cells: list[str]) -> Notice:
        """The first thing wrong with a body, as a notice at its cell."""
        field = str(error.errors(include_url=False, include_context=False)[0]["loc"][0])
        if field == "email":
            place = next(place for place in self._email if cells[place])
            return Notice("EMAIL_INVALID", place, {"value": _short(cells[place])})
        for name, places in self._names:
            if name == field:
                place = next(place for place in places if cells[place])
                return Notice("NAME_TOO_LONG", place, {"most": LONGEST_NAME})
        return Notice("NOT_ACCEPTED", None, {"field": field})


@lru_cache(maxsize=4096)
def _language(text: str) -> Language | None:
    return language.from_cell(text)


def _refused(row: SourceRow, notice: Notice) -> ReadRow:
    return ReadRow(row.number, row.cells, None, None, [notice], True)


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"
