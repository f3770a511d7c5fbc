"""What the worker's loop looks for every 2 s, in the database alone: none of these needs Redis."""

from __future__ import annotations

from collections.abc import Callable

from jobs import deliveries, imports, schedule

SWEEPS: tuple[Callable[[], object], ...] = (deliveries.sweep_aside, schedule.sweep, imports.sweep_aside)
