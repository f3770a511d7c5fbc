"""A webhook switched off and on, its secret rotated, and its end."""

from __future__ import annotations

import re

from flask.testing import FlaskClient
from sqlalchemy import select

from core import vault
from core.db import db
from domain.events.audit import AuditEntry
from tests.jobs import hooks
from tests.jobs.hooks import SECRET
from tests.pages.form import send
from tests.pages.webhooks.rows import USUAL, at, only
from tests.world import World


def test_a_rotated_secret_is_on_one_answer_alone(alice: FlaskClient, world: World) -> None:
    webhook = hooks.subscribe(world, USUAL)
    here = at(world, webhook, "rotation")
    seen = re.search(r'name="seen" value="(\d+)"', alice.get(at(world, webhook)).text)
    assert seen is not None
    asked = send(alice, here, page=at(world, webhook), seen=seen[1])
    assert "seven minutes" in asked.text and vault.unseal(only(world).sealed_secret or "") == SECRET
    answer = send(alice, here, page=at(world, webhook), confirmed="1", seen=seen[1])
    secret = vault.unseal(only(world).sealed_secret or "")
    assert secret != SECRET and secret in answer.text and answer.headers["Cache-Control"] == "no-store"
    assert "data-copy" in answer.text and secret not in str(answer.headers)
    assert secret not in alice.get(at(world, webhook)).text + alice.get(f"{world.acme}/audit").text
    assert secret not in str([entry.changes for entry in db.session.scalars(select(AuditEntry))])
    again = send(alice, here, page=at(world, webhook), confirmed="1", seen=seen[1])
    assert "signed with a new secret" in again.text, "a reload of the answer asks, and rotates nothing"
    assert vault.unseal(only(world).sealed_secret or "") == secret


def test_deleting_says_what_is_cancelled_and_the_log_stays(alice: FlaskClient, world: World) -> None:
    webhook = hooks.subscribe(world, USUAL)
    hooks.happen(world, 2)
    asked = send(alice, at(world, webhook, "removal"), page=at(world, webhook))
    assert "2 deliveries that wait are cancelled" in asked.text
    page = send(alice, at(world, webhook, "removal"), page=at(world, webhook), confirmed="1")
    assert "is deleted. Its log stays." in page.text and at(world, webhook) in page.text
    log = alice.get(at(world, webhook)).text
    assert log.count("Cancelled</span>") == 2 and "Send a test" not in log
    for step in ("test", "activity", "rotation", "removal", "again", "again/range"):
        assert send(alice, at(world, webhook, step), page=at(world), confirmed="1").status_code == 404
