"""When each token was last used: kept in memory, and written outside the request (reads do not write).

A call costs one assignment. Every few seconds a thread of this process writes what has gathered, and once more when
the process ends. A busy database loses nothing: what could not be written goes with the next round.
"""

from __future__ import annotations

import os
import threading
import time
from multiprocessing.util import Finalize

import structlog
from flask import Flask, current_app
from sqlalchemy.exc import SQLAlchemyError

from core import clock
from core.db import transaction
from domain.accounts import credentials

FLUSH_SECONDS = 5.0

log = structlog.get_logger(__name__)


def note(token_id: str) -> None:
    """Remember that this token was used now. A token of the environment has no row, so it is left out."""
    if token_id.startswith("tok_"):
        of_app().note(token_id)


def flush() -> None:
    """Write what this process remembers now; for tests and for whoever cannot wait for the next round."""
    of_app().flush()


def of_app() -> LastUse:
    """The current app's memory, made at first use."""
    known = current_app.extensions
    found: LastUse | None = known.get("assessor_last_use")
    if found is None:
        # `setdefault` settles it where two threads come first at once.
        app = current_app._get_current_object()  # type: ignore[attr-defined]  # a proxy
        found = known.setdefault("assessor_last_use", LastUse(app))
    return found


class LastUse:
    """One process's memory of uses. Its thread starts with the first note, so a forked process gets its own."""

    _uses: dict[str, int]
    _lock: threading.Lock
    _something: threading.Event
    _is_running: bool

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._begin()
        os.register_at_fork(after_in_child=self._begin)

    def note(self, token_id: str) -> None:
        now = clock.now_ms()
        with self._lock:
            self._uses[token_id] = now
            if not self._is_running:
                self._start()
        self._something.set()

    def flush(self) -> None:
        """Write and forget; on a database in trouble, keep for later."""
        with self._lock:
            taken = self._uses
            self._uses = {}
        if not taken:
            return
        try:
            with self._app.app_context(), transaction():
                credentials.note_use(taken)
        except SQLAlchemyError as error:
            log.info("last_use_kept_for_later", tokens=len(taken), error=type(error).__name__)
            self._put_back(taken)

    def _begin(self) -> None:
        self._uses = {}
        self._lock = threading.Lock()
        self._something = threading.Event()
        self._is_running = False

    def _start(self) -> None:
        self._is_running = True
        threading.Thread(target=self._run, name="last-use", daemon=True).start()
        # Not `atexit`: a process that multiprocessing started leaves without it, but runs its finalizers.
        Finalize(None, self.flush, exitpriority=1)

    def _run(self) -> None:
        while True:
            self._something.wait()
            self._something.clear()
            time.sleep(FLUSH_SECONDS)
            self.flush()

    def _put_back(self, taken: dict[str, int]) -> None:
        with self._lock:
            self._uses = {**taken, **self._uses}
        self._something.set()
