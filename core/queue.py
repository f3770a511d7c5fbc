"""Redis (or Valkey): wake-ups for the worker and shared counters. Never the truth, so its absence only slows things.

redis-py's defaults hold a request for seconds; here a call waits at most a second, and after a failure a breaker
leaves the queue alone for 30 s.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import structlog
from flask import Flask, current_app
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from rq import Queue
from rq.serializers import JSONSerializer

from core.settings import Settings

QUEUE_NAME = "default"
TIMEOUT_SECONDS = 1.0
PING_SECONDS = 0.2  # a probe of readiness is often given a second for everything
BREAKER_SECONDS = 30
WAITING_SECONDS = 2.0  # as long as the loop pauses between two sweeps

Answer = TypeVar("Answer")
log = structlog.get_logger(__name__)


class QueueAway(Exception):
    """Redis cannot be reached, or the breaker is open since it could not be."""


class Breaker:
    """After a failure, says no for 30 s without asking. Those are of the monotonic time, which no set clock moves."""

    def __init__(self) -> None:
        self._open_until = 0.0
        self._lock = threading.Lock()

    def is_open(self) -> bool:
        return time.monotonic() < self._open_until

    def call(self, ask: Callable[[], Answer], *, past_breaker: bool = False) -> Answer:
        """The answer of `ask`; raises `QueueAway` where Redis does not give one within its second."""
        if self.is_open() and not past_breaker:
            raise QueueAway
        try:
            answer = ask()
        except (RedisError, OSError) as error:
            with self._lock:
                self._open_until = time.monotonic() + BREAKER_SECONDS
            log.warning("queue_away", error=type(error).__name__, retry_in_seconds=BREAKER_SECONDS)
            raise QueueAway from error
        self._open_until = 0.0
        return answer


class QueueHandle:
    """One process's way to Redis: the client, the RQ queue and the breaker."""

    def __init__(self, redis_url: str) -> None:
        self.redis = _client(redis_url, TIMEOUT_SECONDS)
        self.probe = _client(redis_url, PING_SECONDS)
        self.queue = Queue(QUEUE_NAME, connection=self.redis, serializer=JSONSerializer)
        self.breaker = Breaker()

    def enqueue_once(self, path: str) -> None:
        """Ask for `path` unless that has been asked and not begun; raises `QueueAway`.

        Not by RQ's own unique jobs: one whose worker was killed would stand in the way of the next for an hour.
        """
        waits = _waiting_key(path)
        lifetime_ms = round(1000 * WAITING_SECONDS)
        if self.breaker.call(lambda: self.redis.set(waits, "1", nx=True, px=lifetime_ms)):
            self.enqueue(path)

    def begin(self, path: str) -> None:
        """The job that `enqueue_once` asked for runs now: the next call asks anew."""
        with suppress(QueueAway):
            self.breaker.call(lambda: self.redis.delete(_waiting_key(path)))

    def enqueue(self, path: str, *ids: str, past_breaker: bool = False) -> None:
        """Ask the worker to run `path` (such as `jobs.imports.run`) with these ids; raises `QueueAway`."""
        self.breaker.call(
            lambda: self.queue.enqueue(path, *ids, result_ttl=0, failure_ttl=3600, job_timeout=3600),
            past_breaker=past_breaker,
        )


def _client(redis_url: str, seconds: float) -> Redis:
    return Redis.from_url(
        redis_url,
        socket_timeout=seconds,
        socket_connect_timeout=seconds,
        retry=Retry(NoBackoff(), 0),
        health_check_interval=0,
    )


def _waiting_key(path: str) -> str:
    return f"assessor:waiting:{path}"


def init_app(app: Flask, settings: Settings) -> None:
    app.extensions["assessor_queue"] = QueueHandle(settings.redis_url)


def handle() -> QueueHandle:
    """The current app's way to Redis."""
    found: QueueHandle = current_app.extensions["assessor_queue"]
    return found


def nudge(path: str, *ids: str) -> None:
    """Wake the worker for a row that is already on disk. A lost nudge costs latency only: the sweep finds the row."""
    try:
        handle().enqueue(path, *ids)
    except QueueAway:
        log.info("nudge_lost", job=path, ids=ids)


def nudge_once(path: str) -> None:
    """`nudge` for a job without ids that looks for all there is to do: one that waits already is enough."""
    try:
        handle().enqueue_once(path)
    except QueueAway:
        log.info("nudge_lost", job=path)


def ping() -> bool:
    """Whether Redis answers now, within `PING_SECONDS`. The breaker is neither asked nor told."""
    try:
        return bool(handle().probe.ping())
    except (RedisError, OSError):
        return False


def connection_for_worker(settings: Settings) -> Any:
    """The worker's client: it waits in blocking pops, so its socket has no one-second limit."""
    return Redis.from_url(settings.redis_url, socket_connect_timeout=TIMEOUT_SECONDS, health_check_interval=15)
