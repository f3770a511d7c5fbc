"""Writing csv and xlsx, each read back by another program's reader."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import date
from io import BytesIO, StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook

from outbound.spreadsheets import (
    MAX_ROWS,
    Cell,
    Sheet,
    SpreadsheetRefused,
    inspect,
    rows,
    strip_formula_guard,
    write_csv,
    write_xlsx,
)


def xlsx(*lines: list[Cell], header: list[str] | None = None) -> list[list[tuple[object, str]]]:
    """The lines written and read back by openpyxl, each cell with its type."""
    buffer = BytesIO()
    write_xlsx(buffer, [Sheet("People", header or [f"c{number}" for number in range(len(lines[0]))], list(lines))])
    sheet = load_workbook(buffer)["People"]
    assert not sheet._hyperlinks
    return [[(cell.value, cell.data_type) for cell in row] for row in sheet.iter_rows()]


def test_csv_is_utf8_with_commas_crlf_and_rfc_4180_quotes() -> None:
    chunks = list(write_csv([["Zoë", 'a "b"', "x,y", "1\n2", None, True, 1.5, 7, date(2024, 3, 1)]], list("abcdefghi")))
    assert chunks[0] == b"a,b,c,d,e,f,g,h,i\r\n"
    assert chunks[1] == 'Zoë,"a ""b""","x,y","1\n2",,TRUE,1.5,7,2024-03-01\r\n'.encode()
    assert next(write_csv([], ["a"], bom=True)) == b"\xef\xbb\xbfa\r\n"


def test_csv_guards_text_and_leaves_numbers() -> None:
    written = b"".join(write_csv([["=1", "-5", -5, "-x", "@a", "\t1", "'=1", float("nan")]], ["=h"] * 8))
    assert written == b",".join([b"'=h"] * 8) + b"\r\n'=1,-5,-5,'-x,'@a,'\t1,''=1,\r\n"


def test_csv_starts_before_the_rows_are_there_and_takes_them_as_it_goes() -> None:
    taken = []

    def source() -> Iterator[list[Cell]]:
        for number in range(100_000):
            taken.append(number)
            yield [number]

    chunks = write_csv(source(), ["n"])
    assert next(chunks) == b"n\r\n"
    assert taken == []
    next(chunks)
    assert len(taken) < 1_000


def test_a_csv_stream_that_breaks_raises_and_does_not_end_as_a_short_file() -> None:
    def source() -> Iterator[list[Cell]]:
        yield ["a"]
        raise ConnectionError

    with pytest.raises(ConnectionError):
        list(write_csv(source(), ["n"]))


def test_lone_surrogates_and_control_characters_do_not_break_csv() -> None:
    written = b"".join(write_csv([["a\ud800b", "\ud83d\ude00", "x\0\x07"]], ["a", "b", "c"]))
    assert written == "a,b,c\r\na\ufffdb,😀,x\0\x07\r\n".encode()


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8")), min_size=2, max_size=2), max_size=5))
def test_csv_text_comes_back_exactly_through_the_csv_module(lines: list[list[str]]) -> None:
    text = b"".join(write_csv(lines, ["a", "b"])).decode()
    read = list(csv.reader(StringIO(text, newline="")))[1:]
    assert [[strip_formula_guard(cell) for cell in line] for line in read] == lines


def test_a_report_that_is_uploaded_again_gives_the_same_cells(tmp_path: Path) -> None:
    path = tmp_path / "report.csv"
    lines: list[list[Cell]] = [
        ["alice@example.com", "=HYPERLINK(1)", "-"],
        ["b", "'=x", "+33 6"],
        ["c", "-5", "'tis\nso"],
    ]
    for _ in range(3):
        path.write_bytes(b"".join(write_csv(lines, ["email", "@note", "x"])))
        layout = inspect(path, path.name)
        assert [strip_formula_guard(name) for name in layout.header] == ["email", "@note", "x"]
        again = [[strip_formula_guard(cell) for cell in row.cells] for row in rows(path, layout)]
        assert again == lines


def test_xlsx_text_is_never_a_formula_a_number_or_a_link() -> None:
    texts: list[Cell] = [
        "=1+1",
        "+1",
        "-1",
        "@a",
        "{=1}",
        "http://x.test",
        "mailto:a@example.com",
        "0012",
        "2024-03-01",
    ]
    assert xlsx(texts)[1] == [(text, "s") for text in texts]
    assert xlsx(["a"], header=["=1+1"])[0] == [("=1+1", "s")]


def test_xlsx_keeps_numbers_booleans_and_every_digit() -> None:
    lines = xlsx([5, 1.5, True, None, "", 10**15 + 1, -(10**20), float("inf"), date(2024, 3, 1)])
    assert lines[1] == [
        (5, "n"),
        (1.5, "n"),
        (True, "b"),
        (None, "n"),
        (None, "n"),
        ("1000000000000001", "s"),
        ("-100000000000000000000", "s"),
        (None, "n"),
        ("2024-03-01", "s"),
    ]


def test_two_columns_may_share_a_name_and_a_sheet_without_rows_keeps_its_header() -> None:
    assert [[cell[0] for cell in line] for line in xlsx([1, 2, 3], [4, 5, 6], header=["a", "a", "b"])] == [
        ["a", "a", "b"],
        [1, 2, 3],
        [4, 5, 6],
    ]
    buffer = BytesIO()
    written = write_xlsx(buffer, [Sheet("One", ["a", "b"], []), Sheet("Two", ["c"], [[1]])])
    book = load_workbook(buffer)
    assert book.sheetnames == ["One", "Two"]
    assert [cell.value for cell in book["One"][1]] == ["a", "b"]
    assert written.rows == {"One": 0, "Two": 1}


def test_what_xml_refuses_is_escaped_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    texts: list[Cell] = ["a\x07b", "a\rb\nc", "_x0041_", "a\ud800b", "<&>\ufffe", "😀\ud83d\ude00"]
    write_xlsx(path, [Sheet("S", list("abcdef"), [texts, ["\0", *"bcdef"]])])
    read = list(rows(path, inspect(path, path.name)))
    assert read[0].cells == ["a\x07b", "a\rb\nc", "_x0041_", "a\ufffdb", "<&>\ufffe", "😀😀"]
    assert read[1].refused == "NUL_IN_ROW"


@pytest.mark.parametrize("text", ["x" * 40_000, "😀" * 20_000, "\x01" * 40_000, "é" * 32_768])
def test_text_longer_than_a_cell_holds_is_cut_and_counted(text: str) -> None:
    buffer = BytesIO()
    written = write_xlsx(buffer, [Sheet("S", ["a", "b"], [[text, "y" * 32_767]])])
    assert written.cells_cut == 1
    cut, whole = (cell.value for cell in load_workbook(buffer)["S"][2])
    assert cut.endswith("…")
    assert whole == "y" * 32_767
    shown = cut.replace("_x0001_", "\x01")
    assert 32_766 <= len(shown.encode("utf-16-le")) // 2 <= 32_767
    assert text.startswith(shown[:-1])


def test_more_rows_than_a_sheet_holds_are_refused_and_leave_no_file(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with pytest.raises(SpreadsheetRefused) as refused:
        write_xlsx(path, [Sheet("S", ["a"], ([number] for number in range(MAX_ROWS + 1)))])
    assert (refused.value.code, refused.value.params) == ("TOO_MANY_ROWS", {"sheet": "S", "limit": MAX_ROWS})
    assert not path.exists()


def test_a_source_that_breaks_leaves_no_xlsx_behind(tmp_path: Path) -> None:
    def source() -> Iterator[list[Cell]]:
        yield ["a"]
        raise ConnectionError

    with pytest.raises(ConnectionError):
        write_xlsx(tmp_path / "a.xlsx", [Sheet("S", ["a"], source())])
    assert not (tmp_path / "a.xlsx").exists()


def test_a_row_of_another_length_is_a_fault_of_the_caller() -> None:
    with pytest.raises(ValueError, match="argument 2"):
        write_xlsx(BytesIO(), [Sheet("S", ["a", "b"], [["x"]])])


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=2, max_size=2), min_size=1))
def test_xlsx_text_comes_back_exactly(lines: list[list[str]]) -> None:
    read = xlsx(*[list(line) for line in lines])[1:]
    assert all(kind == "s" for line in read for _, kind in line)
