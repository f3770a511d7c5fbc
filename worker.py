"""The background half: `python worker.py` keeps the queue's workers and the loop running, under one supervisor."""

from __future__ import annotations

import sys

from core.supervisor import Part, Supervisor

# Two, so that an import of minutes does not hold back the short jobs behind it.
QUEUE_WORKERS = 2


def parts() -> list[Part]:
    """The queue's workers, and the loop that finds what a lost nudge or a dead worker left behind."""
    taker = [sys.executable, "-m", "jobs.taker"]
    takers = [Part(f"queue worker {number}", taker) for number in range(1, QUEUE_WORKERS + 1)]
    return [*takers, Part("loop", [sys.executable, "-m", "jobs.loop"])]


def main() -> int:
    return Supervisor(parts(), label="worker").run()


if __name__ == "__main__":
    sys.exit(main())
