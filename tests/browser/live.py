"""The product as people use it: real web processes, a real worker, a real Valkey and a database of their own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from flask import Flask

from app import create_app
from core import serve
from core.db import db, transaction
from core.settings import Settings
from domain.campaigns import campaign as campaigns
from domain.events.audit import COMMAND_LINE
from tests import world as worlds
from tests.house.visits import Walk, build
from tests.servers import valkey
from tests.world import World

ROOT = Path(__file__).parent.parent.parent
SECRET_KEY = "a secret for the browser's tests, long enough"
READY_SECONDS = 40.0
FIRST_NAMES = ("Aïcha", "Benoît", "Cecília", "Dolores", "Émile", "Fernanda", "Gonçalo", "Hélène", "Iñaki", "João")
LANGUAGES = ("fr", "fr", "pt-BR", "es", None, "pt-BR", "pt-BR", "en", "es", None)


@dataclass
class Live:
    """A running installation. `app` is the same one inside the test process, to set the scene."""

    app: Flask
    base: str
    world: World
    log: Path

    @property
    def acme(self) -> str:
        return self.base + self.world.acme

    def new_campaign(self, name: str, people: int = 0) -> str:
        """A campaign of its own for a journey, with people on its roster; returns its address."""
        with self.app.app_context():
            with transaction():
                campaign_id = campaigns.create(self.world.account_id, {"name": name}, COMMAND_LINE).id
            fill(World(self.world.account_id, campaign_id, "", ""), people)
            db.session.remove()
        return f"{self.acme}/campaigns/{campaign_id}"

    def cookie_of(self, name: str) -> Any:
        """The cookie of a browser in which this person is signed in, as Playwright takes it."""
        with self.app.app_context():
            cookie = worlds.sign_in(self.app, name).get_cookie("assessor_session")
            db.session.remove()
        assert cookie is not None
        return {"name": "assessor_session", "value": cookie.value, "url": self.base}

    @cached_property
    def walk(self) -> Walk:
        """Every route, with something behind its address."""
        with self.app.app_context():
            places = build(self.app, self.world)
            db.session.remove()
        return Walk(self.app, self.world, places)


@contextmanager
def running(folder: Path) -> Iterator[Live]:
    """Start everything; stop it at the end, also after a failure."""
    with valkey.server() as queue:
        port = _free_port()
        settings = Settings(
            instance_path=folder, database_url=f"sqlite:///{folder / 'assessor.db'}", redis_url=queue.url,
            base_url=f"http://127.0.0.1:{port}", secret_key=SECRET_KEY, port=port,
            webhook_allow_private_hosts=True, webhook_backoff_seconds=(0.2,),
        )  # fmt: skip
        app = create_app(settings)
        world = _people(app)
        log = folder / "log"
        parts: list[subprocess.Popen[bytes]] = []
        try:
            with log.open("wb") as said:
                for command in (serve.web_command("127.0.0.1", port), [sys.executable, "worker.py"]):
                    parts.append(_start(command, settings, said))
            _wait_until_ready(settings.base_url, parts, log)
            yield Live(app, settings.base_url, world, log)
        finally:
            _stop(parts)
            with app.app_context():
                db.engine.dispose()


def fill(world: World, people: int) -> None:
    """Put people with believable names and languages on a roster."""
    for number in range(people):
        name = FIRST_NAMES[number % len(FIRST_NAMES)]
        language = LANGUAGES[number % len(LANGUAGES)]
        worlds.add_participant(
            world, f"person{number}@example.com", firstName=name, lastName=f"Example {number}", language=language
        )


def _people(app: Flask) -> World:
    with app.app_context():
        db.create_all()
        world = worlds.build()
        fill(world, 60)
        db.session.remove()
    return world


def _start(command: list[str], settings: Settings, said: IO[bytes]) -> subprocess.Popen[bytes]:
    env = dict(os.environ)
    env.update(
        INSTANCE_PATH=str(settings.instance_path), DATABASE_URL=settings.database_url, REDIS_URL=settings.redis_url,
        BASE_URL=settings.base_url, SECRET_KEY=settings.secret_key, PORT=str(settings.port), PYTHONUNBUFFERED="1",
        WEBHOOK_ALLOW_PRIVATE_HOSTS="1", WEBHOOK_BACKOFF_SECONDS="0.2",
    )  # fmt: skip
    return subprocess.Popen(command, cwd=ROOT, env=env, stdout=said, stderr=said, start_new_session=True)


def _stop(parts: list[subprocess.Popen[bytes]]) -> None:
    for part in parts:
        part.terminate()
    for part in parts:
        try:
            part.wait(timeout=15)
        except subprocess.TimeoutExpired:
            part.kill()
            part.wait()


def _wait_until_ready(base: str, parts: list[subprocess.Popen[bytes]], log: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        with suppress(urllib.error.URLError, OSError), urllib.request.urlopen(f"{base}/healthz", timeout=2) as answer:
            if answer.status == 200:
                return
        ended = [part.args for part in parts if part.poll() is not None]
        assert not ended, f"{ended} ended at the start; it said:\n{log.read_text()}"
        time.sleep(0.05)
    raise AssertionError(f"the web server has not answered within {READY_SECONDS:.0f} s:\n{log.read_text()}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
