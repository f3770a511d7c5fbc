"""Real parts of the worker on the test's own installation, and what is asked of them again and again."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from flask import Flask
from redis import Redis

ROOT = Path(__file__).parent.parent.parent
PATIENCE_SECONDS = 20.0
# Long enough for a busy machine to finish a POST, short enough to wait for.
LEASE_SECONDS = 2.0
# Within this a sweep has found what nobody was woken for, and sent it: 2 s between two sweeps, and a busy machine.
SWEPT_SECONDS = 6.0

# For what does not differ between the databases.
on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


class Parts:
    """Parts of one installation with short waits. `environ` names what differs, such as `WEBHOOK_MAX_ATTEMPTS`."""

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
        self._log = Path(settings.instance_path) / f"parts-{time.monotonic_ns()}.log"
        self._said = self._log.open("ab")
        self.living: list[subprocess.Popen[bytes]] = []

    def start(self, *part: str, **environ: str) -> subprocess.Popen[bytes]:
        """`taker` is woken by the queue, `loop` sweeps the database; without a name both, under their supervisor."""
        return self.run(["worker.py", *part], **environ)

    def run(self, words: list[str], **environ: str) -> subprocess.Popen[bytes]:
        """Any program of Python on this installation."""
        process = subprocess.Popen(
            [sys.executable, *words], cwd=ROOT, env=self.environ | environ, stdout=self._said, stderr=self._said
        )
        self.living.append(process)
        return process

    def said(self) -> str:
        return self._log.read_text()

    def stop(self) -> None:
        for process in self.living:
            with suppress(ProcessLookupError):
                process.terminate() if self._has_children(process) else process.kill()
        for process in self.living:
            with suppress(subprocess.TimeoutExpired):
                process.wait(25)
            process.kill()
            process.wait()
        self._said.close()

    @staticmethod
    def _has_children(process: subprocess.Popen[bytes]) -> bool:
        """The supervisor takes its parts with it only when it is asked to stop."""
        return list(process.args)[1:] == ["worker.py"]  # type: ignore[arg-type]


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill -9, of one that lives."""
    assert process.poll() is None, "it ended by itself"
    process.send_signal(signal.SIGKILL)
    process.wait()


def stop_in_time(process: subprocess.Popen[bytes], seconds: float) -> float:
    """SIGTERM; how many seconds until it had ended well."""
    assert process.poll() is None, "it ended by itself"
    began = time.monotonic()
    process.terminate()
    assert process.wait(seconds) == 0
    return time.monotonic() - began


def wait_for(question: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> float:
    """Ask until the answer is yes; how many seconds that took."""
    began = time.monotonic()
    while not question():
        assert time.monotonic() - began < seconds, f"it did not happen in {seconds:.0f} s"
        time.sleep(0.02)
    return time.monotonic() - began


def has_taker(redis_url: str) -> bool:
    """Whether a taker waits for jobs there."""
    return bool(Redis.from_url(redis_url).scard("rq:workers"))


def peak_mib(process: subprocess.Popen[bytes]) -> float:
    """The peak of resident memory: of this process alone, where getrusage would begin with its parent's."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+)", status)
    assert found is not None
    return int(found[1]) / 1024
