"""For operators' machines: is the process up, is it ready, how is it doing."""

from __future__ import annotations

from flask import Blueprint, Response
from sqlalchemy import text

from core import metrics, queue
from core.db import db

from .access import allow_anyone

screen = Blueprint("ops", __name__)


@screen.get("/healthz")
@allow_anyone
def healthz() -> dict[str, str]:
    """Whether this process answers."""
    return {"status": "ok"}


@screen.get("/readyz")
@allow_anyone
def readyz() -> tuple[dict[str, str], int]:
    """Whether the database answers; the queue's absence is told, and is no reason to send people away."""
    db.session.execute(text("SELECT 1"))
    return {"status": "ready", "database": "ok", "queue": "ok" if queue.ping() else "away"}, 200


@screen.get("/metrics")
@allow_anyone
def exposition() -> Response:
    """Counters in Prometheus' text format."""
    return Response(metrics.exposition(), mimetype="text/plain; version=0.0.4")
