"""Whatever the bytes, a file is read or refused by name; nothing else ever comes out."""

from __future__ import annotations

import random
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outbound.spreadsheets import REFUSAL_CODES, Sheet, SheetRow, SpreadsheetRefused, inspect, rows, write_xlsx


def outcome(path: Path) -> list[SheetRow] | str:
    """The rows, or the code of the refusal; every row is proved to be as wide as the header."""
    try:
        layout = inspect(path, path.name)
        read = list(rows(path, layout))
    except SpreadsheetRefused as refused:
        assert refused.code in REFUSAL_CODES
        return refused.code
    assert all(len(row.cells) == len(layout.header) for row in read)
    assert [row.number for row in read] == list(range(2, len(read) + 2))
    assert [row.cells for row in read[:5]] == layout.sample
    return read


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile") / "people.csv"


@given(content=st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    outcome(path)


@given(text=st.text(alphabet='ab,;\t|"\r\n\0é\u2028 ', max_size=60), encoding=st.sampled_from(["utf-8", "utf-16"]))
def test_any_tangle_of_quotes_is_read_or_refused_for_its_quotes(path: Path, text: str, encoding: str) -> None:
    path.write_bytes(text.encode(encoding))
    assert outcome(path) not in ("RECORD_TOO_LARGE", "TOO_MANY_ROWS", "NOT_A_SPREADSHEET")


def test_a_workbook_with_any_damage_is_read_or_refused(path: Path) -> None:
    buffer = BytesIO()
    write_xlsx(buffer, [Sheet("People", ["email", "n"], [[f"p{number}@example.com", number] for number in range(30)])])
    with ZipFile(buffer) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    dice = random.Random(7)
    for _ in range(150):
        damaged = dict(parts)
        name = dice.choice(list(parts))
        data = bytearray(parts[name])
        for _ in range(dice.randint(1, 4)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        damaged[name] = bytes(data)
        with ZipFile(path, "w") as archive:
            for part, content in damaged.items():
                archive.writestr(part, content)
        outcome(path)


def test_an_archive_with_any_damage_is_read_or_refused(path: Path) -> None:
    buffer = BytesIO()
    write_xlsx(buffer, [Sheet("People", ["email"], [[f"p{number}@example.com"] for number in range(30)])])
    dice = random.Random(11)
    for _ in range(150):
        data = bytearray(buffer.getvalue())
        data[dice.randrange(len(data))] = dice.randrange(256)
        path.write_bytes(data)
        outcome(path)
