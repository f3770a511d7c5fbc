"""Reading delimited text: the delimiter, the quotes, and the rows."""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import chain, islice
from pathlib import Path
from typing import TextIO

from outbound.spreadsheets.decoding import TextFile, decode
from outbound.spreadsheets.layout import (
    MAX_ROWS,
    MAX_RUN_CHARACTERS,
    SAMPLE_ROWS,
    Layout,
    SheetRow,
    SpreadsheetRefused,
    check_header,
    fitted,
)

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_CHARACTERS = 256 * 1024
_SAMPLE_RECORDS = 50
_SEPARATOR_LINE = re.compile(r"sep=[,;\t|][\r\n]+", re.IGNORECASE).fullmatch


def inspect(path: str | Path) -> Layout:
    """The layout of a text file, its encoding and quotes proved to the end.

    Raises `SpreadsheetRefused`: EMPTY, HEADER_ONLY, HEADER_UNREADABLE, UNREADABLE_ENCODING, UNCLOSED_QUOTE(line),
    RECORD_TOO_LARGE, TOO_MANY_COLUMNS, TOO_MANY_ROWS.
    """
    text = decode(path)
    if text.blank:
        raise SpreadsheetRefused("EMPTY")
    delimiter = _delimiter(path, text.encoding)
    if text.has_quote:
        _check_quotes(path, text.encoding, delimiter)
    header = _header(path, text.encoding, delimiter)
    layout = _layout(text, delimiter, header)
    sample = [row.cells for row in islice(rows(path, layout), SAMPLE_ROWS)]
    if not sample:
        raise SpreadsheetRefused("HEADER_ONLY")
    _check_length(path, layout, text.lines)
    layout.sample.extend(sample)
    return layout


def rows(path: str | Path, layout: Layout) -> Iterator[SheetRow]:
    """The records below the header (see `spreadsheets.rows`), near the speed of `csv.reader` itself."""
    width, careful = len(layout.header), not layout.plain
    with _opened(path, layout.encoding) as file:
        records = _records(file, layout.delimiter)
        next(records, None)
        for number, cells in enumerate(records, start=2):
            if careful or len(cells) != width:
                yield fitted(number, cells, width, careful)
            else:
                yield SheetRow(number, cells)


def _records(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """The records that hold any text, their cells trimmed."""
    strip = str.strip
    for record in _reader(lines, delimiter):
        cells = list(map(strip, record))
        if any(cells):
            yield cells


def _reader(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    csv.field_size_limit(MAX_RUN_CHARACTERS)
    return csv.reader(lines, delimiter=delimiter)


def _opened(path: str | Path, encoding: str) -> TextIO:
    """The file as text with its own line ends: a `\\r` alone ends a line too, and one inside quotes stays.

    A first line such as `sep=;`, by which some programs speak to Excel, is passed over.
    """
    file = open(path, encoding=encoding, newline="")  # noqa: SIM115 (the caller closes it)
    if not _SEPARATOR_LINE(file.readline(16)):
        file.seek(0)
    return file


def _layout(text: TextFile, delimiter: str, header: list[str]) -> Layout:
    return Layout(
        kind="csv",
        header=header,
        encoding=text.encoding,
        delimiter=delimiter,
        has_bom=text.has_bom,
        plain=not (text.has_nul or text.has_quote or text.has_long_line),
    )


def _header(path: str | Path, encoding: str, delimiter: str) -> list[str]:
    with _opened(path, encoding) as file:
        header = check_header(next(_records(file, delimiter), []))
    if not header:
        raise SpreadsheetRefused("EMPTY")
    return header


def _check_length(path: str | Path, layout: Layout, lines: int) -> None:
    """Lines are a bound that costs nothing; only a file past it has its records counted."""
    if lines > MAX_ROWS and sum(1 for _ in islice(rows(path, layout), MAX_ROWS + 1)) > MAX_ROWS:
        raise SpreadsheetRefused("TOO_MANY_ROWS", limit=MAX_ROWS)


def _delimiter(path: str | Path, encoding: str) -> str:
    """The delimiter under which the first records are most often as wide as the header; a tie goes to the widest.

    A comma inside names (`Doe, Jane;jane@example.com`) loses because the header does not have it. One column: `,`.
    """
    with _opened(path, encoding) as file:
        sample = file.read(_SAMPLE_CHARACTERS)
    return max(_DELIMITERS, key=lambda delimiter: _consistency(sample, delimiter))


def _consistency(sample: str, delimiter: str) -> tuple[float, int, int]:
    """Share of records as wide as the header, that width, and (fewer is better) delimiters that read as punctuation."""
    try:
        records = list(islice(_records(StringIO(sample, newline=""), delimiter), _SAMPLE_RECORDS))
    except csv.Error:
        return (0.0, 0, 0)
    width = len(records[0]) if records else 1
    if width == 1:
        return (0.0, 0, 0)
    alike = sum(len(record) == width for record in records)
    return (alike / len(records), width, -sample.count(delimiter + " "))


def _check_quotes(path: str | Path, encoding: str, delimiter: str) -> None:
    """Refuse a file whose last quote never closes: it would swallow every row after it as one cell.

    A record of two cells is put behind the file. Read back as such, every quote was closed; swallowed, one was not.
    """
    try:
        with _opened(path, encoding) as file:
            last = deque(_reader(chain(file, [f"x{delimiter}x"]), delimiter), maxlen=1)
    except csv.Error:
        last = deque()
    if list(last) == [["x", "x"]]:
        return
    line = _unclosed_quote(path, encoding, delimiter)
    if line:
        raise SpreadsheetRefused("UNCLOSED_QUOTE", line=line)
    raise SpreadsheetRefused("RECORD_TOO_LARGE", limit=MAX_RUN_CHARACTERS)


def _unclosed_quote(path: str | Path, encoding: str, delimiter: str) -> int:
    """The line on which the quote opens that is still open at the end of the file, or 0. Holds one line at a time."""
    opening = re.compile(f'(?:^|{re.escape(delimiter)})"').search
    opened = 0
    with _opened(path, encoding) as file:
        for number, line in enumerate(file, start=2 if file.tell() else 1):
            place = 0
            while True:
                if opened:
                    place = _closing(line, place)
                    if place < 0:
                        break
                    opened = 0
                found = opening(line, place)
                if found is None:
                    break
                opened, place = number, found.end()
    return opened


def _closing(line: str, place: int) -> int:
    """The place behind the quote that closes the cell, or -1; a doubled quote is a character of the cell."""
    while (quote := line.find('"', place)) >= 0:
        if line[quote + 1 : quote + 2] != '"':
            return quote + 1
        place = quote + 2
    return -1
