"""A worker killed with -9 in the middle of a check or of an apply: another goes on, and every row counts once."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from io import BytesIO

import pytest
from flask import Flask
from sqlalchemy import ColumnElement, func, select, update

from core import files
from core.db import Model, db, transaction
from domain.campaigns import campaign as campaigns
from domain.campaigns.campaign import Campaign
from domain.campaigns.imports import Import, questions, steps
from domain.campaigns.roster import Participant
from domain.events.audit import COMMAND_LINE, AuditEntry
from domain.events.event import Event
from outbound import spreadsheets
from tests.processes.parts import Parts, kill, wait_for
from tests.world import World

ROWS = 20_000
PATIENCE_SECONDS = 90.0


@pytest.fixture
def waiting(app: Flask, world: World) -> str:
    """An uploaded file of 20,000 people, one of them twice and one without an address."""
    rows = "".join(f"p{n}@example.com,P{n},{'fr' if n % 2 else ''}\n" for n in range(ROWS - 2))
    text = f"email,first name,lang\np7@example.com,Earlier,\nnobody,N,\n{rows}"
    stored = files.store(BytesIO(text.encode()))
    layout = spreadsheets.inspect(files.path_of(stored.name), "many.csv")
    with transaction():
        campaign = campaigns.get(world.account_id, world.campaign_id)
        return steps.receive(campaign, "many.csv", stored, layout, COMMAND_LINE).id


def now(import_id: str) -> Import:
    db.session.rollback()
    found = db.session.get(Import, import_id, populate_existing=True)
    assert found is not None
    return found


def until(question: Callable[[], bool]) -> None:
    wait_for(question, PATIENCE_SECONDS)


def kill_half_way(worker: subprocess.Popen[bytes], import_id: str, state: str) -> int:
    """Kill -9 once some chunks are written; returns the rows that stood then."""
    until(lambda: now(import_id).rows_done >= 2000 and now(import_id).state == state)
    kill(worker)
    left = now(import_id)
    assert left.state == state and 0 < left.rows_done < ROWS, "the kill came too late to show anything"
    return left.rows_done


def let_the_lease_run_out(import_id: str) -> None:
    """What 30 s without a sign of life come to."""
    with transaction():
        db.session.execute(update(Import).where(Import.id == import_id).values(lease_until=1))


def confirm(import_id: str) -> None:
    with transaction():
        import_ = now_inside(import_id)
        assert steps.choose_columns(import_, import_.mapping, COMMAND_LINE)


def press_apply(import_id: str) -> bool:
    with transaction():
        import_ = now_inside(import_id)
        return steps.apply(import_, import_.lease_generation, COMMAND_LINE)


def now_inside(import_id: str) -> Import:
    found = db.session.get(Import, import_id)
    assert found is not None
    return found


def count(model: type[Model], *conditions: ColumnElement[bool]) -> int:
    return db.session.scalar(select(func.count()).select_from(model).where(*conditions)) or 0


EXPECTED = {"created": ROWS - 2, "updated": 0, "unchanged": 1, "refused": 1, "noticed": 2}


def test_a_check_killed_half_way_goes_on_where_it_stopped(parts: Parts, waiting: str, world: World) -> None:
    first = parts.start("taker")
    confirm(waiting)
    kill_half_way(first, waiting, "checking")
    let_the_lease_run_out(waiting)
    parts.start("loop")
    until(lambda: now(waiting).state == "checked")
    assert now(waiting).counts == EXPECTED
    assert [row.number for row in questions.all_rows(now(waiting))] == list(range(2, ROWS + 2))
    assert count(Participant) == 0


def test_an_apply_killed_half_way_writes_every_row_once(parts: Parts, waiting: str, world: World) -> None:
    first = parts.start("loop")  # which needs no wake-up, so that a busy machine cannot lose one
    confirm(waiting)
    until(lambda: now(waiting).state == "checked")
    assert [press_apply(waiting), press_apply(waiting)] == [True, False]
    done = kill_half_way(first, waiting, "applying")
    assert count(Participant) in range(done - 2, done + 1)
    let_the_lease_run_out(waiting)
    parts.start("loop")
    until(lambda: now(waiting).state == "applied")
    assert now(waiting).counts == EXPECTED
    assert count(Participant, Participant.campaign_id == world.campaign_id) == ROWS - 2
    assert count(Event, Event.name == "participant.joined") == ROWS - 2
    assert count(AuditEntry, AuditEntry.action == "import.applied") == 1
    assert db.session.scalar(select(Campaign.roster_size).where(Campaign.id == world.campaign_id)) == ROWS - 2


def test_an_undo_killed_half_way_ends_with_the_roster_as_before(parts: Parts, waiting: str, world: World) -> None:
    first = parts.start("loop")  # which needs no wake-up, so that a busy machine cannot lose one
    confirm(waiting)
    until(lambda: now(waiting).state == "checked")
    press_apply(waiting)
    until(lambda: now(waiting).state == "applied")
    with transaction():
        assert steps.undo(now_inside(waiting), COMMAND_LINE)
    kill_half_way(first, waiting, "undoing")
    let_the_lease_run_out(waiting)
    parts.start("loop")
    until(lambda: now(waiting).state == "undone")
    assert now(waiting).undo_counts == {"removed": ROWS - 2, "reverted": 0, "kept": 0}
    assert count(Participant) == 0
    assert db.session.scalar(select(Campaign.roster_size).where(Campaign.id == world.campaign_id)) == 0


def test_two_workers_at_once_share_nothing(parts: Parts, waiting: str, world: World) -> None:
    parts.start("taker")
    parts.start("loop")
    confirm(waiting)
    until(lambda: now(waiting).state == "checked")
    press_apply(waiting)
    until(lambda: now(waiting).state == "applied")
    assert now(waiting).counts == EXPECTED
    assert count(Event, Event.name == "participant.joined") == ROWS - 2
