"""Campaigns whose start or end has come: the sweep launches and closes them."""

from __future__ import annotations

from core import clock
from core.db import transaction
from domain.campaigns import campaign as campaigns


def sweep() -> int:
    """Run the transitions that are due; returns how many ran. Takes no write lock where nothing is due."""
    if not campaigns.something_is_due(clock.now_ms()):
        return 0
    with transaction():
        return campaigns.run_schedule(clock.now_ms())
