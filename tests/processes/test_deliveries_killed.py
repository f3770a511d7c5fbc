"""Processes killed with -9 at every step of a delivery: nothing is lost, and only what was on the wire goes twice."""

from __future__ import annotations

import socket
import threading
import time
from collections import Counter
from contextlib import ExitStack

import pytest
from sqlalchemy import func, select

from core.db import db
from domain.campaigns.campaign import Campaign
from domain.events.event import Event
from tests.jobs import hooks
from tests.processes.parts import Parts, all_accepted, kill, on_sqlite, wait_for
from tests.servers.receiver import Receiver
from tests.world import World

# A change of a campaign with its events, by a process that stops where `at` says and waits for its end.
CHANGE = """
import sys, time
from app import create_app
from core.db import on_commit, transaction
from domain.campaigns import campaign as campaigns
from domain.events import event

account_id, campaign_id, times, at = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]

def stop_here():
    print("here", flush=True)
    time.sleep(60)

with create_app().app_context(), transaction():
    if at == "between":
        on_commit(stop_here)
    campaigns.get(account_id, campaign_id).name = "Changed"
    event.record_many(account_id, "campaign.updated", [{"number": number} for number in range(times)])
    if at == "during":
        stop_here()
"""


def name_of(world: World) -> str:
    db.session.rollback()
    return db.session.scalars(select(Campaign.name).where(Campaign.id == world.campaign_id)).one()


def changes_and_stops(parts: Parts, world: World, at: str, times: int = 3) -> None:
    """The process above, killed where it stopped."""
    changing = parts.run(["-c", CHANGE, world.account_id, world.campaign_id, str(times), at])
    wait_for(lambda: "here" in parts.said())
    kill(changing)


def test_killed_after_the_post_before_the_result(parts: Parts, world: World, hook: Receiver) -> None:
    hook.seconds = 30.0
    hooks.subscribe(world, hook.url)
    first = parts.start("taker")  # woken by the queue, as a change wakes it
    hooks.happen(world, 3)
    wait_for(lambda: len(hook.got) == 3)
    kill(first)
    assert hooks.states() == ["queued"] * 3 and hooks.leased() == 3
    hook.seconds = 0.0
    parts.start("loop")
    wait_for(lambda: hooks.states() == ["accepted"] * 3)
    assert set(Counter(hook.ids).values()) == {2}, "the receiver tells the repetition by the id"
    assert [attempt.number for attempt in hooks.attempts()] == [1, 1, 1], "what nobody could write is no attempt"


@pytest.mark.parametrize("part", ["loop", "taker"])
def test_a_worker_killed_in_the_middle_of_its_posts_loses_nothing(
    parts: Parts, world: World, hook: Receiver, part: str
) -> None:
    hook.seconds = 0.2
    hooks.subscribe(world, hook.url)
    first = parts.start(part)
    hooks.happen(world, 200)
    wait_for(lambda: len(hook.got) > 60)
    kill(first)
    sent = len(hook.got)
    parts.start("loop")
    wait_for(all_accepted)
    assert set(hook.ids) == {row.id for row in hooks.rows()}
    assert sent < 200 and len(hook.ids) - len(set(hook.ids)) <= 64, "only what was under way may be repeated"


@on_sqlite
def test_killed_after_the_claim_before_the_post(parts: Parts, world: World) -> None:
    with ExitStack() as open_now:
        hook = Receiver()
        open_now.callback(hook.server.server_close)
        callers = _fill(hook, open_now)
        hooks.subscribe(world, hook.url)
        hooks.happen(world, 3)
        first = parts.start("loop")
        wait_for(lambda: hooks.leased() == 3)
        time.sleep(0.2)
        kill(first)
        for caller in callers:
            caller.close()
        hook.server.socket.listen(64)
        threading.Thread(target=hook.server.serve_forever, args=(0.02,), daemon=True).start()
        open_now.callback(hook.server.shutdown)
        parts.start("loop")
        wait_for(lambda: hooks.states() == ["accepted"] * 3)
        assert len(hook.got) == 3 == len(set(hook.ids))
        assert [row.attempts for row in hooks.rows()] == [1, 1, 1]


def _fill(hook: Receiver, open_now: ExitStack) -> list[socket.socket]:
    """Connections that wait to be accepted, as many as fit: whoever comes next hangs while connecting."""
    hook.server.socket.listen(0)
    callers = []
    for _ in range(8):
        caller = open_now.enter_context(socket.socket())
        caller.setblocking(False)
        caller.connect_ex(("127.0.0.1", hook.server.server_port))
        callers.append(caller)
    return callers


def test_killed_during_the_fan_out_leaves_neither_the_change_nor_a_delivery(
    parts: Parts, world: World, hook: Receiver
) -> None:
    hooks.subscribe(world, hook.url)
    hooks.subscribe(world, hook.url)
    changes_and_stops(parts, world, "during", times=2_000)
    assert name_of(world) == "Spring survey" and hooks.rows() == []
    assert db.session.scalar(select(func.count()).select_from(Event).where(Event.name == "campaign.updated")) == 0
    hooks.happen(world)
    parts.start("loop")
    wait_for(lambda: hooks.states() == ["accepted"] * 2)


@on_sqlite
def test_killed_between_the_commit_and_the_wake_up(parts: Parts, world: World, hook: Receiver) -> None:
    hooks.subscribe(world, hook.url)
    parts.start("taker")  # which nobody wakes
    changes_and_stops(parts, world, "between")
    assert name_of(world) == "Changed" and hooks.states() == ["queued"] * 3
    parts.start("loop")
    wait_for(lambda: hooks.states() == ["accepted"] * 3)
    assert len(hook.got) == 3
