"""Counters for operators, in Prometheus form at `/metrics`.

With several web processes each writes its counts into the folder of `PROMETHEUS_MULTIPROC_DIR`, and whichever process
answers shows the sum of all. Without that folder a process shows its own. Gauges are read when somebody looks, and are
the same whoever answers.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable

from flask import Flask, Response, g, request
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

REGISTRY = CollectorRegistry()

REQUESTS = Counter(
    "assessor_http_requests_total",
    "Requests answered, by endpoint and status.",
    ["endpoint", "status"],
    registry=REGISTRY,
)
SECONDS = Histogram(
    "assessor_http_request_seconds",
    "Server time of a request.",
    ["endpoint"],
    buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
    registry=REGISTRY,
)
REFUSED_TOKENS = Counter(
    "assessor_api_refusals_total", "API calls refused at the gate, by code.", ["code"], registry=REGISTRY
)


class Gauges(Collector):
    """Numbers that are asked for at the moment of looking, such as whether the queue answers."""

    def __init__(self) -> None:
        self._readings: dict[str, tuple[str, Callable[[], float]]] = {}
        self._families: list[Callable[[], Iterable[Metric]]] = []

    def add(self, name: str, sentence: str, read: Callable[[], float]) -> None:
        """Show `read()` under `name`; adding a name again replaces it."""
        self._readings[name] = (sentence, read)

    def add_families(self, read: Callable[[], Iterable[Metric]]) -> None:
        """Show whole families, such as counts that are kept in the database."""
        self._families.append(read)

    def collect(self) -> Iterable[Metric]:
        for name, (sentence, read) in self._readings.items():
            yield GaugeMetricFamily(name, sentence, value=read())
        for families in self._families:
            yield from families()


GAUGES = Gauges()


def init_app(app: Flask) -> None:
    app.before_request(_begin)
    app.after_request(_finish)


def exposition() -> bytes:
    """Every count and gauge in the text format."""
    gauges = CollectorRegistry(auto_describe=False)
    gauges.register(GAUGES)
    return generate_latest(_counts()) + generate_latest(gauges)


def _counts() -> CollectorRegistry:
    folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    if not folder or not os.path.isdir(folder):
        return REGISTRY
    everyone = CollectorRegistry()
    MultiProcessCollector(everyone, path=folder)  # type: ignore[no-untyped-call]  # the library has no types here
    return everyone


def _begin() -> None:
    g.began = time.perf_counter()


def _finish(response: Response) -> Response:
    endpoint = request.endpoint or "unknown"
    REQUESTS.labels(endpoint, response.status_code).inc()
    began = g.get("began")
    if began is not None:
        SECONDS.labels(endpoint).observe(time.perf_counter() - began)
    return response
