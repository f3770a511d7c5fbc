"""What operators' machines ask: health, readiness, metrics; and the last uses that are written aside."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app import create_app
from blueprints.api import last_use
from core import queue
from core.db import db, transaction
from domain.accounts import credentials
from domain.accounts.credentials import ServiceToken
from domain.events.audit import COMMAND_LINE
from tests.conftest import settings_for
from tests.world import World


def test_a_healthy_installation_says_so(stranger: FlaskClient) -> None:
    assert stranger.get("/healthz").json == {"status": "ok"}
    ready = stranger.get("/readyz")
    assert (ready.status_code, ready.json) == (200, {"status": "ready", "database": "ok", "queue": "ok"})


def test_without_the_queue_it_is_ready_all_the_same(tmp_path: Path) -> None:
    app = create_app(settings_for(f"sqlite:///{tmp_path}/x.db", f"unix://{tmp_path}/none", tmp_path))
    ready = app.test_client().get("/readyz")
    assert (ready.status_code, ready.json) == (200, {"status": "ready", "database": "ok", "queue": "away"})
    assert b"assessor_queue_reachable 0.0" in app.test_client().get("/metrics").data


def test_a_frozen_queue_is_away_and_others_may_still_try_it(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as frozen:
        frozen.bind(f"{tmp_path}/frozen")
        frozen.listen()
        app = create_app(settings_for(f"sqlite:///{tmp_path}/x.db", f"unix://{tmp_path}/frozen", tmp_path))
        assert app.test_client().get("/readyz").get_json()["queue"] == "away"
        with app.app_context():
            assert not queue.handle().breaker.is_open()


@pytest.mark.parametrize("url", ["sqlite:////tmp", "postgresql://nobody@127.0.0.1:1/none"])
def test_without_the_database_it_is_not_ready(tmp_path: Path, url: str) -> None:
    client = create_app(settings_for(url, f"unix://{tmp_path}/none", tmp_path)).test_client()
    ready = client.get("/readyz")
    assert ready.status_code == 503
    assert ready.json == {"status": "unavailable", "database": "away", "queue": "away"}
    assert client.get("/healthz").status_code == 200
    assert b"assessor_database_reachable 0.0" in client.get("/metrics").data


def test_metrics_count_requests(stranger: FlaskClient) -> None:
    stranger.get("/healthz")
    shown = stranger.get("/metrics")
    assert shown.content_type.startswith("text/plain")
    assert 'assessor_http_requests_total{endpoint="ops.healthz",status="200"}' in shown.text
    assert "assessor_queue_reachable 1.0" in shown.text


def test_metrics_of_several_processes_add_up(tmp_path: Path) -> None:
    count = "from core import metrics; metrics.REQUESTS.labels('x', 200).inc(); print(metrics.exposition().decode())"
    env = {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}
    shown = [
        subprocess.run([sys.executable, "-c", count], env=env, capture_output=True, text=True, check=True).stdout
        for _ in range(3)
    ]
    assert 'assessor_http_requests_total{endpoint="x",status="200"} 3.0' in shown[-1]


def test_a_use_is_written_aside_and_an_environment_token_has_no_row(app: Flask, world: World) -> None:
    with transaction():
        token, _ = credentials.mint("k", accounts=[world.account_id], scopes=["campaigns:read"], by=COMMAND_LINE)
    last_use.note(token.id)
    last_use.note("env_of_the_environment")
    db.session.rollback()
    assert db.session.get_one(ServiceToken, token.id, populate_existing=True).last_used_at is None
    last_use.flush()
    db.session.rollback()
    assert db.session.get_one(ServiceToken, token.id, populate_existing=True).last_used_at is not None
