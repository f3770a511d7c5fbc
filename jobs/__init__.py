"""Things done later. A job loads its row by id and calls one verb; a sweep finds rows that nobody is working on."""

from __future__ import annotations

from collections.abc import Callable

# Called by the loop every 2 s, within the app's context. Each looks at the database and needs no Redis.
SWEEPS: list[Callable[[], object]] = []
