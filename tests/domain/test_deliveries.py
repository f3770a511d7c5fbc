"""Deliveries as rows: the fan-out, the log that screens page through, health, and the numbers for operators."""

from __future__ import annotations

import time
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import event as sql
from sqlalchemy.exc import IntegrityError

from core import clock
from core.db import db, transaction
from core.errors import NotFound
from domain.events.audit import COMMAND_LINE
from domain.events.delivery import claiming, questions, record, refiring, tally
from domain.events.delivery.questions import Wanted
from domain.events.delivery.record import Occurrence
from domain.events.delivery.results import Ladder, Outcome, settle
from tests.jobs import hooks
from tests.world import World

URL = "http://receiver.example/hook"


def send(world: World, status: int = 200, most: int = 64, ladder: Ladder | None = None) -> int:
    """Everything that is due is answered with this status; returns how many that were."""
    error = None if status == 200 else "BAD_STATUS"
    now = clock.now_ms()
    with transaction():
        claims = claiming.claim(claiming.waiting(now), most, 0, now, 90_000, 1 << 20)
        outcomes = [
            Outcome(claim, clock.now_ms(), 5, status, error, b"no\0t text \xff", "203.0.113.9") for claim in claims
        ]
        settle(outcomes, ladder or Ladder(3, [0]))
    return len(claims)


def test_one_query_is_what_an_event_costs_where_nobody_listens(app: Flask, world: World) -> None:
    statements: list[str] = []

    def note(*seen: Any) -> None:
        statements.append(seen[2])

    sql.listen(db.engine, "before_cursor_execute", note)
    try:
        hooks.happen(world, 100)
    finally:
        sql.remove(db.engine, "before_cursor_execute", note)
    asked = [each for each in statements if "INTO event" not in each and not each.startswith(("BEGIN", "COMMIT"))]
    assert len(asked) == 1 and "webhook_subscription" in asked[0]


def test_a_hundred_thousand_events_fan_out_quickly(app: Flask, world: World) -> None:
    hooks.subscribe(world, URL)
    began = time.perf_counter()
    hooks.happen(world, 100_000)
    assert time.perf_counter() - began < 60
    assert tally.standing().due == 100_000


def test_an_event_goes_to_a_subscription_once(world: World) -> None:
    subscription_id = hooks.subscribe(world, URL)
    hooks.happen(world)
    (row,) = hooks.rows()
    again = Occurrence(row.event_id or "", world.account_id, row.event, {})
    with pytest.raises(IntegrityError), transaction():
        record.add_many([again], [subscription_id])


def test_first_attempts_go_before_late_retries(world: World) -> None:
    hooks.subscribe(world, URL)
    hooks.happen(world, 3)
    assert send(world, 500) == 3
    hooks.happen(world, 2)
    fresh = {row.id for row in hooks.rows() if row.attempts == 0}
    now = clock.now_ms()
    with transaction():
        claims = claiming.claim(claiming.waiting(now), 3, 0, now, 90_000, 1 << 20)
    assert {claim.delivery_id for claim in claims} > fresh
    assert sorted(claim.attempts for claim in claims) == [0, 0, 1]


def test_a_result_whose_commit_was_not_heard_of_is_written_once(world: World) -> None:
    hooks.subscribe(world, URL)
    hooks.happen(world)
    now = clock.now_ms()
    with transaction():
        claims = claiming.claim(claiming.waiting(now), 1, 0, now, 90_000, 1 << 20)
    for _ in range(2):
        with transaction():
            settle([Outcome(each, now, 5, 500, "BAD_STATUS", b"", None) for each in claims], Ladder(3, [0]))
    assert [row.attempts for row in hooks.rows()] == [1] and len(hooks.attempts()) == 1
    assert tally.counts()["failed"] == 1


def test_large_payloads_are_taken_few_at_a_time(world: World) -> None:
    hooks.subscribe(world, URL)
    hooks.happen(world, 5, text="é" * 500)

    def claimed(most_bytes: int) -> int:
        now = clock.now_ms()
        with transaction():
            return len(claiming.claim(claiming.waiting(now), 5, 0, now, 90_000, most_bytes))

    assert claimed(10) == 1, "with nothing in flight one goes however long it is"
    assert claimed(10) == 0, "the next one waits for it"
    assert claimed(5_000) == 2, "half of what is left is for the others"


def test_the_log_is_paged_by_key(world: World) -> None:
    subscription_id = hooks.subscribe(world, URL)
    hooks.happen(world, 7)
    ids = [row.id for row in hooks.rows()][::-1]
    first = questions.log(world.account_id, subscription_id, limit=3)
    assert ([row.id for row in first.rows], first.newer) == (ids[:3], None)
    second = questions.log(world.account_id, subscription_id, older_than=first.older, limit=3)
    assert [row.id for row in second.rows] == ids[3:6]
    third = questions.log(world.account_id, subscription_id, older_than=second.older, limit=3)
    assert ([row.id for row in third.rows], third.older) == (ids[6:], None)
    back = questions.log(world.account_id, subscription_id, newer_than=third.newer, limit=3)
    assert [row.id for row in back.rows] == ids[3:6]
    assert questions.log(world.account_id, subscription_id, newer_than=back.newer, limit=3).newer is None


def test_the_log_is_filtered(world: World) -> None:
    subscription_id = hooks.subscribe(world, URL, "campaign.updated", "file.deleted")
    hooks.happen(world)
    send(world)
    hooks.happen(world, 2, "file.deleted")
    older, *newer = hooks.rows()
    for wanted, expected in (
        (Wanted(state="accepted"), {older.id}),
        (Wanted(event="file.deleted"), {row.id for row in newer}),
        (Wanted(id=newer[0].id), {newer[0].id}),
        (Wanted(id=older.event_id or ""), {older.id}),
        (Wanted(since=older.created_at, until=newer[1].created_at), {older.id, *(row.id for row in newer)}),
        (Wanted(since=clock.now_ms() + 1), set()),
        (Wanted(state="exhausted"), set()),
    ):
        found = questions.log(world.account_id, subscription_id, wanted).rows
        assert {row.id for row in found} == expected
    assert questions.log(world.other_account_id, subscription_id).rows == []


def test_a_delivery_shows_its_attempts_and_its_exact_body(world: World) -> None:
    subscription_id = hooks.subscribe(world, URL)
    hooks.happen(world)
    send(world, 500)
    send(world)
    found = questions.get(world.account_id, hooks.rows(subscription_id)[0].id)
    first, second = questions.attempts(found)
    assert [(first.number, first.status, first.error), (second.number, second.status, second.error)] == [
        (1, 500, "BAD_STATUS"),
        (2, 200, None),
    ]
    assert first.answer == b"no\0t text \xff"
    body = record.body(found.id, found.event_id, found.event, found.account_id, first.at, found.payload)
    assert body.startswith(b'{"id":"dlv_') and body.endswith(b',"payload":{"number":0}}')
    assert b'"eventId":null' in record.body("dlv_1", None, "file.deleted", "acc_1", 1, "{}")
    with pytest.raises(NotFound):
        questions.get(world.other_account_id, found.id)


def test_health_tells_how_the_latest_went(world: World) -> None:
    well, badly, new = (hooks.subscribe(world, URL) for _ in range(3))
    hooks.change(world, new, "set_active", False)
    hooks.happen(world, 2)
    hooks.change(world, badly, "set_active", False)
    send(world)
    hooks.change(world, badly, "set_active", True)
    send(world, 500, most=1, ladder=Ladder(1, [0]))
    health = questions.health(world.account_id)
    assert (health[well].success_rate, health[well].settled, health[well].last_status) == (1.0, 2, 200)
    assert (health[badly].success_rate, health[badly].last_error) == (0.0, "BAD_STATUS")
    assert (health[badly].failure_count, health[badly].waiting) == (1, 1)
    assert (health[new].success_rate, health[new].last_sent_at, health[new].waiting) == (None, None, 0)
    assert questions.health(world.account_id, well).keys() == {well}
    assert questions.health(world.other_account_id) == {}


def test_health_is_of_what_was_sent_last_however_much_waits(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "LATEST", 3)
    webhook = hooks.subscribe(world, URL)
    hooks.happen(world, 1)
    send(world)
    hooks.happen(world, 5)
    found = questions.health(world.account_id)[webhook]
    assert (found.success_rate, found.settled, found.last_status, found.waiting) == (1.0, 1, 200, 5)


def test_health_is_of_what_was_sent_last_however_old_it_is(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "LATEST", 3)
    webhook = hooks.subscribe(world, URL)
    hooks.happen(world, 5)
    send(world, 500, ladder=Ladder(1, [0]))
    assert questions.health(world.account_id)[webhook].is_failing
    with transaction():
        refiring.refire(world.account_id, hooks.rows(webhook)[0].id, COMMAND_LINE)
    send(world)
    found = questions.health(world.account_id)[webhook]
    assert (found.is_failing, found.success_rate, found.given_up) == (False, 1 / 3, 4)


def test_operators_see_what_waits(world: World) -> None:
    hooks.subscribe(world, URL)
    hooks.happen(world, 3)
    now = clock.now_ms()
    with transaction():
        claiming.claim(claiming.waiting(now), 1, 0, now, 90_000, 1 << 20)
    standing = tally.standing()
    assert (standing.due, standing.in_flight) == (3, 1) and standing.oldest_due_ms >= 0
    send(world, 500, ladder=Ladder(1, [0]))
    counts = tally.counts()
    assert (counts["failed"], counts["exhausted"]) == (2, 2) and "accepted" not in counts
    assert sum(count for name, count in counts.items() if name.startswith("latency.") and name != "latency.sum") == 2
