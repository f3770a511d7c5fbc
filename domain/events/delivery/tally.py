"""What became of deliveries, counted in the database, so that every process and every restart shows the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import BigInteger, Table, Text, func, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Mapped, mapped_column

from core import clock
from core.db import Model, db, is_postgresql, writing_connection

from .record import LEASED, QUEUED, Delivery

# Upper bounds of the latency's buckets, in milliseconds.
LATENCY_BOUNDS = (50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000)
BEYOND = "inf"


class DeliveryTally(Model):
    """A count that only grows, by its name: `accepted`, `failed`, `exhausted`, `blocked`, `lost.<event>`, ..."""

    __tablename__ = "delivery_tally"

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    count: Mapped[int] = mapped_column(BigInteger)


@dataclass(frozen=True)
class Standing:
    """What waits now: `due` deliveries, the oldest of them for `oldest_due_ms`; `in_flight` are with a sender."""

    due: int
    oldest_due_ms: int
    in_flight: int


def add(counts: Mapping[str, int]) -> None:
    """Count inside the caller's transaction."""
    rows = [{"name": name, "count": count} for name, count in sorted(counts.items()) if count]
    if rows:
        writing_connection().execute(_upsert(), rows)


def _upsert() -> Any:
    table = cast(Table, DeliveryTally.__table__)
    if is_postgresql():
        insert = postgresql.insert(table)
        return insert.on_conflict_do_update(
            index_elements=["name"], set_={"count": table.c.count + insert.excluded["count"]}
        )
    lite = sqlite.insert(table)
    return lite.on_conflict_do_update(index_elements=["name"], set_={"count": table.c.count + lite.excluded["count"]})


def latency(milliseconds: int) -> dict[str, int]:
    """The counts of one first POST that came `milliseconds` after its event."""
    bucket = next((str(bound) for bound in LATENCY_BOUNDS if milliseconds <= bound), BEYOND)
    return {f"latency.{bucket}": 1, "latency.sum": max(0, milliseconds)}


def counts() -> dict[str, int]:
    """Every count by its name."""
    return {row[0]: row[1] for row in db.session.execute(select(DeliveryTally.name, DeliveryTally.count))}


def standing() -> Standing:
    """What waits now."""
    now = clock.now_ms()
    due, oldest = db.session.execute(
        select(func.count(), func.min(Delivery.due_at)).where(text(QUEUED), Delivery.due_at <= now)
    ).one()
    in_flight = db.session.scalar(select(func.count()).select_from(Delivery).where(text(LEASED))) or 0
    return Standing(due, now - oldest if oldest else 0, in_flight)
