"""Reading xlsx files: written by openpyxl, and by hand where a person's file would be stranger than it allows."""

from __future__ import annotations

import struct
import tracemalloc
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZipFile

import pytest
from openpyxl import Workbook

from outbound.spreadsheets import Layout, Sheet, SheetRow, SpreadsheetRefused, inspect, rows, write_xlsx

SHEET = "xl/worksheets/sheet1.xml"
HEADER = b'<row r="1"><c r="A1" t="inlineStr"><is><t>email</t></is></c></row>'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "people.xlsx"


def saved(path: Path, *lines: list[object]) -> Path:
    book = Workbook()
    for line in lines:
        book.active.append(line)
    book.save(path)
    return path


def read(path: Path) -> tuple[Layout, list[SheetRow]]:
    layout = inspect(path, path.name)
    return layout, list(rows(path, layout))


def refusal(path: Path) -> SpreadsheetRefused:
    with pytest.raises(SpreadsheetRefused) as refused:
        read(path)
    return refused.value


def altered(path: Path, part: str, content: bytes, method: int = ZIP_DEFLATED) -> Path:
    """The workbook at `path` with one part replaced or added."""
    with ZipFile(saved(path, ["email"], ["a"])) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()} | {part: content}
    with ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data, method if name == part else ZIP_DEFLATED)
    return path


def sheet(body: bytes, before: bytes = b"") -> bytes:
    main = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return b'<worksheet xmlns="' + main + b'">' + before + b"<sheetData>" + body + b"</sheetData></worksheet>"


def test_values_are_text_as_a_person_sees_them(path: Path) -> None:
    shown = [
        (5, "5"),
        (5.0, "5"),
        (0.1 + 0.2, "0.3"),
        (33612345678, "33612345678"),
        (1e-7, "0.0000001"),
        (-2.5, "-2.5"),
        (True, "TRUE"),
        (False, "FALSE"),
        (date(2024, 3, 1), "2024-03-01"),
        (datetime(2024, 3, 1), "2024-03-01"),
        (datetime(2024, 3, 1, 10, 30), "2024-03-01T10:30:00"),
        (time(10, 30), "10:30:00"),
        (timedelta(hours=26, minutes=5), "26:05:00"),
        ("00123", "00123"),
        ("#N/A", "#N/A"),
        ("'=1+1", "'=1+1"),
        ("  Zoë ", "Zoë"),
        ("x", "x"),
    ]
    saved(path, [f"c{number}" for number in range(len(shown))], [value for value, _ in shown])
    assert read(path)[1] == [SheetRow(2, [text for _, text in shown])]


def test_dates_of_the_1904_calendar_and_postcodes_of_zeros_are_as_shown(path: Path) -> None:
    book = Workbook()
    book.epoch = datetime(1904, 1, 1)
    book.active.append(["day", "postcode"])
    book.active.append([date(2024, 3, 1), 1234])
    book.active["B2"].number_format = "00000"
    book.save(path)
    assert read(path)[1] == [SheetRow(2, ["2024-03-01", "01234"])]


def test_a_formula_gives_its_shown_value_and_nothing_where_none_is_stored(path: Path) -> None:
    stored = (
        b'<row r="2"><c r="A2"><f>1+1</f><v>2</v></c></row><row r="3"><c r="A3" t="str"><f>"a"</f><v>a</v></c></row>'
    )
    error = b'<row r="4"><c r="A4" t="e"><f>1/0</f><v>#DIV/0!</v></c></row><row r="5"><c r="A5"><f>1+1</f></c></row>'
    altered(path, SHEET, sheet(HEADER + stored + error))
    assert [row.cells for row in read(path)[1]] == [["2"], ["a"], ["#DIV/0!"]]


def test_merged_and_blank_cells_are_empty_and_blank_rows_take_no_number(path: Path) -> None:
    book = Workbook()
    for line in ([], ["email", "name", None], [], ["a", None, None], [None, " "], ["b", "B", None, "more"]):
        book.active.append(line)
    book.active.merge_cells("A4:B4")
    book.save(path)
    layout, people = read(path)
    assert layout.header == ["email", "name"]
    assert people == [SheetRow(2, ["a", ""]), SheetRow(3, ["b", "B"], None, ("more",))]


def test_the_first_visible_sheet_is_read(path: Path) -> None:
    book = Workbook()
    book.active.title = "Lists"
    book.active.append(["internal"])
    book.active.sheet_state = "hidden"
    people = book.create_sheet("People")
    people.append(["email"])
    people.append(["a"])
    book.active = people
    book.save(path)
    layout, _ = read(path)
    assert (layout.kind, layout.sheet_name, layout.header, layout.sample) == ("xlsx", "People", ["email"], [["a"]])


def test_empty_header_only_and_duplicate_headers(path: Path) -> None:
    assert refusal(saved(path)).code == "EMPTY"
    assert refusal(saved(path, ["email", "name"], [" "])).code == "HEADER_ONLY"
    assert read(saved(path, ["lang", "lang"], ["fr", "es"]))[0].header == ["lang", "lang"]
    assert refusal(saved(path, [f"c{number}" for number in range(1_001)], ["a"])).code == "TOO_MANY_COLUMNS"


@pytest.mark.parametrize("claimed", [b"A1", b"A1:XFD1048576", b"B7:B7"])
def test_a_wrong_dimension_is_not_believed(path: Path, claimed: bytes) -> None:
    body = HEADER + b'<row r="2"><c r="A2"><v>7</v></c></row>'
    altered(path, SHEET, sheet(body, b'<dimension ref="' + claimed + b'"/>'))
    assert read(path)[1] == [SheetRow(2, ["7"])]


def test_a_row_that_claims_to_stand_four_thousand_million_rows_down_is_the_next_row(path: Path) -> None:
    altered(path, SHEET, sheet(HEADER + b'<row r="4000000000"><c r="XFD4"><v>9</v></c><c r="A4"><v>7</v></c></row>'))
    assert read(path)[1] == [SheetRow(2, ["7"], None, ("9",))]


def test_escaped_characters_are_read_and_a_nul_refuses_its_row(path: Path) -> None:
    texts = (b"a_x000D__x000A_b", b"_x005F_x0041_", b"x_x0000_y", b"_xD800_z", b"y" * 100_001)
    body = b"".join(b'<row><c t="inlineStr"><is><t>' + text + b"</t></is></c></row>" for text in texts)
    people = read(altered(path, SHEET, sheet(HEADER + body)))[1]
    assert [person.cells[0] for person in people[:4]] == ["a\r\nb", "_x0041_", "x\ufffdy", "\ufffdz"]
    assert [person.refused for person in people] == [None, None, "NUL_IN_ROW", None, "CELL_TOO_LONG"]


def test_a_sheet_that_breaks_half_way_is_refused_and_not_a_short_list(path: Path) -> None:
    row = b'<row><c t="inlineStr"><is><t>a</t></is></c></row>'
    whole = sheet(HEADER + row * 5_000)
    altered(path, SHEET, whole[: len(whole) // 2])
    layout = inspect(path, path.name)
    with pytest.raises(SpreadsheetRefused) as refused:
        list(rows(path, layout))
    assert refused.value.code == "NOT_A_SPREADSHEET"


@pytest.mark.parametrize(
    "body",
    [b'<row><c t="s"><v>99</v></c></row>', b'<row><c r="!!"><v>1</v></c></row>', b'<row><c t="b"><v>x</v></c></row>'],
)
def test_a_cell_that_makes_no_sense_refuses_the_file(path: Path, body: bytes) -> None:
    assert refusal(altered(path, SHEET, sheet(HEADER + body))).code == "NOT_A_SPREADSHEET"


def test_a_bomb_is_refused_before_it_is_opened(path: Path) -> None:
    bomb = sheet(HEADER + b"<row><c><v>1</v></c></row>" + b" " * 300_000_000)
    altered(path, SHEET, bomb)
    del bomb
    tracemalloc.start()
    assert refusal(path).code == "XLSX_TOO_LARGE"
    assert tracemalloc.get_traced_memory()[1] < 5 * 2**20
    tracemalloc.stop()


def test_a_bomb_that_lies_about_its_size_is_cut_at_what_it_declares(path: Path) -> None:
    altered(path, SHEET, sheet(HEADER + b"<row><c><v>1</v></c></row>" * 1_000 + b" " * 50_000_000))
    data = bytearray(path.read_bytes())
    for signature, name_at, size_at in ((b"PK\x01\x02", 46, 24), (b"PK\x03\x04", 30, 22)):
        start = -1
        while (start := data.find(signature, start + 1)) >= 0:
            if data[start + name_at :].startswith(SHEET.encode()):
                struct.pack_into("<I", data, start + size_at, 20_000)
    path.write_bytes(data)
    tracemalloc.start()
    assert refusal(path).code == "NOT_A_SPREADSHEET"
    assert tracemalloc.get_traced_memory()[1] < 20 * 2**20
    tracemalloc.stop()


def test_other_ways_to_grow_are_refused(path: Path) -> None:
    assert refusal(altered(path, SHEET, sheet(HEADER), ZIP_BZIP2)).code == "NOT_A_SPREADSHEET"
    entities = b'<!DOCTYPE x [<!ENTITY a "aaaa">]>' + sheet(HEADER)
    assert refusal(altered(path, SHEET, entities)).code == "NOT_A_SPREADSHEET"
    random = bytes(range(256)) * 70_000
    assert refusal(altered(path, "xl/styles.xml", random)).code == "XLSX_TOO_LARGE"
    with ZipFile(path, "w") as archive:
        for number in range(2_001):
            archive.writestr(f"xl/{number}", b"")
        archive.writestr("[Content_Types].xml", b"")
    assert refusal(path).code == "XLSX_TOO_LARGE"


def with_texts(path: Path, part: str) -> Path:
    """A workbook whose texts stand in a table of their own, in `part`, as Excel writes them."""
    main = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    kind = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    table = b'<si><t>email</t></si><si><r><t>Zo</t></r><r><t>\xc3\xab</t></r><rPh sb="0" eb="1"><t>x</t></rPh></si>'
    body = b'<row><c t="s"><v>0</v></c></row><row><c t="s"><v>1</v></c></row>'
    with ZipFile(altered(path, SHEET, sheet(body))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[part] = b'<sst xmlns="' + main + b'">' + table + b"</sst>"
    named = b'<Override PartName="/' + part.encode() + b'" ContentType="' + kind + b'"/></Types>'
    parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(b"</Types>", named)
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def test_texts_in_a_table_of_their_own_are_read(path: Path) -> None:
    layout, people = read(with_texts(path, "xl/sharedStrings.xml"))
    assert (layout.header, people) == (["email"], [SheetRow(2, ["Zoë"])])


def test_a_manifest_that_names_an_unmeasured_part_as_its_texts_is_refused(path: Path) -> None:
    assert refusal(with_texts(path, "xl/media/texts.xml")).code == "XLSX_TOO_LARGE"


@pytest.mark.parametrize(
    ("part", "looks_like"),
    [("xl/workbook.bin", "xlsb"), ("word/document.xml", "zip"), ("xl/workbook.xml", "broken xlsx")],
)
def test_other_archives_are_refused_by_name(path: Path, part: str, looks_like: str) -> None:
    refused = refusal(altered(path, part, b"nothing"))
    assert (refused.code, refused.params["looks_like"]) == ("NOT_A_SPREADSHEET", looks_like)


def test_an_archive_cut_short_or_protected_is_refused(path: Path) -> None:
    data = saved(path, ["email"], ["a"]).read_bytes()
    path.write_bytes(data[: len(data) // 2])
    assert refusal(path).code == "NOT_A_SPREADSHEET"
    locked = bytearray(data)
    start = locked.find(b"PK\x01\x02")
    locked[start + 8] |= 1
    path.write_bytes(locked)
    assert refusal(path).code == "XLSX_ENCRYPTED"


def test_many_rows_are_streamed_with_flat_memory(path: Path) -> None:
    write_xlsx(
        path, [Sheet("People", ["email", "name"], ([f"p{number}@example.com", "P"] for number in range(30_000)))]
    )
    layout = inspect(path, path.name)
    peaks = []
    for wanted in (2_000, 30_000):
        tracemalloc.start()
        assert sum(1 for _ in islice(rows(path, layout), wanted)) == wanted
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 2**20
