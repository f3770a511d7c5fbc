"""Who has this process drain: a wake-up from the queue, or the loop's sweep of the database."""

from __future__ import annotations

import threading

import structlog
from flask import Flask, current_app
from sqlalchemy.exc import DBAPIError

from core import queue
from core.settings import Settings
from domain.events.delivery import mending, record
from jobs import stopping

from . import trust
from .draining import Drain, longest_wait_ms

FINISH_SECONDS = 15.0

log = structlog.get_logger(__name__)


class Background:
    """This process's drain on a thread of its own: one at a time, whoever wakes it. Each run is a `Drain` of its own,
    so that what one that broke believed is forgotten."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._drain: Drain | None = None
        self._thread: threading.Thread | None = None
        self._woken = False

    def wake(self) -> None:
        """Start a drain, or have the one that runs look again. Raises `RuntimeError` where no thread can be had."""
        app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # a proxy
        with self._lock:
            if stopping.is_asked():
                return
            self._woken = True
            if not self.is_running():
                thread = threading.Thread(target=self._run, args=(app,), name="deliveries", daemon=True)
                thread.start()
                self._thread = thread
            elif self._drain is not None:
                self._drain.look_again()

    def is_running(self) -> bool:
        thread = self._thread
        return thread is not None and thread.is_alive()

    def finish(self, seconds: float) -> None:
        """Wait until the drain has ended, after `stopping.ask()`."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(seconds)

    def _run(self, app: Flask) -> None:
        while (drain := self._next_run(app)) is not None:
            try:
                with app.app_context():
                    drain.run()
            except Exception:  # a defect of ours: the sweep starts another
                log.exception("drain_failed")

    def _next_run(self, app: Flask) -> Drain | None:
        """To look (once more); None where nobody asked, and then the next `wake` starts a thread."""
        with self._lock:
            begins = self._woken and not stopping.is_asked()
            self._woken = False
            self._drain = Drain(app.config["SETTINGS"]) if begins else None
            if not begins:
                self._thread = None
            return self._drain


background = Background()


def wake() -> None:
    """What the queue's wake-up runs: sees to it that this process drains, and leaves its worker free at once."""
    queue.handle().begin(record.JOB)
    background.wake()


def sweep_aside() -> None:
    """Drain what is due without Redis, on a thread of its own."""
    if background.is_running():
        return
    settings: Settings = current_app.config["SETTINGS"]
    take_back = trust.leases.is_given(settings.webhook_lease_seconds)
    try:
        is_due = mending.something_is_due(settings.webhook_lease_ms, longest_wait_ms(settings), take_back=take_back)
    except DBAPIError:
        trust.leases.after_trouble()
        raise
    if is_due:
        background.wake()


def finish() -> None:
    """At the end of a process: POSTs under way are waited for and written, nothing new is begun."""
    stopping.ask()
    background.finish(FINISH_SECONDS)
