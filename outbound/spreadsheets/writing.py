"""Writing csv and xlsx. csv carries the `'` before formulas; in xlsx text is a string cell and needs none."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from io import StringIO
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import BinaryIO

from rustpy_xlsxwriter import write_worksheets

from outbound.spreadsheets.formulas import RISKY_FIRST, guard_formula
from outbound.spreadsheets.layout import MAX_ROWS, SpreadsheetRefused

Cell = str | int | float | bool | None | date | datetime
_ROWS_IN_A_CHUNK = 200
_MAX_XLSX_UNITS = 32_767
"""The longest text of a cell, in UTF-16 units as Excel counts them."""
_MAX_EXACT_INTEGER = 10**15
"""Excel keeps 15 digits of a number; a longer integer is written as text, or its end would turn to zeros."""


def write_csv(rows: Iterable[Sequence[Cell]], header: Sequence[str], *, bom: bool = False) -> Iterator[bytes]:
    """A csv file in chunks, the header first and alone: UTF-8, comma, CRLF, RFC 4180 (contract, Export).

    Text that a spreadsheet would run gets its `'`, in the header too. None is an empty cell, booleans are `TRUE` and
    `FALSE`, dates ISO, a number that is not finite is empty. A lone surrogate becomes U+FFFD.
    """
    buffer = StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(_guarded(header))
    yield (b"\xef\xbb\xbf" if bom else b"") + _taken(buffer)
    source = map(_guarded, rows)
    while True:
        writer.writerows(islice(source, _ROWS_IN_A_CHUNK))
        chunk = _taken(buffer)
        if not chunk:
            return
        yield chunk


def _guarded(row: Sequence[Cell]) -> list[str | int]:
    return [
        (guard_formula(cell) if cell[:1] in RISKY_FIRST else cell) if cell.__class__ is str else _csv_value(cell)
        for cell in row
    ]


def _csv_value(cell: Cell) -> str | int:
    if isinstance(cell, str):
        return guard_formula(str(cell))
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        return repr(cell) if isfinite(cell) else ""
    if isinstance(cell, date):
        return cell.isoformat()
    return "" if cell is None else cell


def _taken(buffer: StringIO) -> bytes:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _whole(text).encode()


def _whole(text: str) -> str:
    """`text` with halves of a character joined where both are there, and U+FFFD for one that stands alone."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@dataclass(frozen=True)
class Sheet:
    """One sheet to write; every row is as long as the header. `name`: at most 31 characters, none of `[]:*?/\\`."""

    name: str
    header: Sequence[str]
    rows: Iterable[Sequence[Cell]]


@dataclass(frozen=True)
class XlsxWritten:
    """What was written: rows below the header by sheet name, and how many cells had to be cut."""

    rows: Mapping[str, int]
    cells_cut: int


def write_xlsx(target: str | Path | BinaryIO, sheets: Sequence[Sheet]) -> XlsxWritten:
    """Write the sheets, rows streamed in order. Text is always a string cell: never a formula, a number or a link.

    Text over 32,767 UTF-16 units (what a cell holds) is cut and ends in `…`. Characters that XML cannot hold are
    written in the format's own escape (`_x0000_`), which spreadsheets and `rows` read back. Integers over 15 digits
    are text. A sheet of more than 1,048,575 rows is refused, not split: a second sheet would be overlooked, and csv
    has no such limit. Raises `SpreadsheetRefused`: TOO_MANY_ROWS(sheet, limit), TOO_MANY_COLUMNS(sheet, limit); a
    path then holds no file.
    """
    tallies = [_Tally(sheet) for sheet in sheets]
    write_worksheets([(tally.sheet.name, tally.records()) for tally in tallies], _target(target))
    return XlsxWritten(
        {tally.sheet.name: tally.rows for tally in tallies},
        sum(tally.cut for tally in tallies),
    )


def _target(target: str | Path | BinaryIO) -> str | BinaryIO:
    return str(target) if isinstance(target, Path) else target


class _Name(str):
    """A column's name that is equal to itself alone: the writer takes rows as dicts, and two columns may share one."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


@dataclass
class _Tally:
    sheet: Sheet
    rows: int = 0
    cut: int = field(default=0)

    def records(self) -> Iterator[dict[str, Cell]]:
        """The rows as the writer takes them. A sheet without rows gets one of empty cells, or its header is lost."""
        names = [_Name(self._text(name)) for name in self.sheet.header]
        if len(names) > 16_384:
            raise SpreadsheetRefused("TOO_MANY_COLUMNS", sheet=self.sheet.name, limit=16_384)
        for row in self.sheet.rows:
            self.rows += 1
            if self.rows > MAX_ROWS:
                raise SpreadsheetRefused("TOO_MANY_ROWS", sheet=self.sheet.name, limit=MAX_ROWS)
            yield dict(zip(names, self._cells(row), strict=True))
        if not self.rows:
            yield dict.fromkeys(names)

    def _cells(self, row: Sequence[Cell]) -> list[Cell]:
        value = self._value
        return [
            cell if cell.__class__ is str and len(cell) <= _MAX_XLSX_UNITS and cell.isascii() else value(cell)
            for cell in row
        ]

    def _value(self, cell: Cell) -> Cell:
        if isinstance(cell, str):
            return self._text(cell)
        if isinstance(cell, date):
            return cell.isoformat()
        if isinstance(cell, int) and abs(cell) >= _MAX_EXACT_INTEGER:
            return str(cell)
        return None if isinstance(cell, float) and not isfinite(cell) else cell

    def _text(self, text: str) -> str:
        whole = _whole(text)
        if len(whole) * 2 <= _MAX_XLSX_UNITS or len(whole.encode("utf-16-le")) // 2 <= _MAX_XLSX_UNITS:
            return whole
        self.cut += 1
        kept = whole.encode("utf-16-le")[: (_MAX_XLSX_UNITS - 1) * 2]
        return kept.decode("utf-16-le", "ignore") + "…"
