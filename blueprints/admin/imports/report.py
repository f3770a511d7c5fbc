"""The report of an import: original cells with `row`, `outcome` and `notice`, to be corrected and uploaded again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from flask import Response, stream_with_context

from domain.campaigns.imports import Import, columns, questions
from outbound.spreadsheets import write_csv

from . import words


def answer(import_: Import, *, bom: bool) -> Response:
    """The report as a download, streamed; sentences in the reader's language. `bom` is for Excel."""
    own = _original_columns(import_.header)
    header = ["row", *(import_.header[place] for place in own), "outcome", "notice"]
    body = write_csv(_rows(import_, own), header, bom=bom)
    response = Response(stream_with_context(body), mimetype="text/csv")
    response.headers.set("Content-Disposition", "attachment", filename=_name(import_.file_name))
    return response


def _rows(import_: Import, own: list[int]) -> Iterator[list[str | int]]:
    header = import_.header
    for row in questions.all_rows(import_):
        notice = " ".join(words.report_sentence(each, header) for each in row.notices)
        yield [row.number, *(row.cells[place] for place in own), row.outcome, notice]


def _original_columns(header: list[str]) -> list[int]:
    """The places of the columns that people brought; those of an earlier report are left out."""
    places = range(len(header))
    return list(places[1:-2] if columns.is_report(header) else places)


def _name(file_name: str) -> str:
    stem = "".join(char for char in PurePath(file_name).stem if char.isascii() and (char.isalnum() or char in "-_ "))
    return f"{stem.strip() or 'import'}-report.csv"
