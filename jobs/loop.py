"""The loop: `python worker.py loop` calls every sweep each 2 s, from the database alone: a lost Redis costs latency."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable

import structlog
from flask import Flask

from jobs import deliveries
from jobs.sweeps import SWEEPS

PAUSE_SECONDS = 2.0

log = structlog.get_logger(__name__)


def run(app: Flask) -> int:
    """Sweep until SIGTERM or SIGINT; a sweep under way is finished first, and so are the POSTs of deliveries."""
    leaving = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: leaving.set())
    while not leaving.is_set():
        for sweep in SWEEPS:
            if not leaving.is_set():
                _sweep(app, sweep)
        leaving.wait(PAUSE_SECONDS)
    deliveries.finish()
    return 0


def _sweep(app: Flask, sweep: Callable[[], object]) -> None:
    """One sweep in a context of its own. A failure is logged, and the others go on."""
    try:
        with app.app_context():
            sweep()
    except Exception:  # one broken sweep or a database that is away must not end the others
        log.exception("sweep_failed", sweep=f"{sweep.__module__}.{sweep.__name__}")
