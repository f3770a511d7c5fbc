"""A time range that is to be sent again: as it was entered, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Self

from flask_babel import gettext as _

from blueprints.shortened import shortened
from core import clock
from domain.events.catalogue import EVENTS
from domain.events.delivery import counting

# In the address of the webhook's page the range stands beside the filters of the log.
PREFIX = "again_"
# What was entered is cut in an address: behind every name of an event, so that a wrong one stays wrong.
_LONGEST_ENTRY = max(map(len, EVENTS)) + 1


@dataclass(frozen=True)
class Range:
    """What was entered; empty texts where nothing was."""

    since: str = ""
    until: str = ""
    event: str = ""

    @classmethod
    def read(cls, given: Mapping[str, str], prefix: str = "") -> Self:
        return cls(**{each.name: given.get(prefix + each.name, "").strip() for each in fields(cls)})

    @property
    def first(self) -> int | None:
        """The first millisecond (epoch), None where it cannot be read."""
        return instant(self.since)

    @property
    def last(self) -> int | None:
        """The last millisecond: the minute that was entered counts whole."""
        end = instant(self.until)
        return end + clock.MINUTE_MS - 1 if end is not None else None

    def count(self, subscription_id: str) -> int:
        """How many deliveries it would send again; 0 where it cannot be read."""
        if self.first is None or self.last is None:
            return 0
        return counting.exhausted(subscription_id, self.first, self.last, self.event)

    def problem(self, subscription_id: str) -> tuple[str, str] | None:
        """The field that is wrong and why, or None."""
        for name, moment in (("since", self.first), ("until", self.last)):
            if moment is None:
                return name, _("Enter both times, such as 2026-09-17 09:00.")
        if (self.last or 0) < (self.first or 0):
            return "until", _("The end must come after the start.")
        if self.event and self.event not in EVENTS:
            return "event", _("There is no event “%(text)s”.", text=shortened(self.event))
        return None if self.count(subscription_id) else ("until", _("Nothing was given up in that time."))

    def in_address(self) -> dict[str, str]:
        """The same as parameters of the webhook's page."""
        return {PREFIX + name: value[:_LONGEST_ENTRY] for name, value in asdict(self).items()}


def instant(text: str) -> int | None:
    """Epoch ms of a date and time in UTC, as a browser's field writes it; None where it is none."""
    try:
        read = datetime.fromisoformat(text)
        return round((read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
