"""Whether a lease that ran out means that its sender is gone."""

from __future__ import annotations

import time

import structlog

from core import clock

CLOCK_STEP_MS = 5_000
# A living owner of a lease tries again to write its results within the wait for a lock and a pause: with this much
# after each failure it comes first.
AFTER_TROUBLE_SECONDS = 10.0

log = structlog.get_logger(__name__)


class LeaseTrust:
    """Given as a rule. Not so for a while after the system's clock jumped ahead, when leases seem to have run out, nor
    after the database was away or busy, when none could be renewed and results lie unwritten with senders that live.
    """

    def __init__(self) -> None:
        self._offset = self._now()
        self._withheld_until = 0.0

    def is_given(self, lease_seconds: float) -> bool:
        offset = self._now()
        if offset - self._offset > CLOCK_STEP_MS:
            log.warning("clock_jumped", milliseconds=round(offset - self._offset))
            self._withhold(lease_seconds)
        self._offset = offset
        return time.monotonic() >= self._withheld_until

    def after_trouble(self) -> None:
        """The database was away or busy just now."""
        self._withhold(AFTER_TROUBLE_SECONDS)

    def _withhold(self, seconds: float) -> None:
        self._withheld_until = max(self._withheld_until, time.monotonic() + seconds)

    @staticmethod
    def _now() -> float:
        return clock.now_ms() - time.monotonic() * 1000


# Of this process: whoever of it meets trouble withholds for all.
leases = LeaseTrust()
