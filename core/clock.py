"""The one place that asks what time it is, so that a shifted system clock shows everywhere."""

from __future__ import annotations

import time
from datetime import UTC, datetime

MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS


def now_ms() -> int:
    """Epoch milliseconds by the system's clock."""
    return time.time_ns() // 1_000_000


def to_datetime(epoch_ms: int) -> datetime:
    """The same instant as an aware UTC datetime."""
    return datetime.fromtimestamp(epoch_ms / 1000, tz=UTC)


def instant(iso: str) -> int:
    """Epoch milliseconds of an ISO instant such as `2026-09-17T00:00Z`."""
    return round(datetime.fromisoformat(iso.replace("Z", "+00:00")).timestamp() * 1000)
