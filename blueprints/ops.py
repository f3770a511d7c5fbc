"""For operators' machines: is the process up, is it ready, how is it doing."""

from __future__ import annotations

import structlog
from flask import Blueprint, Response
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from blueprints import delivery_metrics
from core import metrics, queue
from core.db import db

from .access import allow_anyone

screen = Blueprint("ops", __name__)
log = structlog.get_logger(__name__)

metrics.GAUGES.add("assessor_queue_reachable", "Whether Redis answers (1) or is away (0).", lambda: float(queue.ping()))
metrics.GAUGES.add(
    "assessor_database_reachable", "Whether the database answers (1) or not (0).", lambda: float(_reads())
)
metrics.GAUGES.add_families(delivery_metrics.families)


@screen.get("/healthz")
@allow_anyone
def healthz() -> dict[str, str]:
    """Whether this process answers."""
    return {"status": "ok"}


@screen.get("/readyz")
@allow_anyone
def readyz() -> tuple[dict[str, str], int]:
    """Whether the database answers; the queue's absence is told, and is no reason to send people away."""
    is_ready = _reads()
    told = {
        "status": "ready" if is_ready else "unavailable",
        "database": "ok" if is_ready else "away",
        "queue": "ok" if queue.ping() else "away",
    }
    return told, 200 if is_ready else 503


@screen.get("/metrics")
@allow_anyone
def exposition() -> Response:
    """Counters and gauges in Prometheus' text format."""
    return Response(metrics.exposition(), content_type="text/plain; version=0.0.4; charset=utf-8")


def _reads() -> bool:
    try:
        db.session.execute(text("SELECT 1"))
    except SQLAlchemyError as error:
        db.session.rollback()
        log.warning("database_away", error=type(error).__name__)
        return False
    return True
