"""Counters for operators, in Prometheus form at `/metrics`.

Each web process counts for itself; the registry of the process that answers is shown, with its process id as a label
by the scraper's own means.
"""

from __future__ import annotations

import time

from flask import Flask, Response, g, request
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.exposition import generate_latest

REGISTRY = CollectorRegistry()

REQUESTS = Counter(
    "assessor_http_requests_total", "Requests answered, by endpoint and status.", ["endpoint", "status"], registry=REGISTRY
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


def init_app(app: Flask) -> None:
    app.before_request(_begin)
    app.after_request(_finish)


def exposition() -> bytes:
    """This process's counters in the text format."""
    return generate_latest(REGISTRY)


def _begin() -> None:
    g.began = time.perf_counter()


def _finish(response: Response) -> Response:
    endpoint = request.endpoint or "unknown"
    REQUESTS.labels(endpoint, response.status_code).inc()
    began = g.get("began")
    if began is not None:
        SECONDS.labels(endpoint).observe(time.perf_counter() - began)
    return response
