"""Campaigns are launched and closed by their schedule."""

from __future__ import annotations

from flask import Flask
from sqlalchemy import event, select

from core import clock
from core.db import db, transaction
from domain.campaigns import campaign as campaigns
from domain.events.audit import COMMAND_LINE, AuditEntry
from domain.events.event import Event
from jobs.schedule import sweep
from tests.world import World

HOUR_MS = 60 * clock.MINUTE_MS


def plan(world: World, starts_at: int | None, ends_at: int | None, *moves: str) -> None:
    with transaction():
        campaign = campaigns.get(world.account_id, world.campaign_id)
        campaign.starts_at, campaign.ends_at = starts_at, ends_at
        for name in moves:
            campaigns.move(campaign, name, COMMAND_LINE)
        campaign.ends_at = ends_at


def status(world: World) -> str:
    db.session.rollback()
    return campaigns.get(world.account_id, world.campaign_id).status


def test_a_draft_launches_when_its_start_has_come_and_closes_when_its_end_has(app: Flask, world: World):
    now = clock.now_ms()
    plan(world, now - HOUR_MS, now + HOUR_MS)
    assert (sweep(), status(world)) == (1, "active")
    plan(world, now - HOUR_MS, now - 1)
    assert (sweep(), status(world)) == (1, "closed")
    assert (sweep(), status(world)) == (0, "closed")
    vias = db.session.scalars(select(AuditEntry.via).where(AuditEntry.action == "campaign.status.changed")).all()
    assert vias == ["schedule", "schedule"]
    raised = db.session.scalars(select(Event.name)).all()
    assert raised.count("campaign.transition.executed") == raised.count("campaign.status.changed") == 2


def test_a_start_and_an_end_missed_together_launch_and_close(app: Flask, world: World):
    now = clock.now_ms()
    plan(world, now - 2 * HOUR_MS, now - HOUR_MS)
    assert (sweep(), status(world)) == (1, "active")
    assert (sweep(), status(world)) == (1, "closed")


def test_nothing_due_writes_nothing(app: Flask, world: World):
    plan(world, clock.now_ms() + HOUR_MS, None)
    seen: list[str] = []
    event.listen(db.engine, "before_cursor_execute", lambda *given: seen.append(given[2]))
    assert sweep() == 0
    assert all(statement.startswith(("SELECT", "BEGIN")) and "IMMEDIATE" not in statement for statement in seen)
    assert status(world) == "draft"


def test_a_campaign_launched_by_hand_after_its_end_stays_open(app: Flask, world: World):
    now = clock.now_ms()
    plan(world, None, now - HOUR_MS)
    with transaction():
        campaigns.move(campaigns.get(world.account_id, world.campaign_id), "launch", COMMAND_LINE)
    assert (sweep(), status(world)) == (0, "active")
