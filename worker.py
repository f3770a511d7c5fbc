"""The background half: `python worker.py` keeps the queue's workers and the loop running, under one supervisor.

`python worker.py taker` and `python worker.py loop` are the two kinds of part, each in a process of its own.
"""

from __future__ import annotations

import os
import sys

from core.supervisor import CANNOT_START, Part, Supervisor

# Two, so that an import of minutes does not hold back the short jobs behind it.
QUEUE_WORKERS = 2
# What keeps each part below 200 MiB under long payloads. With dozens of threads the C library keeps an arena of freed
# memory for each of them, and once a long block was freed it no longer gives such blocks back: measured, 45 MiB.
FRUGAL = {"MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": "131072", "SQLITE_CACHE_MIB": "8"}


def main(arguments: list[str]) -> int:
    """The exit code of the supervisor, or of the one part that is named."""
    if not arguments:
        return Supervisor(parts(), label="worker").run()
    return run_part(arguments[0])


def parts() -> list[Part]:
    """The queue's workers, and the loop that finds what a lost nudge or a dead worker left behind."""
    env = {**FRUGAL, **os.environ}
    taker = _command("taker")  # it leaves to give memory back
    takers = [Part(f"queue worker {number}", taker, env, may_leave=True) for number in range(1, QUEUE_WORKERS + 1)]
    return [*takers, Part("loop", _command("loop"), env)]


def run_part(kind: str) -> int:
    """One part, in this process."""
    # Imported here: the supervisor itself stays small, and starts at once.
    from app import create_app
    from core.settings import SettingsError
    from jobs import loop, taker

    runs = {"taker": taker.run, "loop": loop.run}
    if kind not in runs:
        sys.stderr.write("usage: python worker.py [taker | loop]\n")
        return 2
    try:
        app = create_app()
    except SettingsError as reason:
        sys.stderr.write(f"Assessor cannot start: {reason}\n")
        return CANNOT_START
    return runs[kind](app)


def _command(kind: str) -> list[str]:
    return [sys.executable, "worker.py", kind]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
