"""What the worker's loop looks for every 2 s, in the database alone: none of these needs Redis."""

from __future__ import annotations

from collections.abc import Callable

from jobs import imports, schedule

SWEEPS: tuple[Callable[[], object], ...] = (schedule.sweep, imports.sweep_aside)
