"""Counting within a time window across all web processes, by the `limits` library on Redis.

With Redis away each process counts for itself: nobody is refused for that reason (contract 3, Token budget).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flask import Flask, current_app
from limits.storage import MemoryStorage, RedisStorage, Storage

from core import clock
from core.queue import QueueAway, QueueHandle


@dataclass(frozen=True)
class Count:
    """How often something happened in its window so far, and when the window ends (seconds from now)."""

    so_far: int
    resets_in: int


class Windows:
    """Fixed windows aligned with the clock, shared through Redis while it is there."""

    def __init__(self, queue: QueueHandle) -> None:
        self._queue = queue
        self._shared: RedisStorage | None = None
        self._own = MemoryStorage()

    def hit(self, what: str, window_seconds: int) -> Count:
        """Count one more of `what` in the current window."""
        key, resets_in = _window(what, window_seconds)
        return Count(self._each(lambda storage: storage.incr(key, window_seconds + 1)), resets_in)

    def take_back(self, what: str, window_seconds: int) -> None:
        """Uncount one of `what` that turned out not to count, in the current window."""
        key, _resets_in = _window(what, window_seconds)
        self._each(lambda storage: storage.incr(key, window_seconds + 1, -1))

    def peek(self, what: str, window_seconds: int) -> Count:
        """The count so far, without adding to it."""
        key, resets_in = _window(what, window_seconds)
        return Count(self._each(lambda storage: storage.get(key)), resets_in)

    def _each(self, ask: Callable[[Storage], int]) -> int:
        try:
            return self._queue.breaker.call(lambda: ask(self._redis()))
        except QueueAway:
            return ask(self._own)

    def _redis(self) -> RedisStorage:
        # Made at first use, since its constructor already talks to Redis.
        if self._shared is None:
            pool = self._queue.redis.connection_pool
            self._shared = RedisStorage("redis://", connection_pool=pool, key_prefix="limits")
        return self._shared


def _window(what: str, window_seconds: int) -> tuple[str, int]:
    seconds = clock.now_ms() // 1000
    number, into = divmod(seconds, window_seconds)
    return f"{what}/{number}", window_seconds - into


def init_app(app: Flask) -> None:
    app.extensions["assessor_windows"] = Windows(app.extensions["assessor_queue"])


def windows() -> Windows:
    """The current app's windows."""
    found: Windows = current_app.extensions["assessor_windows"]
    return found
