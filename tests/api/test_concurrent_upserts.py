"""Upserts of one e-mail from many processes: one row, one 201, every caller's keys (design/reliability.md, API)."""

from __future__ import annotations

import json
import subprocess
import sys

from sqlalchemy import select

from core.db import db
from domain.campaigns.campaign import Campaign
from domain.campaigns.roster import Participant
from domain.events.event import Event
from tests import world as worlds
from tests.conftest import SECRET_KEY

PROCESSES = 4
EACH = 12

# One caller in a process of its own; it waits for a line so that all begin together.
CALLER = """
import json, os, sys
from pathlib import Path
from app import create_app
from core.settings import Settings
number, url, redis, path, token, email, each = sys.argv[1:8]
app = create_app(Settings(instance_path=Path("."), database_url=url, redis_url=redis, base_url="http://x",
                          secret_key=os.environ["TEST_SECRET"]))
client = app.test_client()
print("ready", flush=True)
sys.stdin.readline()
answers = []
for turn in range(int(each)):
    spelt = email.upper() if (turn + int(number)) % 2 else email
    body = {"email": spelt, "metadata": {f"key-{number}-{turn}": turn}}
    answer = client.post(path, json=body, headers={"Authorization": "Bearer " + token})
    answers.append(answer.status_code)
print(json.dumps(answers), flush=True)
"""


def run_callers(app, world, email):
    settings = app.config["SETTINGS"]
    path = f"{world.v2}/campaigns/{world.campaign_id}/participants"
    token = worlds.token(app, world, "participants:write")
    command = [settings.database_url, settings.redis_url, path, token, email, str(EACH)]
    callers = [
        subprocess.Popen(
            [sys.executable, "-c", CALLER, str(number), *command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"TEST_SECRET": SECRET_KEY, "PATH": ""},
        )
        for number in range(PROCESSES)
    ]  # fmt: skip
    for caller in callers:
        assert caller.stdout is not None
        assert caller.stdout.readline() == "ready\n"
    for caller in callers:
        assert caller.stdin is not None
        caller.stdin.write("go\n")
        caller.stdin.flush()
    return [json.loads(caller.communicate(timeout=60)[0]) for caller in callers]


def test_upserts_of_one_address_from_many_processes_give_one_row_and_one_201(app, world):
    db.session.rollback()
    statuses = [status for answers in run_callers(app, world, "ana@example.com") for status in answers]
    assert sorted(statuses) == [200] * (PROCESSES * EACH - 1) + [201]
    rows = db.session.scalars(select(Participant)).all()
    assert [row.email for row in rows] == ["ana@example.com"]
    every_key = {f"key-{number}-{turn}" for number in range(PROCESSES) for turn in range(EACH)}
    assert rows[0].bag.keys() == every_key
    assert db.session.scalar(select(Campaign.roster_size).where(Campaign.id == world.campaign_id)) == 1
    assert len(db.session.scalars(select(Event).where(Event.name == "participant.joined")).all()) == 1
