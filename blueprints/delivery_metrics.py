"""The deliveries in `/metrics`: read from the database, so whichever web process answers tells the same numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from sqlalchemy.exc import SQLAlchemyError

from core.db import db
from domain.events.catalogue import AT_MOST_ONCE
from domain.events.delivery import tally
from domain.events.delivery.tally import Standing

PREFIX = "assessor_webhook"
COUNTED = {
    "accepted": ("posts_accepted", "POSTs that a receiver accepted."),
    "failed": ("posts_failed", "POSTs that failed."),
    "exhausted": ("deliveries_exhausted", "Deliveries given up after their last attempt."),
    "blocked": ("addresses_blocked", "POSTs not made, since the URL or its address is not allowed."),
}


def families() -> Iterator[Metric]:
    """Every measure of deliveries; none while the database is away."""
    try:
        standing, counts = tally.standing(), tally.counts()
    except SQLAlchemyError:
        db.session.rollback()
        return
    yield from _gauges(standing)
    for name, (shown, sentence) in COUNTED.items():
        yield CounterMetricFamily(f"{PREFIX}_{shown}", sentence, value=counts.get(name, 0))
    yield _lost(counts)
    yield _latency(counts)


def _gauges(standing: Standing) -> Iterator[Metric]:
    yield GaugeMetricFamily(f"{PREFIX}_deliveries_due", "Deliveries that are due.", value=standing.due)
    sentence = "How long the delivery that is due for longest has been so."
    yield GaugeMetricFamily(f"{PREFIX}_oldest_due_seconds", sentence, value=standing.oldest_due_ms / 1000)
    yield GaugeMetricFamily(f"{PREFIX}_in_flight", "Deliveries that a sender has.", value=standing.in_flight)


def _lost(counts: Mapping[str, int]) -> Metric:
    sentence = "At-most-once events that were never queued, since the queue was away at that moment."
    family = CounterMetricFamily(f"{PREFIX}_events_lost", sentence, labels=["event"])
    for event in sorted(AT_MOST_ONCE):
        family.add_metric([event], counts.get(f"lost.{event}", 0))
    return family


def _latency(counts: Mapping[str, int]) -> Metric:
    """A histogram whose buckets are cumulative, as Prometheus wants them."""
    buckets, total = [], 0
    for bound in tally.LATENCY_BOUNDS:
        total += counts.get(f"latency.{bound}", 0)
        buckets.append((str(bound / 1000), float(total)))
    buckets.append(("+Inf", float(total + counts.get(f"latency.{tally.BEYOND}", 0))))
    sentence = "From an event to the first POST of its delivery."
    total_seconds = counts.get("latency.sum", 0) / 1000
    return HistogramMetricFamily(f"{PREFIX}_first_post_seconds", sentence, buckets=buckets, sum_value=total_seconds)
