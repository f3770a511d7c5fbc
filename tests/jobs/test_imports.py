"""Imports through the worker, on both databases: check, apply, undo, leases and the sweep."""

from __future__ import annotations

import io
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

import pytest
import time_machine
from flask import Flask
from sqlalchemy import ColumnElement, func, select

from contract.paging import Paging
from contract.participants import ParticipantUpsert
from core import clock, files
from core.db import Model, db, is_postgresql, transaction
from core.write_turn import LOOK_SECONDS
from domain.campaigns import campaign as campaigns
from domain.campaigns import roster
from domain.campaigns.campaign import Campaign
from domain.campaigns.imports import Import, ImportChunk, questions, steps, work
from domain.campaigns.imports.plan import PlannedRow
from domain.campaigns.roster import Participant
from domain.events.audit import COMMAND_LINE, AuditEntry
from domain.events.event import Event
from jobs import imports as job
from outbound import spreadsheets
from tests import world as worlds
from tests.world import World


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "ROWS_IN_A_CHUNK", 10)


def upload(world: World, text: str, name: str = "people.csv") -> str:
    """Send a file as the page does; returns the import's id."""
    stored = files.store(io.BytesIO(text.encode()))
    layout = spreadsheets.inspect(files.path_of(stored.name), name)
    with transaction():
        campaign = campaigns.get(world.account_id, world.campaign_id)
        return steps.receive(campaign, name, stored, layout, COMMAND_LINE).id


def confirm(import_id: str, mapping: list[str] | None = None) -> None:
    with transaction():
        import_ = found(import_id)
        assert steps.choose_columns(import_, mapping or import_.mapping, COMMAND_LINE)


def checked(world: World, text: str, mapping: list[str] | None = None) -> str:
    import_id = upload(world, text)
    confirm(import_id, mapping)
    assert job.run(import_id)
    assert found(import_id).state == "checked", found(import_id).error
    return import_id


def press_apply(import_id: str) -> bool:
    with transaction():
        import_ = found(import_id)
        return steps.apply(import_, import_.lease_generation, COMMAND_LINE)


def applied(world: World, text: str, mapping: list[str] | None = None) -> str:
    import_id = checked(world, text, mapping)
    assert press_apply(import_id)
    assert job.run(import_id)
    assert found(import_id).state == "applied", found(import_id).error
    return import_id


def undone(import_id: str) -> Import:
    with transaction():
        assert steps.undo(found(import_id), COMMAND_LINE)
    assert job.run(import_id)
    assert found(import_id).state == "undone"
    return found(import_id)


def found(import_id: str) -> Import:
    import_ = db.session.get(Import, import_id, populate_existing=True)
    assert import_ is not None
    return import_


def people(world: World) -> dict[str, Participant]:
    db.session.rollback()
    rows = db.session.scalars(select(Participant).where(Participant.campaign_id == world.campaign_id))
    return {row.email: row for row in rows}


def change(world: World, email: str, **properties: object) -> None:
    worlds.add_participant(world, email, **properties)


def count(model: type[Model], *conditions: ColumnElement[bool]) -> int:
    return db.session.scalar(select(func.count()).select_from(model).where(*conditions)) or 0


def roster_size(world: World) -> int:
    return db.session.scalars(select(Campaign.roster_size).where(Campaign.id == world.campaign_id)).one()


def lines(header: str, rows: Iterable[str]) -> str:
    return "\n".join([header, *rows]) + "\n"


MANY = lines("email,first name", (f"p{n}@example.com,P{n}" for n in range(35)))


def counts(import_id: str) -> dict[str, int]:
    return {name: value for name, value in found(import_id).counts.items() if name != "noticed"}


def test_a_check_writes_nothing_and_its_counts_sum_to_the_rows_read(app: Flask, world: World) -> None:
    change(world, "old@example.com", firstName="Old")
    change(world, "same@example.com", firstName="Same")
    text = "email,first name\nnew@example.com,N\nold@example.com,New\nsame@example.com,Same\nbad,B\n"
    import_id = checked(world, text)
    assert counts(import_id) == {"created": 1, "updated": 1, "unchanged": 1, "refused": 1}
    assert found(import_id).rows_total == found(import_id).rows_read == 4
    assert people(world).keys() == {"old@example.com", "same@example.com"}


def test_apply_writes_what_the_check_showed_once(app: Flask, world: World) -> None:
    import_id = applied(world, MANY)
    assert counts(import_id)["created"] == len(people(world)) == 35
    assert count(Event, Event.name == "participant.joined") == 35
    assert count(AuditEntry, AuditEntry.action == "import.applied") == 1
    assert roster_size(world) == 35
    assert not files.path_of(found(import_id).stored_name).exists()


def test_apply_pressed_twice_starts_once(app: Flask, world: World) -> None:
    import_id = checked(world, MANY)
    assert [press_apply(import_id), press_apply(import_id)] == [True, False]
    assert [job.run(import_id), job.run(import_id)] == [True, False]
    assert not press_apply(import_id)
    assert count(Event, Event.name == "participant.joined") == 35


def test_apply_of_an_older_check_is_refused(app: Flask, world: World) -> None:
    import_id = checked(world, MANY)
    seen = found(import_id).lease_generation
    confirm(import_id, ["email", "ignore"])
    job.run(import_id)
    with transaction():
        assert not steps.apply(found(import_id), seen, COMMAND_LINE)


def test_the_same_file_again_changes_nothing(app: Flask, world: World) -> None:
    applied(world, MANY)
    before = {email: row.updated_at for email, row in people(world).items()}
    again = applied(world, MANY)
    assert counts(again) == {"created": 0, "updated": 0, "unchanged": 35, "refused": 0}
    assert {email: row.updated_at for email, row in people(world).items()} == before


def test_a_roster_that_moved_on_is_merged_afresh(app: Flask, world: World) -> None:
    import_id = checked(world, "email,first name\na@example.com,Ana\nb@example.com,Ben\n")
    change(world, "a@example.com", lastName="Souza")
    press_apply(import_id)
    job.run(import_id)
    assert counts(import_id) == {"created": 1, "updated": 1, "unchanged": 0, "refused": 0}
    ana = people(world)["a@example.com"]
    assert (ana.first_name, ana.last_name) == ("Ana", "Souza")


def test_a_row_that_the_roster_refuses_at_apply_loses_nobody_else(app: Flask, world: World) -> None:
    text = lines("email,Site", (f"p{n}@example.com,x" for n in range(9)))
    import_id = checked(world, text, ["email", "metadata"])
    change(world, "p4@example.com", metadata={f"k{n}": n for n in range(50)})
    press_apply(import_id)
    job.run(import_id)
    assert counts(import_id) == {"created": 8, "updated": 0, "unchanged": 0, "refused": 1}
    rows, _ = questions.page(found(import_id), "refused", Paging())
    assert [notice.code for notice in rows[0].notices] == ["TOO_MANY_METADATA_KEYS"]


def test_pages_of_rows_find_their_rows_across_chunks(app: Flask, world: World) -> None:
    text = lines("email", (f"p{n}@example.com" if n % 3 else "bad" for n in range(60)))
    import_ = found(checked(world, text))
    rows, total = questions.page(import_, "refused", Paging(2, 8))
    assert (total, [row.number for row in rows]) == (20, [2 + 3 * n for n in range(8, 16)])
    everything = [row.number for row in questions.all_rows(import_)]
    assert everything == list(range(2, 62))


def test_an_undo_removes_and_reverts_what_nobody_touched_since(app: Flask, world: World) -> None:
    change(world, "old@example.com", firstName="Old", metadata={"lang": "es"})
    change(world, "kept@example.com", firstName="Kept", lastName="K")
    text = (
        "email,first name,last name,lang\nnew@example.com,N,,\ntouched@example.com,T,,\n"
        "old@example.com,Newer,,-\nkept@example.com,Import,Import,\n"
    )
    import_id = applied(world, text)
    change(world, "touched@example.com", lastName="Since")
    change(world, "kept@example.com", firstName="Since")
    import_ = undone(import_id)
    assert import_.undo_counts == {"removed": 1, "reverted": 1, "kept": 2}
    left = people(world)
    assert left.keys() == {"touched@example.com", "old@example.com", "kept@example.com"}
    assert left["old@example.com"].first_name == "Old"
    assert roster.stated_language(left["old@example.com"]) == "es"
    assert (left["kept@example.com"].first_name, left["kept@example.com"].last_name) == ("Since", "K")
    told = {row.cells[0]: [notice.code for notice in row.notices] for row in questions.all_rows(import_)}
    assert told["touched@example.com"] == ["UNDO_PERSON_KEPT"] and told["kept@example.com"] == ["UNDO_FIELD_KEPT"]
    assert count(AuditEntry, AuditEntry.action == "import.undone") == 1
    assert roster_size(world) == 3


def test_an_undo_leaves_a_person_who_was_removed_and_added_again(app: Flask, world: World) -> None:
    import_id = applied(world, "email\na@example.com\n")
    with transaction():
        campaign = campaigns.get(world.account_id, world.campaign_id)
        roster.remove(campaign, [people_ids(world)[0]], COMMAND_LINE)
    with time_machine.travel(clock.to_datetime(clock.now_ms() + 5000)), transaction():
        campaign = campaigns.get(world.account_id, world.campaign_id)
        roster.upsert(campaign, ParticipantUpsert.model_validate({"email": "a@example.com"}), COMMAND_LINE)
    assert undone(import_id).undo_counts["kept"] == 1
    assert "a@example.com" in people(world)


def people_ids(world: World) -> list[str]:
    return list(db.session.scalars(select(Participant.id).where(Participant.campaign_id == world.campaign_id)))


def test_a_held_import_is_left_alone_until_its_lease_runs_out(app: Flask, world: World) -> None:
    import_id = upload(world, MANY)
    confirm(import_id)
    with transaction():
        assert work.claim(import_id) is not None
    assert not job.run(import_id)
    assert job.sweep() == 0
    with time_machine.travel(clock.to_datetime(clock.now_ms() + work.LEASE_MS + work.GRACE_MS + 1000)):
        assert job.sweep() == 1
    assert found(import_id).state == "checked"


def test_a_fresh_step_is_the_workers_for_a_moment_and_then_the_sweeps(app: Flask, world: World) -> None:
    import_id = upload(world, MANY)
    confirm(import_id)
    assert job.sweep() == 0
    with time_machine.travel(clock.to_datetime(clock.now_ms() + work.GRACE_MS + 1000)):
        assert job.sweep() == 1
    assert found(import_id).state == "checked"


def test_a_late_holder_changes_nothing(app: Flask, world: World) -> None:
    import_id = checked(world, MANY)
    press_apply(import_id)
    with transaction():
        late = work.claim(import_id)
    assert late is not None
    with time_machine.travel(clock.to_datetime(clock.now_ms() + work.LEASE_MS + 1000)):
        assert job.run(import_id)
    with pytest.raises(work.LeaseLost), transaction():
        work.hold(late, rows_done=0)
    assert count(Event, Event.name == "participant.joined") == 35


def test_a_broken_off_check_goes_on_after_its_last_chunk(
    app: Flask, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_id = upload(world, MANY)
    confirm(import_id)
    written = work.keep_plan

    def break_off(holder: work.Claim, number: int, rows: Sequence[PlannedRow]) -> None:
        if number == 2:
            raise RuntimeError("the lights went out")
        written(holder, number, rows)

    monkeypatch.setattr(work, "keep_plan", break_off)
    job.run(import_id)
    assert (found(import_id).state, found(import_id).rows_done) == ("checking", 20)
    monkeypatch.setattr(work, "keep_plan", written)
    job.run(import_id)
    assert counts(import_id)["created"] == 35
    assert [row.number for row in questions.all_rows(found(import_id))] == list(range(2, 37))


def test_a_step_that_keeps_breaking_says_so_and_can_be_tried_again(
    app: Flask, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_id = checked(world, MANY)
    press_apply(import_id)

    def break_off(*_: object) -> None:
        raise RuntimeError("the lights went out")

    with monkeypatch.context() as broken:
        broken.setattr(work, "apply_chunk", break_off)
        for _ in range(3):
            assert job.run(import_id)
    assert (found(import_id).state, found(import_id).failed_in) == ("failed", "applying")
    assert not people(world)
    with transaction():
        assert not steps.discard(found(import_id))
        assert steps.try_again(found(import_id), COMMAND_LINE)
    job.run(import_id)
    assert counts(import_id)["created"] == len(people(world)) == 35


def test_a_mapping_is_remembered_for_files_of_the_same_columns(app: Flask, world: World) -> None:
    text = "E-Mail,Site,Team\na@example.com,Lyon,A\n"
    checked(world, text, ["email", "metadata", "segment"])
    assert found(upload(world, text.replace("E-Mail", "email"))).mapping == ["email", "metadata", "segment"]
    assert found(upload(world, "email,Site\na@example.com,Lyon\n")).mapping == ["email", "ignore"]


def test_a_file_that_breaks_while_it_is_read_is_refused_whole(app: Flask, world: World) -> None:
    import_id = upload(world, MANY)
    confirm(import_id)
    files.remove(found(import_id).stored_name)
    job.run(import_id)
    assert (found(import_id).state, found(import_id).error) == ("refused", {"code": "FILE_GONE", "params": {}})
    assert count(ImportChunk) == 0


def test_a_discarded_import_leaves_neither_rows_nor_file(app: Flask, world: World) -> None:
    import_id = checked(world, MANY)
    with transaction():
        assert steps.discard(found(import_id))
    assert count(ImportChunk) == 0
    assert not files.path_of(found(import_id).stored_name).exists()


def test_two_imports_of_the_same_new_people_give_one_row_each(app: Flask, world: World) -> None:
    first, second = checked(world, MANY), checked(world, MANY)
    for import_id in (first, second):
        press_apply(import_id)
        job.run(import_id)
    assert counts(second)["unchanged"] == 35
    assert count(Event, Event.name == "participant.joined") == 35


def test_an_xlsx_file_is_imported_too(app: Flask, world: World) -> None:
    from openpyxl import Workbook

    book = Workbook()
    book.worksheets[0].append(["Email", "First name", "Employee"])
    book.worksheets[0].append(["a@example.com", "Ana", 7])
    buffer = io.BytesIO()
    book.save(buffer)
    stored = files.store(io.BytesIO(buffer.getvalue()))
    layout = spreadsheets.inspect(files.path_of(stored.name), "people.xlsx")
    with transaction():
        campaign = campaigns.get(world.account_id, world.campaign_id)
        received = steps.receive(campaign, "people.xlsx", stored, replace(layout), COMMAND_LINE)
        import_id = received.id
    confirm(import_id, ["email", "first_name", "metadata"])
    job.run(import_id)
    press_apply(import_id)
    job.run(import_id)
    assert people(world)["a@example.com"].bag == {"Employee": "7"}


def test_a_long_import_lets_others_write(app: Flask, world: World):
    """A writer who looks every 2 ms, as those do who wait for their turn, gets in between the chunks."""
    if is_postgresql():
        pytest.skip("writers wait for rows there, not for the database")
    import_id = checked(world, "email\n" + "".join(f"p{number}@example.com\n" for number in range(400)))
    assert press_apply(import_id)
    waiting = Waiting(str(db.engine.url.database))
    waiting.start()
    job.run(import_id)
    waiting.is_over.set()
    waiting.join()
    assert found(import_id).state == "applied"
    assert any(0 < applied < 40 for applied in waiting.met), "the other writer met the import under way"


class Waiting(threading.Thread):
    """A writer in another process' place: it asks for the write lock every 2 ms, and notes how many chunks it meets."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self.file, self.is_over = file, threading.Event()
        self.met: set[int] = set()

    def run(self) -> None:
        connection = sqlite3.connect(self.file, isolation_level=None, timeout=0)
        while not self.is_over.wait(LOOK_SECONDS):
            with suppress(sqlite3.OperationalError):
                connection.execute("BEGIN IMMEDIATE")
                applied = connection.execute("SELECT count(*) FROM import_chunk WHERE state = 'applied'").fetchone()[0]
                connection.execute("ROLLBACK")
                self.met.add(applied)
        connection.close()
