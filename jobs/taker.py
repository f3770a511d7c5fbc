"""One worker of the queue: takes jobs from Redis and runs them in this process (`python worker.py taker`).

Not in a fork for each job, as RQ does by default. Here one process is one job under way: a kill ends both, where a
fork would go on unseen for minutes beside the sweep that repeats it. A job starts in the warm app within milliseconds.
What a fork gives, memory that comes back, is had by leaving between two jobs once the process has grown.
"""

from __future__ import annotations

import logging
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType

import structlog
from flask import Flask
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from rq import Queue
from rq.exceptions import StopRequested
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.worker import SimpleWorker
from rq.worker.base import WorkerStatus

from core.queue import QUEUE_NAME, connection_for_worker
from jobs import deliveries, stopping

RECONNECT_SECONDS = 3.0
LONGEST_RECONNECT_SECONDS = 10.0  # RQ waits 1, 2, 4 s and so on within one outage
# RQ waits 15 s less than this in one blocking pop, and its socket 10 s more than the pop. Short: a signal that comes
# just before the pop, or is taken by a thread of a sender, is seen only when the pop has ended.
IDLE_TTL_SECONDS = 17
UNDER_WAY_SECONDS = 4.0
LARGEST_MIB = 350

log = structlog.get_logger(__name__)


class _Words(logging.Handler):
    """What RQ says, as lines of our log. That Redis is away is no fault in the program: it is told without traceback,
    wherever RQ met it."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        traced = record.exc_info if error and not isinstance(error, RedisError) else None
        name = type(error).__name__ if error else None
        log.log(record.levelno, "queue_worker", said=record.getMessage(), error=name, exc_info=traced)


class Taker(SimpleWorker):
    """Runs each job in the app's context, and stops quickly: every job can be repeated from its row."""

    max_connection_wait_time = LONGEST_RECONNECT_SECONDS
    log_job_description = False
    app: Flask
    leaving = False

    def execute_job(self, job: Job, queue: Queue) -> None:
        with self.app.app_context():
            super().execute_job(job, queue)
        if _peak_mib() > LARGEST_MIB:
            log.info("taker_leaves_to_give_memory_back", peak_mib=_peak_mib())
            self.leaving = self._stop_requested = True

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """Leave at once when idle; a job under way gets a few seconds, then its lease and the sweep take over.

        POSTs of deliveries that are under way in this process are waited for either way. Being told again changes
        nothing.
        """
        if stopping.is_asked():
            return
        stopping.ask()
        self.leaving = self._stop_requested = True
        cut = threading.Timer(UNDER_WAY_SECONDS, _cut)
        cut.daemon = True
        cut.start()
        if self.get_state() != WorkerStatus.BUSY:
            # Raised wherever the process stands, so now and then inside code that swallows it: then the timer ends it.
            raise StopRequested

    def subscribe(self) -> None:
        """RQ's remote commands are not used here; their thread would complain every 2 s while Redis is away."""

    def unsubscribe(self) -> None:
        pass


def run(app: Flask) -> int:
    """Take jobs until SIGTERM or SIGINT."""
    _hear_rq()
    redis = connection_for_worker(app.config["SETTINGS"])
    # The client's own retries would hold up a stop for seconds; this loop retries instead.
    redis.set_retry(Retry(NoBackoff(), 0))
    _leave_when_told()
    try:
        while not _take(app, redis):
            time.sleep(RECONNECT_SECONDS)
    finally:
        deliveries.finish()
    return 0


def _take(app: Flask, redis: Redis) -> bool:
    """Work until told to leave (True), or until Redis is away (False)."""
    taker: Taker | None = None
    try:
        taker = Taker([QUEUE_NAME], connection=redis, serializer=JSONSerializer, worker_ttl=IDLE_TTL_SECONDS)
        taker.app = app
        taker.work(logging_level="WARNING")
    except RedisError as error:
        log.warning("taker_without_redis", error=type(error).__name__, retry_in_seconds=RECONNECT_SECONDS)
    finally:
        _leave_when_told()  # RQ leaves its own handlers, of a worker that is no more
    return taker is not None and taker.leaving


def _hear_rq() -> None:
    words = _Words()
    for name in ("rq.worker", "rq.job"):
        logger = logging.getLogger(name)
        logger.setLevel(logging.WARNING)
        logger.propagate = False
        logger.handlers = [words]


def _cut() -> None:
    """End a job that takes too long to stop."""
    deliveries.finish()
    os._exit(0)


def _leave_when_told() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)


def _leave(number: int, frame: FrameType | None) -> None:
    if not stopping.is_asked():
        sys.exit(0)


def _peak_mib() -> float:
    """This process's peak of resident memory. Linux tells it of the process alone, where `getrusage` hands a parent's
    peak down to its children; macOS counts bytes."""
    if sys.platform == "linux":
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
