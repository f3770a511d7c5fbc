"""Reading csv files of every origin: real files on disk, as people's programs write them."""

from __future__ import annotations

import csv
import time
import tracemalloc
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from outbound.spreadsheets import MAX_ROWS, REFUSAL_CODES, Layout, SheetRow, SpreadsheetRefused, inspect, rows

Write = Callable[[bytes], Path]
PEOPLE = "Email,First name\r\nalice@example.com,Zoë\r\nbob@example.com,Bob\r\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(content: bytes) -> Path:
        path = tmp_path / "people.csv"
        path.write_bytes(content)
        return path

    return written


def read(path: Path) -> tuple[Layout, list[SheetRow]]:
    layout = inspect(path, "people.csv")
    return layout, list(rows(path, layout))


def refusal(path: Path, filename: str = "people.csv") -> SpreadsheetRefused:
    with pytest.raises(SpreadsheetRefused) as refused:
        inspect(path, filename)
    assert refused.value.code in REFUSAL_CODES
    return refused.value


@pytest.mark.parametrize(
    ("content", "encoding", "has_bom"),
    [
        (PEOPLE.encode(), "utf-8", False),
        (b"\xef\xbb\xbf" + PEOPLE.encode(), "utf-8-sig", True),
        (b"\xff\xfe" + PEOPLE.encode("utf-16-le"), "utf-16", True),
        (b"\xfe\xff" + PEOPLE.encode("utf-16-be"), "utf-16", True),
        (PEOPLE.encode("utf-16-le"), "utf-16-le", False),
        (PEOPLE.encode("utf-16-be"), "utf-16-be", False),
        (b"\xff\xfe\0\0" + PEOPLE.encode("utf-32-le"), "utf-32", True),
        (PEOPLE.encode("cp1252"), "cp1252", False),
    ],
)
def test_every_encoding_gives_the_same_people(write: Write, content: bytes, encoding: str, has_bom: bool) -> None:
    layout, people = read(write(content))
    assert (layout.encoding, layout.has_bom) == (encoding, has_bom)
    assert layout.header == ["Email", "First name"]
    assert [person.cells for person in people] == [["alice@example.com", "Zoë"], ["bob@example.com", "Bob"]]


def test_an_accent_on_the_last_of_many_rows_decides_the_encoding(write: Write) -> None:
    layout, people = read(write(b"email,name\n" + b"alice@example.com,Alice\n" * 20_000 + "x,Zoë €\n".encode("cp1252")))
    assert layout.encoding == "cp1252"
    assert people[-1].cells == ["x", "Zoë €"]


def test_a_byte_that_cp1252_does_not_define_is_refused_with_its_line(write: Write) -> None:
    refused = refusal(write(b"email,name\nalice@example.com,Alice\nbob@example.com,B\x81b\n"))
    assert (refused.code, refused.params) == ("UNREADABLE_ENCODING", {"line": 3})


def test_utf8_with_one_broken_byte_is_refused_rather_than_spoilt(write: Write) -> None:
    refused = refusal(write("email,name\na,Zoë\nb,".encode() + b"\xe9t\n"))
    assert (refused.code, refused.params) == ("UNREADABLE_ENCODING", {"line": 3})


def test_utf16_cut_in_the_middle_of_a_character_is_refused(write: Write) -> None:
    assert refusal(write((b"\xff\xfe" + PEOPLE.encode("utf-16-le"))[:-1])).code == "UNREADABLE_ENCODING"


def test_russian_and_greek_in_utf16_are_read(write: Write) -> None:
    _, people = read(write("имя;почта\nАлиса;alice@example.com\nΑλίκη;b\n".encode("utf-16")))
    assert people[0].cells == ["Алиса", "alice@example.com"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_delimiter_and_line_end_is_recognised(write: Write, delimiter: str, line_end: str) -> None:
    lines = [["email", "name", "note"], ["alice@example.com", "Alice", ""], ["bob@example.com", "Bob", "x"]]
    layout, people = read(write(line_end.join(delimiter.join(line) for line in lines).encode()))
    assert (layout.delimiter, layout.header) == (delimiter, lines[0])
    assert [person.cells for person in people] == lines[1:]


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("name;email\nDoe, Jane;a\nRoe, Jo;b\n", ";"),
        ("name, first;email\nDoe, Jane;a\nRoe, Jo;b\n", ";"),
        ('"a;b";c;d\n"1,2,3";4;5\n', ";"),
        ('email,note\na,"one; two; three"\nb,"four; five; six"\n', ","),
        ("email\talias, other\na\tb\nc\td\n", "\t"),
        ("email\nalice@example.com\n", ","),
        ("email;score\na;1,5\nb;2,5\n", ";"),
    ],
)
def test_a_delimiter_inside_the_text_is_not_taken_for_the_files_own(write: Write, text: str, delimiter: str) -> None:
    assert inspect(write(text.encode()), "x.csv").delimiter == delimiter


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_line_that_tells_excel_the_delimiter_is_passed_over(write: Write, encoding: str, line_end: str) -> None:
    text = line_end.join(["sep=;", "email;name", "alice@example.com;Zoë"])
    layout, people = read(write(text.encode(encoding)))
    assert layout.header == ["email", "name"]
    assert people == [SheetRow(2, ["alice@example.com", "Zoë"])]
    refused = refusal(write((text + line_end + 'b;"B').encode(encoding)))
    assert (refused.code, refused.params) == ("UNCLOSED_QUOTE", {"line": 4})


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", b"\xff\xfe", b"  \r\n\r\n", b",,,\n,,,\n", b'""\n'])
def test_a_file_without_any_text_is_empty(write: Write, content: bytes) -> None:
    assert refusal(write(content)).code == "EMPTY"


@pytest.mark.parametrize("content", [b"email,name", b"email,name\n", b"email,name\n,\n\n , \n"])
def test_a_file_of_a_header_alone_is_refused(write: Write, content: bytes) -> None:
    assert refusal(write(content)).code == "HEADER_ONLY"


def test_duplicate_headers_are_kept_for_the_reader_to_judge(write: Write) -> None:
    layout, people = read(write(b"email,Lang,locale,Lang\na,fr,,es\n"))
    assert layout.header == ["email", "Lang", "locale", "Lang"]
    assert people[0].cells == ["a", "fr", "", "es"]


def test_blank_records_take_no_number_and_cells_are_trimmed(write: Write) -> None:
    _, people = read(write(b"\n,\nemail , name\n\n a , b \n,,\n  \nc,\xc2\xa0d\n"))
    assert people == [SheetRow(2, ["a", "b"]), SheetRow(3, ["c", "d"])]


def test_a_record_of_several_lines_is_one_row(write: Write) -> None:
    _, people = read(write(b'email,note\r\na,"one\r\ntwo, ""three"""\r\nb,x\r\n'))
    assert people == [SheetRow(2, ["a", 'one\r\ntwo, "three"']), SheetRow(3, ["b", "x"])]


def test_short_rows_are_padded_and_extra_cells_are_told(write: Write) -> None:
    layout, people = read(write(b"email,name,,\na\nb,B,,,,\nc,C,,more,,even more\n"))
    assert layout.header == ["email", "name"]
    assert people == [
        SheetRow(2, ["a", ""]),
        SheetRow(3, ["b", "B"]),
        SheetRow(4, ["c", "C"], None, ("more", "even more")),
    ]


def test_a_nul_refuses_its_row_alone(write: Write) -> None:
    _, people = read(write(b"email,name\na,A\nb\0,B\nc,C\n"))
    assert [(person.number, person.refused) for person in people] == [(2, None), (3, "NUL_IN_ROW"), (4, None)]
    assert people[1].cells == ["b\ufffd", "B"]


@pytest.mark.parametrize("cell", ["x" * 200_000, '"' + "x\n" * 100_000 + '"'])
def test_a_cell_of_200000_characters_refuses_its_row_alone(write: Write, cell: str) -> None:
    _, people = read(write(f"email,name\na,A\nb,{cell}\nc,C\n".encode()))
    assert [(person.number, person.refused) for person in people] == [(2, None), (3, "CELL_TOO_LONG"), (4, None)]
    assert len(people[1].cells[1]) < 2_000


def test_a_cell_of_exactly_100000_characters_is_read_whole(write: Write) -> None:
    _, people = read(write(b"email,name\na," + b"x" * 100_000 + b"\nb," + b"x" * 100_001 + b"\n"))
    assert [person.refused for person in people] == [None, "CELL_TOO_LONG"]
    assert len(people[0].cells[1]) == 100_000


def test_a_nul_or_an_endless_name_in_the_header_refuses_the_file(write: Write) -> None:
    refused = refusal(write(b"email,na\0me\na,b\n"))
    assert (refused.code, refused.params) == ("HEADER_UNREADABLE", {"column": 2})
    assert refusal(write(b"email," + b"x" * 100_001 + b"\na,b\n")).code == "HEADER_UNREADABLE"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('email,name\na,"A\nb,B\nc,C\n', 2),
        ('email,name\na,"A ""x"""\nb,"B\nc,C\n', 3),
        ('email,name\na,5" nail\n"b,B\nc,C\n', 3),
        ('email,name\na,A\nb,"', 3),
        ('email,name\na,A\n"', 3),
        ('email,name\na,"two\nlines"\nb,"B""\n', 4),
        ('"email,name\na,A\n', 1),
    ],
)
def test_a_quote_that_never_closes_is_refused_with_the_line_where_it_opened(write: Write, text: str, line: int) -> None:
    refused = refusal(write(text.encode()))
    assert (refused.code, refused.params) == ("UNCLOSED_QUOTE", {"line": line})


def test_a_quote_inside_a_cell_is_a_character(write: Write) -> None:
    _, people = read(write(b'email,size\na,5" nail\nb,6" x 7"\n'))
    assert [person.cells[1] for person in people] == ['5" nail', '6" x 7"']


def test_an_unclosed_quote_over_a_large_file_costs_little_memory(write: Write) -> None:
    path = write(b'email,name\na,"A\n' + b"alice@example.com,Alice\n" * 1_500_000)
    tracemalloc.start()
    refused = refusal(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (refused.code, refused.params) == ("UNCLOSED_QUOTE", {"line": 2})
    assert peak < 80 * 2**20


def test_a_line_without_end_is_refused(write: Write) -> None:
    assert refusal(write(b"email,name\n" + b"x" * (9 * 2**20))).code == "RECORD_TOO_LARGE"
    assert refusal(write(b'email,name\n"' + b"x\n" * (5 * 2**20) + b'",b\n')).code == "RECORD_TOO_LARGE"


def test_too_many_columns_are_refused(write: Write) -> None:
    header = ",".join(f"c{number}" for number in range(1_001)).encode()
    assert refusal(write(header + b"\na\n")).code == "TOO_MANY_COLUMNS"


def test_more_rows_than_a_sheet_holds_are_refused(write: Write) -> None:
    assert refusal(write(b"email\n" + b"a\n" * (MAX_ROWS + 1))).code == "TOO_MANY_ROWS"
    assert inspect(write(b"email\n" + b"a\n\n" * MAX_ROWS), "x.csv").sample == [["a"]] * 5


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"%PDF-1.7\n" + b"\xe2\xe3\xcf\xd3" * 10, "NOT_A_SPREADSHEET"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 40, "NOT_A_SPREADSHEET"),
        (b"<!DOCTYPE html>\n<table><tr><td>email</td></tr></table>", "NOT_A_SPREADSHEET"),
        (bytes(range(1, 32)) * 20, "NOT_A_SPREADSHEET"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "OLD_XLS"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 2_000_000 + "EncryptedPackage".encode("utf-16-le"),
            "XLSX_ENCRYPTED",
        ),
        (b"PK\x03\x04 and nothing more", "NOT_A_SPREADSHEET"),
    ],
)
def test_what_is_no_spreadsheet_is_refused_by_its_content(write: Write, content: bytes, code: str) -> None:
    assert refusal(write(content), "people.xlsx").code == code


def test_text_named_xlsx_is_read_as_the_text_it_is(write: Write) -> None:
    assert inspect(write(PEOPLE.encode()), "people.xlsx").kind == "csv"


def test_the_sample_holds_five_rows_and_reading_starts_over(write: Write) -> None:
    path = write(b"email\n" + b"".join(b"p%d@example.com\n" % number for number in range(9)))
    layout = inspect(path, "people.csv")
    assert layout.sample == [[f"p{number}@example.com"] for number in range(5)]
    assert list(rows(path, layout)) == list(rows(path, layout))
    assert next(iter(islice(rows(path, layout), 8, None))) == SheetRow(10, ["p8@example.com"])


def test_a_million_rows_are_streamed_with_flat_memory_near_the_speed_of_the_csv_module(write: Write) -> None:
    line = b"alice.%07d@example.com,Alice,Archer,Nurses,fr,ward 7\n"
    path = write(b"email,first,last,group,language,note\n" + b"".join(line % number for number in range(1_000_000)))
    started = time.process_time()
    with path.open(newline="") as file:
        assert sum(1 for _ in csv.reader(file)) == 1_000_001
    floor = time.process_time() - started
    started = time.process_time()
    layout = inspect(path, "people.csv")
    number = 1
    for row in rows(path, layout):
        number = row.number
    assert number == 1_000_001
    assert time.process_time() - started < 5 * floor
    tracemalloc.start()
    for _ in islice(rows(path, layout), 100_000):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * 2**20
