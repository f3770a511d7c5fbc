"""Reading xlsx: the first visible sheet, its values as a person sees them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple
from xml.etree.ElementTree import iterparse

from openpyxl.reader.excel import ExcelReader
from openpyxl.styles.numbers import BUILTIN_FORMATS, BUILTIN_FORMATS_MAX_SIZE
from openpyxl.styles.stylesheet import apply_stylesheet
from openpyxl.worksheet._reader import DATA_TAG, ROW_TAG, WorkSheetParser
from openpyxl.xml.constants import SHARED_STRINGS, XLSM, XLSX, XLTM, XLTX

from outbound.spreadsheets.archive import check_archive, is_held_whole
from outbound.spreadsheets.layout import (
    MAX_COLUMNS,
    MAX_ROWS,
    SAMPLE_ROWS,
    Layout,
    SheetRow,
    SpreadsheetRefused,
    check_header,
    fitted,
)

_WORKBOOKS = (XLSX, XLSM, XLTX, XLTM)
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_ZEROS = re.compile(r"0{2,}").fullmatch


def inspect(path: str | Path) -> Layout:
    """The layout of a workbook: its first visible sheet, header and first rows.

    Raises `SpreadsheetRefused`: NOT_A_SPREADSHEET, XLSX_TOO_LARGE, XLSX_ENCRYPTED, EMPTY, HEADER_ONLY,
    HEADER_UNREADABLE, TOO_MANY_COLUMNS.
    """
    check_archive(path)
    with _opened(path) as sheet:
        records = _records(sheet)
        header = check_header(_in_order(next(records, {})))
        if not header:
            raise SpreadsheetRefused("EMPTY")
        sample = [_fit(0, record, len(header)).cells for record in islice(records, SAMPLE_ROWS)]
        if not sample:
            raise SpreadsheetRefused("HEADER_ONLY")
        return Layout(kind="xlsx", header=header, sample=sample, sheet_name=sheet.name)


def rows(path: str | Path, layout: Layout) -> Iterator[SheetRow]:
    """The records below the header (see `spreadsheets.rows`).

    Raises `SpreadsheetRefused` in mid-stream: NOT_A_SPREADSHEET where the sheet is broken, TOO_MANY_ROWS.
    """
    check_archive(path)
    width = len(layout.header)
    with _opened(path) as sheet:
        records = _records(sheet)
        next(records, None)
        for number, record in enumerate(records, start=2):
            if number > MAX_ROWS + 1:
                raise SpreadsheetRefused("TOO_MANY_ROWS", limit=MAX_ROWS)
            yield _fit(number, record, width)


class _OpenSheet(NamedTuple):
    """A sheet ready to be streamed. `zeros` holds, by style, the width of a format such as `00000`."""

    name: str
    parser: _RowParser
    zeros: dict[int, int]


class _RowParser(WorkSheetParser):
    """openpyxl's reading of a cell, without what its own loop keeps of each row: a million rows stay flat.

    Rows are taken in the order of the file. Neither the declared dimension nor a row's own number is believed: a file
    may claim row 4,000,000,000 and openpyxl would count there.
    """

    def cells_by_row(self) -> Iterator[list[dict[str, Any]]]:
        data = None
        for event, element in iterparse(self.source, events=("start", "end")):  # noqa: S314 (no document types here)
            if event == "start":
                data = element if element.tag == DATA_TAG else data
            elif element.tag == ROW_TAG:
                self.row_counter += 1
                self.col_counter = 0
                yield [self.parse_cell(cell) for cell in element]
                if data is not None:
                    data.clear()
            elif element.tag == DATA_TAG:
                return


@contextmanager
def _opened(path: str | Path) -> Iterator[_OpenSheet]:
    """The first visible sheet; whatever breaks while it is read refuses the file."""
    try:
        with ExitStack() as closing:
            # Opened here, since openpyxl judges a path by its ending and ours has none.
            file = closing.enter_context(open(path, "rb"))
            reader = ExcelReader(file, read_only=True, data_only=True, keep_links=False)
            closing.callback(reader.archive.close)
            _load(reader)
            name, part = _first_visible(reader)
            source = closing.enter_context(reader.archive.open(part))
            yield _OpenSheet(name, _parser(reader, source), _zero_formats(reader.wb))
    except (SpreadsheetRefused, MemoryError):
        raise
    except Exception as error:
        # openpyxl answers a broken workbook with what it stumbled over: KeyError, TypeError, ParseError, BadZipFile.
        raise SpreadsheetRefused("NOT_A_SPREADSHEET", looks_like="broken xlsx") from error


def _load(reader: Any) -> None:
    """What the cells need: texts, sheets, styles.

    Not `load_workbook`: it looks for each sheet's dimension, and where a sheet has none it parses that sheet whole and
    keeps its rows.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reader.read_manifest()
        _check_parts(reader.package)
        reader.read_strings()
        reader.read_workbook()
        apply_stylesheet(reader.archive, reader.wb)


def _check_parts(manifest: Any) -> None:
    """The manifest may name any part as its texts or its workbook: only one measured as such may be read at once."""
    for kind in (SHARED_STRINGS, *_WORKBOOKS):
        part = manifest.find(kind)
        if part is not None and not is_held_whole(part.PartName):
            raise SpreadsheetRefused("XLSX_TOO_LARGE", part=part.PartName)


def _first_visible(reader: Any) -> tuple[str, str]:
    """The name and archive part of the first sheet that a person sees; charts are no sheets of cells."""
    sheets = [
        (sheet.state == "visible", sheet.name, relation.target)
        for sheet, relation in reader.parser.find_sheets()
        if "chartsheet" not in relation.Type and relation.target.lower().endswith(".xml")
    ]
    if not sheets:
        raise SpreadsheetRefused("EMPTY")
    _, name, part = next((sheet for sheet in sheets if sheet[0]), sheets[0])
    return name, part


def _parser(reader: Any, source: IO[bytes]) -> _RowParser:
    return _RowParser(
        source,
        reader.shared_strings,
        data_only=True,
        epoch=reader.wb.epoch,
        date_formats=reader.wb._date_formats,
        timedelta_formats=reader.wb._timedelta_formats,
    )


def _zero_formats(book: Any) -> dict[int, int]:
    """Styles whose format is zeros alone: 7 in the format `00000` is shown, and here read, as `00007`."""
    widths = {}
    for style, cell in enumerate(book._cell_styles):
        number = cell.numFmtId
        custom = number - BUILTIN_FORMATS_MAX_SIZE
        shown = BUILTIN_FORMATS.get(number, "") if custom < 0 else book._number_formats[custom]
        if _ZEROS(shown):
            widths[style] = len(shown)
    return widths


def _records(sheet: _OpenSheet) -> Iterator[dict[int, str]]:
    """The text of each row that holds any, by column (from 0): a row may hold one cell at its far end."""
    zeros = sheet.zeros
    for cells in sheet.parser.cells_by_row():
        record = {}
        for cell in cells:
            value = cell["value"]
            if value is None:
                continue
            text = _text(value, zeros.get(cell["style_id"], 0)).strip()
            if text:
                record[cell["column"] - 1] = text
        if record:
            yield record


def _in_order(record: dict[int, str]) -> list[str]:
    if record and max(record) >= MAX_COLUMNS:
        raise SpreadsheetRefused("TOO_MANY_COLUMNS", limit=MAX_COLUMNS, found=max(record) + 1)
    return [record.get(column, "") for column in range(max(record, default=-1) + 1)]


def _fit(number: int, record: dict[int, str], width: int) -> SheetRow:
    cells = [record.get(column, "") for column in range(width)]
    if len(record) > width or max(record) >= width:
        cells += [record[column] for column in sorted(record) if column >= width]
    return fitted(number, cells, width, careful=True)


def _text(value: object, zeros: int) -> str:
    """A cell's value as a person sees it: no `.0`, ISO dates, 15 digits, `TRUE`; an error is its name."""
    if isinstance(value, str):
        return _unescaped(value) if "_x" in value else value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value).zfill(zeros)
    if isinstance(value, float):
        return _number(value).zfill(zeros if value.is_integer() else 0)
    return _moment(value)


def _number(value: float) -> str:
    if value.is_integer():
        return str(int(value))
    shown = f"{value:.15g}"
    return shown if "e" not in shown else f"{value:.20f}".rstrip("0").rstrip(".")


def _moment(value: object) -> str:
    if isinstance(value, datetime):
        value = _to_the_second(value)
        return value.date().isoformat() if value.time() == time() else value.isoformat(timespec="seconds")
    if isinstance(value, time):
        return value.isoformat(timespec="seconds")
    if isinstance(value, timedelta):
        seconds = round(value.total_seconds())
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return value.isoformat() if isinstance(value, date) else str(value)


def _to_the_second(value: datetime) -> datetime:
    """A day's fraction is stored in binary: 10:30 may come as 10:29:59.999999."""
    whole = value.replace(microsecond=0)
    return whole + timedelta(seconds=1) if value.microsecond >= 500_000 else whole


def _unescaped(text: str) -> str:
    """`_x000D_` stands for a character that XML cannot hold; `_x005F_` for the `_` of a text that looks like one."""
    shown = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    return shown.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
