"""What the product is held against: its own server answering from memory, and a bare Flask app on the same database.

Granian loads these factories in place of `app:create_app`, with the same processes and threads.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

from flask import Flask, Response, current_app, request

import app as product
from blueprints.access import allow_by_gate
from core.settings import Settings

_local = threading.local()

_PAGE = """
    SELECT p.id, p.campaign_id, p.email, p.first_name, p.last_name, p.status, p.language, p.labels, p.metadata,
           p.created_at, p.updated_at
    FROM participant p
    JOIN (SELECT id FROM participant WHERE campaign_id = ? ORDER BY id {order} LIMIT ? OFFSET ?) page ON page.id = p.id
    ORDER BY p.id
"""
_NAMES = (
    "participantId", "campaignId", "email", "firstName", "lastName", "status", "language", "labels", "metadata",
    "createdAt", "updatedAt",
)  # fmt: skip
_JSON = ("labels", "metadata")


def create_app() -> Flask:
    """The product with one more route, whose answer is kept in memory: what remains of a call without its work."""
    app = product.create_app()
    app.add_url_rule("/api/bench/memory/<name>", "bench_memory", allow_by_gate(_from_memory))
    return app


def create_plain_app() -> Flask:
    """Flask, sqlite3 and json: the list of participants without tokens, budget, logs, metrics or careful reading."""
    app = Flask(__name__)
    app.config["DATABASE"] = Settings.from_env().database_url.removeprefix("sqlite:///")
    app.add_url_rule("/healthz", "healthz", lambda: "ok")
    app.add_url_rule("/campaigns/<campaign_id>/participants", "participants", _plain_list)
    return app


def keep_answer(instance_path: Path, name: str, body: bytes) -> str:
    """Prepare an answer; returns the path that answers it from memory."""
    _file_of(instance_path, name).write_bytes(body)
    return f"/api/bench/memory/{name}"


def _from_memory(name: str) -> Response:
    return Response(_kept(current_app.config["SETTINGS"].instance_path, name), mimetype="application/json")


@lru_cache(maxsize=32)
def _kept(instance_path: Path, name: str) -> bytes:
    return _file_of(instance_path, name).read_bytes()


def _file_of(instance_path: Path, name: str) -> Path:
    return instance_path / f"memory-{name}.json"


def _plain_list(campaign_id: str) -> Response:
    page, limit = int(request.args["page"]), int(request.args["limit"])
    connection = _connection()
    total = connection.execute("SELECT roster_size FROM campaign WHERE id = ?", (campaign_id,)).fetchone()[0]
    offset = (page - 1) * limit
    backwards = total - offset - limit < offset
    query = _PAGE.format(order="DESC" if backwards else "ASC")
    skipped = max(0, total - offset - limit) if backwards else offset
    rows = connection.execute(query, (campaign_id, limit, skipped)).fetchall()
    meta = {"page": page, "limit": limit, "total": total, "totalPages": -(-total // limit)}
    text = json.dumps({"success": True, "data": [_as_public(row) for row in rows], "meta": meta})
    return Response(text, mimetype="application/json")


def _as_public(row: tuple[Any, ...]) -> dict[str, Any]:
    shown = {name: value for name, value in zip(_NAMES, row, strict=True) if value is not None}
    return {name: json.loads(value) if name in _JSON else value for name, value in shown.items()}


def _connection() -> sqlite3.Connection:
    """One connection for each thread."""
    found: sqlite3.Connection | None = getattr(_local, "connection", None)
    if found is None:
        found = _local.connection = sqlite3.connect(current_app.config["DATABASE"])
    return found
