"""Spreadsheets in and out: csv and xlsx files to plain rows of text, and rows to files.

`inspect` says what a file is, `rows` streams it (call it again to start over), `write_csv` and `write_xlsx`
write one. The `'` before a formula is put on by `write_csv`; whoever reads takes it off with `strip_formula_guard`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from outbound.spreadsheets import delimited, workbook
from outbound.spreadsheets.formulas import guard_formula, strip_formula_guard
from outbound.spreadsheets.layout import (
    MAX_CELL_CHARACTERS,
    MAX_COLUMNS,
    MAX_ROWS,
    REFUSAL_CODES,
    ROW_REFUSAL_CODES,
    Layout,
    SheetRow,
    SpreadsheetRefused,
)
from outbound.spreadsheets.recognition import recognise
from outbound.spreadsheets.writing import (
    Cell,
    Sheet,
    XlsxWritten,
    write_csv,
    write_xlsx,
)

__all__ = [
    "MAX_CELL_CHARACTERS",
    "MAX_COLUMNS",
    "MAX_ROWS",
    "REFUSAL_CODES",
    "ROW_REFUSAL_CODES",
    "Cell",
    "Layout",
    "Sheet",
    "SheetRow",
    "SpreadsheetRefused",
    "XlsxWritten",
    "guard_formula",
    "inspect",
    "rows",
    "strip_formula_guard",
    "write_csv",
    "write_xlsx",
]


def inspect(path: str | Path, filename: str) -> Layout:
    """What the file is and what its first rows hold; the content decides, not the ending of `filename`.

    Raises `SpreadsheetRefused` for a file that is refused whole (contract, Import). A csv file is proved here to its
    last byte; an xlsx file is proved as `rows` goes through it, so `rows` may refuse it too.
    """
    if recognise(path, filename) == "xlsx":
        return workbook.inspect(path)
    return delimited.inspect(path)


def rows(path: str | Path, layout: Layout) -> Iterator[SheetRow]:
    """The records below the header, one at a time; memory does not grow with the file.

    `number` counts records, not lines: the header is 1, the next record that has any text is 2. A record in which
    every cell is empty is skipped and takes no number (contract, Import).
    """
    return workbook.rows(path, layout) if layout.kind == "xlsx" else delimited.rows(path, layout)
