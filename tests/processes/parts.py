"""Real processes of the test's own installation, and what is asked of them again and again."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import pytest
from flask import Flask
from redis import Redis

from tests.jobs import hooks
from tests.servers.receiver import Receiver

ROOT = Path(__file__).parent.parent.parent
PATIENCE_SECONDS = 20.0
# Long enough for a busy machine to finish a POST, short enough to wait for.
LEASE_SECONDS = 2.0
# Within this a sweep has found what nobody was woken for, and sent it: 2 s between two sweeps, and a very busy machine.
SWEPT_SECONDS = 15.0
# Nothing is taken back within a test: whatever is sent twice then, no lease excuses.
LONG_LEASE = {"WEBHOOK_LEASE_SECONDS": "90"}

# What one process of the worker may take, whatever a receiver sends (design, section 1).
MOST_MIB = 200

# For what does not differ between the databases.
on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
on_postgresql = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)


class Parts:
    """Processes of one installation with short waits. `environ` names what differs, such as `WEBHOOK_MAX_ATTEMPTS`.

    As a context it ends those that still live.
    """

    def __init__(self, app: Flask, **environ: str) -> None:
        settings = app.config["SETTINGS"]
        self.environ = os.environ | {
            "DATABASE_URL": settings.database_url,
            "REDIS_URL": settings.redis_url,
            "INSTANCE_PATH": str(settings.instance_path),
            "SECRET_KEY": settings.secret_key,
            "BASE_URL": settings.base_url,
            "DEMO": "0",
            "WEBHOOK_ALLOW_PRIVATE_HOSTS": "1",
            "WEBHOOK_LEASE_SECONDS": str(LEASE_SECONDS),
            "WEBHOOK_BACKOFF_SECONDS": "0.5",
            **environ,
        }
        self.log = Path(settings.instance_path) / f"parts-{time.monotonic_ns()}.log"
        self._living: list[subprocess.Popen[bytes]] = []

    def start(self, *part: str, **environ: str) -> subprocess.Popen[bytes]:
        """`taker` is woken by the queue, `loop` sweeps the database; without a name both, under their supervisor."""
        return self.run(["worker.py", *part], **environ)

    def run(self, words: Sequence[str], **environ: str) -> subprocess.Popen[bytes]:
        """Any program of Python on this installation."""
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, *words], cwd=ROOT, env=self.environ | environ, stdout=log, stderr=log
            )
        self._living.append(process)
        return process

    def said(self) -> str:
        return self.log.read_text()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        for process in self._living:
            with suppress(ProcessLookupError):
                process.terminate() if self._has_children(process) else process.kill()
        for process in self._living:
            with suppress(subprocess.TimeoutExpired):
                process.wait(25)
            process.kill()
            process.wait()

    @staticmethod
    def _has_children(process: subprocess.Popen[bytes]) -> bool:
        """The supervisor takes its parts with it only when it is asked to stop."""
        return list(process.args)[1:] == ["worker.py"]  # type: ignore[arg-type]  # each was started with a list


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill -9, of one that lives."""
    assert process.poll() is None, "it ended by itself"
    process.send_signal(signal.SIGKILL)
    process.wait()


def stop_in_time(process: subprocess.Popen[bytes], seconds: float) -> None:
    """SIGTERM, and it ends well; the seconds are patience."""
    assert process.poll() is None, "it ended by itself"
    process.terminate()
    assert process.wait(seconds) == 0


def wait_for(
    question: Callable[[], object], seconds: float = PATIENCE_SECONDS, said: Callable[[], str] = lambda: ""
) -> float:
    """Ask until the answer is yes; how many seconds that took. `said` is what to show where it never is."""
    began = time.monotonic()
    while not question():
        assert time.monotonic() - began < seconds, f"it did not happen in {seconds:.0f} s\n{said()}"
        time.sleep(0.02)
    return time.monotonic() - began


def has_taker(redis_url: str) -> bool:
    """Whether a taker waits for jobs there."""
    return bool(Redis.from_url(redis_url).scard("rq:workers"))


def all_accepted() -> bool:
    return set(hooks.states()) == {"accepted"}


def each_once(hook: Receiver, deliveries: int) -> None:
    """Whatever happened meanwhile: every delivery was sent, and written, exactly once."""
    assert hooks.states() == ["accepted"] * deliveries
    assert len(hook.got) == deliveries == len(set(hook.ids))
    assert len(hooks.attempts()) == deliveries


def processes() -> list[tuple[int, int, str]]:
    """Of every living process: its id, its parent's, and its command line."""
    listing = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,stat=,args="], capture_output=True, text=True, check=True
    )
    rows = (line.split(None, 3) for line in listing.stdout.splitlines())
    return [(int(row[0]), int(row[1]), row[3]) for row in rows if len(row) == 4 and not row[2].startswith("Z")]


def family(process: subprocess.Popen[bytes]) -> dict[int, str]:
    """Every process below this one: its id and its command line."""
    found, listed = {process.pid: ""}, processes()
    for _ in range(4):
        found |= {pid: command for pid, parent, command in listed if parent in found}
    return {pid: command for pid, command in found.items() if pid != process.pid}


def peak_mib(pid: int) -> float:
    """The peak of resident memory: of this process alone, where getrusage would begin with its parent's."""
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024
