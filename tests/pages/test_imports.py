"""The import screens as a browser meets them: files of every kind, the way to the report and back, and who may pass."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from openpyxl import Workbook
from sqlalchemy import select
from werkzeug.test import TestResponse

from core import files
from core.db import db
from domain.campaigns.imports import Import
from domain.campaigns.roster import Participant
from jobs import imports as job
from tests import world as worlds
from tests.pages.form import csrf
from tests.world import World


def post(browser: FlaskClient, world: World, path: str, **fields: object) -> TestResponse:
    address = f"{world.campaign}/import"
    return browser.post(address + path, data={"csrf_token": csrf(browser, address), **fields})


def upload(browser: FlaskClient, world: World, content: bytes, name: str = "people.csv") -> TestResponse:
    return post(browser, world, "", file=(io.BytesIO(content), name))


def sent(browser: FlaskClient, world: World, content: bytes, name: str = "people.csv") -> str:
    """Upload a file that is accepted; returns the rest of its address."""
    answer = upload(browser, world, content, name)
    assert answer.status_code == 302, answer.get_data(as_text=True)
    return answer.location.rsplit("/import", 1)[1]


def text(browser: FlaskClient, world: World, path: str) -> str:
    answer = browser.get(f"{world.campaign}/import{path}", follow_redirects=True)
    assert answer.status_code == 200
    return answer.get_data(as_text=True)


def confirm(browser: FlaskClient, world: World, path: str, *targets: str) -> None:
    fields = {f"column-{place}": target for place, target in enumerate(targets)}
    answer = post(browser, world, f"{path}/columns", **fields)
    assert answer.status_code == 302, answer.get_data(as_text=True)
    assert job.run(path[1:])


def press_apply(browser: FlaskClient, world: World, path: str) -> None:
    seen = re.search(r'name="seen" value="(\d+)"', text(browser, world, path))
    assert seen is not None
    post(browser, world, f"{path}/application", seen=seen.group(1))


def applied(browser: FlaskClient, world: World, content: bytes, *targets: str) -> str:
    path = sent(browser, world, content)
    confirm(browser, world, path, *targets)
    press_apply(browser, world, path)
    job.run(path[1:])
    return path


def report(browser: FlaskClient, world: World, path: str, **query: str) -> list[dict[str, str]]:
    answer = browser.get(f"{world.campaign}/import{path}/report.csv", query_string=query)
    assert answer.mimetype == "text/csv" and "attachment" in answer.headers["Content-Disposition"]
    return list(csv.DictReader(io.StringIO(answer.get_data(as_text=True))))


def people(world: World) -> dict[str, Participant]:
    db.session.rollback()
    rows = db.session.scalars(select(Participant).where(Participant.campaign_id == world.campaign_id))
    return {row.email: row for row in rows}


def kept_files() -> list[Path]:
    return list(files.folder().glob("fil_*")) if files.folder().exists() else []


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "The file is empty"),
        (b"email,lang\n", "a header and no people"),
        (b"name,lang\nAna,fr\n", "No column holds e-mail addresses"),
        (b'email,name\na@example.com,"x\nb@example.com,y\n', "opens in line 2 never closes"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "not a spreadsheet"),
        (b"PK\x03\x04broken", "not a spreadsheet"),
    ],
)
def test_a_file_that_is_refused_whole_says_why_at_the_form(
    bob: FlaskClient, world: World, content: bytes, says: str
) -> None:
    before = len(kept_files())
    answer = upload(bob, world, content)
    assert answer.status_code == 400 and says in answer.get_data(as_text=True)
    assert 'aria-invalid="true"' in answer.get_data(as_text=True)
    assert len(kept_files()) == before


def test_no_file_at_all_is_asked_for(bob: FlaskClient, world: World) -> None:
    answer = post(bob, world, "")
    assert answer.status_code == 400 and "Choose a file first." in answer.get_data(as_text=True)


@pytest.mark.parametrize(
    ("content", "delimiter"),
    [
        ("email,prénom\na@example.com,José\n".encode("utf-8-sig"), "Comma"),
        ("email;prénom\na@example.com;José\n".encode("cp1252"), "Semicolon"),
        ("email\tprénom\na@example.com\tJosé\n".encode("utf-16"), "Tab"),
        ("email|prénom\na@example.com|José\n".encode(), "Vertical bar"),
        ("email,prénom\ra@example.com,José\r".encode(), "Comma"),
    ],
)
def test_encodings_and_delimiters_are_found_and_shown(
    bob: FlaskClient, world: World, content: bytes, delimiter: str
) -> None:
    path = sent(bob, world, content)
    page = text(bob, world, path)
    assert delimiter in page and "José" in page
    confirm(bob, world, path, "email", "first_name")
    press_apply(bob, world, path)
    job.run(path[1:])
    assert people(world)["a@example.com"].first_name == "José"


def test_a_csv_comes_from_upload_to_roster(bob: FlaskClient, world: World) -> None:
    worlds.add_participant(world, "old@example.com", firstName="Old", language="es")
    content = (
        b"E-Mail,First_Name,preferredLanguage,lang,Phone\n"
        b"new@example.com,New,fr-CA,,1\nold@example.com,Older,-,en,2\nbad,Bad,,,\nodd@example.com,Odd,nl-BE,,\n"
    )
    path = sent(bob, world, content)
    page = text(bob, world, path)
    assert "1 column is ignored: Phone." in page
    assert "Language stands in several columns: preferredLanguage, lang." in page
    confirm(bob, world, path, "email", "first_name", "language", "language", "ignore")
    page = text(bob, world, path)
    assert "2 people join the roster." in page and "1 person is brought up to date." in page
    assert "<del" in page and "Older" in page
    assert "“nl-BE” is not a language that we recognise." in page
    assert people(world).keys() == {"old@example.com"}
    press_apply(bob, world, path)
    assert "Writing the roster" in text(bob, world, path)
    job.run(path[1:])
    rows = {row["E-Mail"]: row for row in report(bob, world, path)}
    assert list(rows["bad"]) == [
        "row",
        "E-Mail",
        "First_Name",
        "preferredLanguage",
        "lang",
        "Phone",
        "outcome",
        "notice",
    ]
    assert [row["outcome"] for row in rows.values()] == ["created", "updated", "refused", "created"]
    assert rows["new@example.com"]["notice"] == "" and rows["new@example.com"]["row"] == "2"
    assert "nl-BE" in rows["odd@example.com"]["notice"] and "preferredLanguage" in rows["odd@example.com"]["notice"]
    assert people(world)["odd@example.com"].language is None
    assert people(world)["new@example.com"].language == "fr"
    assert people(world)["old@example.com"].language is None


def test_a_report_can_be_corrected_and_uploaded_again(bob: FlaskClient, world: World) -> None:
    path = applied(bob, world, b"email,first name\nbad,=SUM(1)\nb@example.com,-x-\n", "email", "first_name")
    raw = bob.get(f"{world.campaign}/import{path}/report.csv").data
    assert b"'=SUM(1)" in raw
    again = sent(bob, world, raw.replace(b"bad,", b"good@example.com,"))
    assert "This is a report of an earlier import" in text(bob, world, again)
    confirm(bob, world, again, "ignore", "email", "first_name", "ignore", "ignore")
    press_apply(bob, world, again)
    job.run(again[1:])
    assert people(world)["good@example.com"].first_name == "=SUM(1)"
    rows = report(bob, world, again)
    assert list(rows[0]) == ["row", "email", "first name", "outcome", "notice"]
    assert rows[0]["first name"] == "'=SUM(1)"
    assert [row["outcome"] for row in rows] == ["created", "unchanged"]


def test_a_nul_and_a_huge_cell_refuse_their_row_alone(bob: FlaskClient, world: World) -> None:
    content = b"email,first name\na@example.com,x\0y\nb@example.com," + b"z" * 200_000 + b"\nc@example.com,C\n"
    path = applied(bob, world, content, "email", "first_name")
    assert [row["outcome"] for row in report(bob, world, path)] == ["refused", "refused", "created"]
    assert people(world).keys() == {"c@example.com"}


def test_an_xlsx_file_is_read(bob: FlaskClient, world: World) -> None:
    book, buffer = Workbook(), io.BytesIO()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Correo", "Nombre", "Idioma"])
    sheet.append(["a@example.com", "Ana", "Español"])
    book.save(buffer)
    path = sent(bob, world, buffer.getvalue(), "gente.xlsx")
    assert "Excel workbook" in text(bob, world, path)
    confirm(bob, world, path, "email", "first_name", "language")
    press_apply(bob, world, path)
    job.run(path[1:])
    assert (people(world)["a@example.com"].first_name, people(world)["a@example.com"].language) == ("Ana", "es")


def test_a_mapping_without_email_stays_on_the_form(bob: FlaskClient, world: World) -> None:
    path = sent(bob, world, b"email,takerLink\na@example.com,x\n")
    answer = post(bob, world, f"{path}/columns", **{"column-0": "ignore", "column-1": "first_name"})
    page = answer.get_data(as_text=True)
    assert answer.status_code == 400 and "Choose the column that holds the e-mail addresses." in page
    assert '<option value="first_name" selected>' in page
    forged = post(bob, world, f"{path}/columns", **{"column-0": "email", "column-1": "metadata"})
    assert forged.status_code == 400
    assert post(bob, world, f"{path}/columns").status_code == 400


def test_progress_is_a_fragment_that_reloads_the_page_when_done(bob: FlaskClient, world: World) -> None:
    path = sent(bob, world, b"email\na@example.com\n")
    post(bob, world, f"{path}/columns", **{"column-0": "email"})
    address = f"{world.campaign}/import{path}/progress"
    answer = bob.get(address, headers={"HX-Request": "true"})
    assert "<progress" in answer.get_data(as_text=True) and "<html" not in answer.get_data(as_text=True)
    job.run(path[1:])
    assert bob.get(address, headers={"HX-Request": "true"}).headers["HX-Refresh"] == "true"


def test_undo_and_discard_ask_first(bob: FlaskClient, world: World) -> None:
    path = applied(bob, world, b"email\na@example.com\n", "email")
    asked = post(bob, world, f"{path}/undo")
    assert "1 person that it added is removed." in asked.get_data(as_text=True)
    post(bob, world, f"{path}/undo", confirmed="1")
    job.run(path[1:])
    assert "This import was taken back" in text(bob, world, path)
    assert not people(world)
    other = sent(bob, world, b"email\nb@example.com\n")
    assert "Nothing of it has reached the roster" in post(bob, world, f"{other}/discard").get_data(as_text=True)
    post(bob, world, f"{other}/discard", confirmed="1")
    assert "This file was discarded" in text(bob, world, other)


def test_rows_are_filtered_by_outcome_and_paged(bob: FlaskClient, world: World) -> None:
    content = "email\n" + "".join(f"p{n}@example.com\n" for n in range(60)) + "bad\n"
    path = applied(bob, world, content.encode(), "email")
    assert "1 to 50 of 61" in text(bob, world, path)
    assert "51 to 61 of 61" in text(bob, world, f"{path}?page=2")
    refused = text(bob, world, f"{path}?show=refused")
    assert "1 to 1 of 1" in refused and "p1@example.com" not in refused
    assert "1 to 1 of 1" in text(bob, world, f"{path}?show=noticed")
    assert "No row of this kind." in text(bob, world, f"{path}?show=updated")


def test_the_history_tells_who_imported_what(bob: FlaskClient, world: World) -> None:
    applied(bob, world, b"email\na@example.com\nbad\n", "email")
    page = text(bob, world, "")
    assert "people.csv" in page and "Bob" in page and "Applied" in page


def test_the_report_speaks_the_language_of_its_reader_only_in_the_notice(bob: FlaskClient, world: World) -> None:
    path = applied(bob, world, b"email\nbad\na@example.com\n", "email")
    rows = report(bob, world, path, lang="fr")
    assert rows[0]["outcome"] == "refused" and list(rows[0]) == ["row", "email", "outcome", "notice"]


def test_script_in_a_file_is_shown_as_text(bob: FlaskClient, world: World) -> None:
    content = b"email,<script>alert(1)</script>\n<img src=x>,<script>alert(2)</script>\na@example.com,<b>\n"
    path = sent(bob, world, content, "<script>.csv")
    for page in (text(bob, world, path), text(bob, world, "")):
        assert "<script>alert" not in page and "<img src=x>" not in page and "<script>.csv" not in page
    confirm(bob, world, path, "email", "first_name")
    page = text(bob, world, path)
    assert "&lt;script&gt;alert(2)" in page and "<script>alert" not in page


def test_another_accounts_import_is_not_there(bob: FlaskClient, charlie: FlaskClient, app: Flask, world: World) -> None:
    path = sent(bob, world, b"email\na@example.com\n")
    token = csrf(charlie, f"/accounts/{world.other_account_id}/campaigns/{world.other_campaign_id}/import")
    own = f"/accounts/{world.other_account_id}/campaigns/{world.other_campaign_id}/import{path}"
    for address in (f"{world.campaign}/import{path}", own, f"{own}/report.csv", f"{own}/progress", f"{own}/columns"):
        assert charlie.get(address).status_code == 404
    for step in ("columns", "application", "undo", "discard", "retry"):
        assert charlie.post(f"{own}/{step}", data={"csrf_token": token, "confirmed": "1"}).status_code == 404
    audrey = worlds.sign_in(app, "Audrey")
    assert audrey.get(f"{world.campaign}/import").status_code == 403
    assert db.session.scalar(select(Import.state)) == "uploaded"


def test_a_second_press_of_any_step_is_harmless(bob: FlaskClient, world: World) -> None:
    path = applied(bob, world, b"email\na@example.com\n", "email")
    for step in ("columns", "application", "discard", "retry"):
        answer = post(bob, world, f"{path}/{step}", confirmed="1", seen="99999999999", **{"column-0": "email"})
        assert answer.status_code == 302
    assert "Applied" in text(bob, world, path) and people(world).keys() == {"a@example.com"}


def test_a_sample_file_can_be_downloaded_and_imported(bob: FlaskClient, world: World) -> None:
    content = bob.get(f"{world.campaign}/import/sample.csv").data
    applied(bob, world, content, "email", "first_name", "last_name", "language")
    assert people(world)["jean.dupont@example.com"].language == "fr"


def test_an_upload_over_64_mib_is_refused(bob: FlaskClient, world: World) -> None:
    answer = bob.post(
        f"{world.campaign}/import",
        environ_overrides={"CONTENT_LENGTH": str(65 * 1024 * 1024)},
        content_type="multipart/form-data; boundary=x",
        data=b"",
    )
    assert answer.status_code == 413
