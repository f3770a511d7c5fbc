"""What is asked of a long log of deliveries, and of many that are due, is answered from an index."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import event as sql
from sqlalchemy import text

from core import clock
from core.db import db, is_postgresql, transaction
from domain.events.audit import COMMAND_LINE
from domain.events.delivery import claiming, counting, mending, questions, refiring, tally
from domain.events.delivery.questions import Wanted
from domain.events.delivery.results import Ladder, Outcome, settle
from tests.jobs import hooks
from tests.world import World

URL = "http://receiver.example/hook"
SOME_ID = "dlv_01m7z8w0000000000000000000"
# The whole of an index that holds but what is leased is not much.
WHOLE_TABLE = re.compile(r"Seq Scan on delivery\b|SCAN delivery(?! USING (COVERING )?INDEX ix_delivery_leased)")


@contextmanager
def statements() -> Iterator[list[tuple[str, Any]]]:
    """The statements of the block that name deliveries, with their parameters."""
    seen: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_more: Any) -> None:
        if re.search(r"\bdelivery\b", statement):
            seen.append((statement, parameters))

    sql.listen(db.engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        sql.remove(db.engine, "before_cursor_execute", note)


def plan(statement: str, parameters: Any) -> str:
    """How the database would go about it where the table is large: by its order, if an index has it."""
    if isinstance(parameters, list):
        parameters = parameters[0]
    with db.engine.connect() as connection:
        if is_postgresql():
            for way in ("seqscan", "bitmapscan", "sort", "incremental_sort"):
                connection.execute(text(f"SET LOCAL enable_{way} = off"))
        explain = "EXPLAIN " if is_postgresql() else "EXPLAIN QUERY PLAN "
        lines = connection.exec_driver_sql(explain + statement, parameters)
        return "\n".join(str(line[-1]) for line in lines)


@pytest.fixture
def webhook(world: World) -> str:
    made = hooks.subscribe(world, URL, "campaign.updated", "file.deleted")
    hooks.happen(world, 20)
    return made


def require_an_index(ask: Callable[[], object]) -> None:
    with statements() as seen:
        ask()
    assert seen, "nothing was asked"
    for statement, parameters in seen:
        found = plan(statement, parameters)
        assert not WHOLE_TABLE.search(found), f"{statement}\n{found}"


@pytest.mark.parametrize("state", ["", "exhausted"])
@pytest.mark.parametrize("event", ["", "file.deleted"])
@pytest.mark.parametrize("span", [{}, {"since": 5}, {"until": 5}, {"since": 5, "until": 9}])
@pytest.mark.parametrize("place", [{}, {"older_than": SOME_ID}, {"newer_than": SOME_ID}])
def test_a_page_of_the_log_is_read_in_its_order(
    world: World, webhook: str, state: str, event: str, span: dict[str, int], place: dict[str, str]
) -> None:
    wanted = Wanted(state=state, event=event, **span)
    with statements() as seen:
        questions.log(world.account_id, webhook, wanted, **place)
    (asked,) = seen
    found = plan(*asked)
    assert not WHOLE_TABLE.search(found) and "Sort" not in found and "TEMP B-TREE" not in found, found


def test_what_is_known_by_its_id_is_found_at_once(world: World, webhook: str) -> None:
    for each in (SOME_ID, "evt" + SOME_ID[3:]):
        require_an_index(lambda each=each: questions.log(world.account_id, webhook, Wanted(id=each)))


def test_counts_and_health_read_no_other_rows(world: World, webhook: str) -> None:
    require_an_index(lambda: questions.health(world.account_id))
    require_an_index(lambda: counting.lately(world.account_id))
    require_an_index(lambda: counting.exhausted(webhook, 5, clock.now_ms(), "file.deleted"))
    require_an_index(tally.standing)


def test_a_round_of_a_drain_reads_only_what_it_takes(world: World, webhook: str) -> None:
    def round_of_a_drain() -> None:
        now = clock.now_ms()
        with transaction():
            claims = claiming.claim(claiming.waiting(now), 8, 0, now, 90_000, 1 << 20)
            claiming.hold(claims, 90_000)
            settle([Outcome(each, now, 1, 500, "BAD_STATUS", b"", None) for each in claims], Ladder(3, [0]))
        assert len(claims) == 8

    require_an_index(round_of_a_drain)
    require_an_index(lambda: mending.something_is_due(90_000, clock.MINUTE_MS))


def test_what_is_put_right_or_sent_again_is_found_by_an_index(world: World, webhook: str) -> None:
    def put_right() -> None:
        for wrong in mending.wrongs(90_000, clock.MINUTE_MS, take_back=True):
            with transaction():
                mending.mend(wrong)

    def send_again() -> None:
        with transaction():
            refiring.refire_range(world.account_id, webhook, COMMAND_LINE, since=5, until=clock.now_ms())

    require_an_index(put_right)
    require_an_index(send_again)
    require_an_index(lambda: hooks.change(world, webhook, "delete"))


def test_the_statements_of_a_round_do_not_grow_with_the_subscriptions(app: Flask, world: World) -> None:
    def asked_for(subscriptions: int) -> int:
        for _ in range(subscriptions):
            hooks.subscribe(world, URL)
        hooks.happen(world, 3)
        now = clock.now_ms()
        with statements() as seen, transaction():
            claiming.claim(claiming.waiting(now), 64, 0, now, 90_000, 1 << 20)
        return len(seen)

    assert asked_for(1) == asked_for(10)
