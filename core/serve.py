"""`python app.py`: this machine whole. Web, worker and embedded Valkey under one supervisor, on prepared data."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from core import i18n, instance, valkey
from core.settings import Settings, SettingsError
from core.supervisor import Part, Supervisor

READY_SECONDS = 60.0
POLL_SECONDS = 0.1
EVERY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 - recognised here, never chosen: HOST is 127.0.0.1 unless set

# Measured on two cores. Quick pages alone are served fastest by few threads, yet with 4 in each process six waiting
# requests (a locked database, a password's hash, a queue away) held others back for a second; with 8 none did, and the
# p95 of quick pages under 16 connections went from 6 to 10 ms.
WEB_WORKERS = 2
WEB_THREADS = 8


class CannotServe(Exception):
    """The machine is not ready for it; the message says why."""


def main(prepare: Callable[[Settings], str]) -> int:
    """Serve until Ctrl-C; the exit code.

    `prepare` brings the database up to date, loads the demo data into an empty one, and returns what a person needs
    to know before the first visit, such as the demo sign-ins.
    """
    try:
        settings = Settings.from_env(local=True)
        host = os.environ.get("HOST") or "127.0.0.1"
        lock = instance.lock(settings.instance_path)
        _require_free(host, settings.port)
        parts = _parts(settings, host)
    except (SettingsError, instance.InstanceInUse, valkey.ValkeyMissing, CannotServe) as reason:
        sys.stderr.write(f"Assessor cannot start: {reason}\n")
        return 1
    i18n.compile_catalogues()
    try:
        notice = prepare(settings)
    except KeyboardInterrupt:
        return 0
    supervisor = Supervisor(parts, label="assessor", keep_open=[lock])
    threading.Thread(target=_announce, args=(supervisor, settings, host, notice), daemon=True).start()
    return supervisor.run()


def _parts(settings: Settings, host: str) -> list[Part]:
    env = _environment(settings)
    served = [
        Part("web", web_command(host, settings.port), env),
        Part("worker", [sys.executable, "worker.py"], env),
    ]
    if not settings.embedded_valkey:
        return served
    return [Part("valkey", valkey.command(settings.instance_path), env, stops_last=True), *served]


def web_command(host: str, port: int) -> list[str]:
    """Granian on `app:create_app`. It replaces a process of its own that dies; its warnings are about tuning only."""
    return [
        *(sys.executable, "-m", "granian", "--interface", "wsgi", "--factory", "app:create_app"),
        *("--host", host, "--port", str(port), "--http", "1", "--no-ws", "--log-level", "error"),
        *("--workers", str(WEB_WORKERS), "--blocking-threads", str(WEB_THREADS)),
        *("--respawn-failed-workers", "--respawn-interval", "0.1", "--workers-kill-timeout", "10"),
    ]


def _environment(settings: Settings) -> dict[str, str]:
    """What the parts inherit: the settings as read here, so that all share one secret and one folder."""
    env = dict(os.environ)
    if not env.get("PROMETHEUS_MULTIPROC_DIR"):
        env["PROMETHEUS_MULTIPROC_DIR"] = _emptied(settings.instance_path / "metrics")
    env.update(
        INSTANCE_PATH=str(settings.instance_path),
        DATABASE_URL=settings.database_url,
        BASE_URL=settings.base_url,
        SECRET_KEY=settings.secret_key,
        PORT=str(settings.port),
        PYTHONUNBUFFERED="1",
    )
    return env


def _emptied(folder: Path) -> str:
    """Where the web processes of this run add up their counts (`core.metrics`)."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return str(folder)


def _require_free(host: str, port: int) -> None:
    """Refuse a port that is taken. The server itself would share it with another of its kind, request by request."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
    except OSError as error:
        raise CannotServe(
            f"port {port} on {host} cannot be used ({error.strerror}). Set PORT to another, such as PORT={port + 1}."
        ) from error


def _announce(supervisor: Supervisor, settings: Settings, host: str, notice: str) -> None:
    """Once the first page can be had, say where, and what `prepare` had to say.

    Where it never can, give up: Granian replaces processes that cannot load the app for ever.
    """
    reachable = "127.0.0.1" if host in EVERY_ADDRESS else host
    bracketed = f"[{reachable}]" if ":" in reachable else reachable
    deadline = time.monotonic() + READY_SECONDS
    while not _answers(f"http://{bracketed}:{settings.port}/healthz"):
        if time.monotonic() > deadline:
            supervisor.give_up(f"web has not answered within {READY_SECONDS:.0f} s; see the messages above.")
            return
        time.sleep(POLL_SECONDS)
    sys.stdout.write(f"\nAssessor is ready at {settings.base_url}\n{notice}\nCtrl-C stops it.\n")
    sys.stdout.flush()


def _answers(url: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=2) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False
