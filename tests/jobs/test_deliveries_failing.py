"""What is kept of deliveries that fail: where a redirect would have led, and a line of the log at the end."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from flask import Flask

from jobs import deliveries
from tests.jobs import hooks
from tests.servers.receiver import Receiver, receiver
from tests.world import World


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


def test_where_a_redirect_would_have_led_is_kept_with_the_attempt(app: Flask, world: World, hook: Receiver) -> None:
    hook.answer = lambda got: 308
    hook.location = f"{hook.url}/elsewhere?a=\0"
    with hooks.settings(app):
        hooks.subscribe(world, hook.url)
        hooks.happen(world)
        deliveries.drain()
    (attempt,) = hooks.attempts()
    assert (attempt.error, attempt.location) == ("REDIRECT", f"{hook.url}/elsewhere?a=\u2400")
    assert len(hook.got) == 1


def test_a_delivery_that_is_given_up_is_a_line_of_the_log(
    app: Flask, world: World, hook: Receiver, capsys: pytest.CaptureFixture[str]
) -> None:
    hook.answer = lambda got: 500
    with hooks.settings(app):
        subscription_id = hooks.subscribe(world, hook.url + "?key=of-the-receiver")
        hooks.happen(world)
        deliveries.drain()
        deliveries.drain()
        assert "delivery_exhausted" not in capsys.readouterr().err
        deliveries.drain()
    (line,) = (each for each in capsys.readouterr().err.splitlines() if "delivery_exhausted" in each)
    wanted = {
        "event": "delivery_exhausted",
        "delivery_id": hooks.rows()[0].id,
        "subscription_id": subscription_id,
        "event_name": "campaign.updated",
        "attempts": 3,
        "error": "BAD_STATUS",
        "status": 500,
    }
    assert json.loads(line).items() >= wanted.items()
    assert "of-the-receiver" not in line and hooks.SECRET not in line
