"""The shapes that reading gives back, its limits, and its refusals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

MAX_ROWS = 1_048_575
"""Records below the header: what one sheet of a spreadsheet program holds."""
MAX_COLUMNS = 1_000
MAX_CELL_CHARACTERS = 100_000
"""A longer cell refuses its row (contract, Import)."""
MAX_RUN_CHARACTERS = 8 * 1024 * 1024
"""A longer line or quoted cell refuses the file: no row could be cut out of it in bounded memory."""
SAMPLE_ROWS = 5
SHOWN_CHARACTERS = 1_000

REFUSAL_CODES = frozenset(
    {
        "EMPTY",
        "HEADER_ONLY",
        "HEADER_UNREADABLE",
        "UNREADABLE_ENCODING",
        "UNCLOSED_QUOTE",
        "RECORD_TOO_LARGE",
        "NOT_A_SPREADSHEET",
        "OLD_XLS",
        "XLSX_ENCRYPTED",
        "XLSX_TOO_LARGE",
        "TOO_MANY_COLUMNS",
        "TOO_MANY_ROWS",
    }
)
ROW_REFUSAL_CODES = frozenset({"NUL_IN_ROW", "CELL_TOO_LONG"})


class SpreadsheetRefused(Exception):
    """The whole file is refused. `code` is one of `REFUSAL_CODES`; `params` fill the sentence that the edge says."""

    def __init__(self, code: str, **params: str | int) -> None:
        super().__init__(code, params)
        self.code = code
        self.params = params


@dataclass(frozen=True)
class Layout:
    """What a file is. `delimiter` and `encoding` are empty for xlsx, `sheet_name` for csv.

    `header` is as written, trimmed, without the empty cells at its end; duplicates stay. `sample` holds the first
    rows, each as long as the header. `plain` is true where no row can need a refusal, so that none is looked for.
    """

    kind: Literal["csv", "xlsx"]
    header: list[str]
    sample: list[list[str]] = field(default_factory=list)
    encoding: str = ""
    delimiter: str = ""
    has_bom: bool = False
    sheet_name: str = ""
    plain: bool = False


class SheetRow(NamedTuple):
    """One record. `cells` are trimmed and exactly as many as the header.

    `extra` holds the cells beyond the header that are not empty: worth a notice, no reason to refuse. `refused` names
    why the row must not be applied; its cells are then made fit to show (NUL becomes U+FFFD, a long cell is cut).
    """

    number: int
    cells: list[str]
    refused: str | None = None
    extra: tuple[str, ...] = ()


def check_header(cells: list[str]) -> list[str]:
    """The header without the empty cells at its end; refused where a name cannot be kept or there are too many."""
    header = list(cells)
    while header and not header[-1]:
        header.pop()
    if len(header) > MAX_COLUMNS:
        raise SpreadsheetRefused("TOO_MANY_COLUMNS", limit=MAX_COLUMNS, found=len(header))
    for column, name in enumerate(header, start=1):
        if row_refusal((name,)):
            raise SpreadsheetRefused("HEADER_UNREADABLE", column=column)
    return header


def row_refusal(cells: Iterable[str]) -> str | None:
    """Why the row of these cells is refused, or None."""
    for cell in cells:
        if len(cell) > MAX_CELL_CHARACTERS:
            return "CELL_TOO_LONG"
        if "\0" in cell:
            return "NUL_IN_ROW"
    return None


def fitted(number: int, cells: list[str], width: int, careful: bool) -> SheetRow:
    """The row of `cells` (already trimmed), brought to the width of the header and refused if it must be."""
    extra = tuple(cell for cell in cells[width:] if cell)
    refused = row_refusal(cells) if careful else None
    shown = cells[:width] + [""] * (width - len(cells))
    if refused is None:
        return SheetRow(number, shown, None, extra)
    return SheetRow(
        number,
        [_showable(cell) for cell in shown],
        refused,
        tuple(_showable(cell) for cell in extra),
    )


def _showable(cell: str) -> str:
    text = cell.replace("\0", "\ufffd")
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"
