"""The breaker before the queue: for how long it says no."""

from __future__ import annotations

import time

import pytest
import time_machine

from core import queue
from core.queue import BREAKER_SECONDS, Breaker, QueueAway


@pytest.fixture
def opened() -> Breaker:
    """A breaker whose queue was just found away."""
    breaker = Breaker()
    with pytest.raises(QueueAway):
        breaker.call(_away)
    return breaker


def _away() -> None:
    raise ConnectionError


@pytest.mark.parametrize("step", [-3600, 3600])
def test_a_clock_that_is_set_changes_nothing_of_how_long_it_says_no(
    opened: Breaker, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with time_machine.travel(time.time() + step):
        assert opened.is_open()
        with pytest.raises(QueueAway):
            opened.call(lambda: "asked")
        later = time.monotonic() + BREAKER_SECONDS + 1
        monkeypatch.setattr(queue.time, "monotonic", lambda: later)
        assert opened.call(lambda: "asked") == "asked"


def test_past_it_the_queue_is_asked_and_an_answer_closes_it(opened: Breaker) -> None:
    assert opened.call(lambda: "asked", past_breaker=True) == "asked"
    assert not opened.is_open()
