"""A real Valkey on a unix socket of its own; it can be stopped, frozen and started again."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from core.valkey import server_binary


@contextmanager
def server() -> Iterator[Valkey]:
    """Start a server; stop it and drop its folder at the end."""
    folder = Path(tempfile.mkdtemp(prefix="assessor-vk-", dir="/tmp"))
    valkey = Valkey(folder)
    try:
        valkey.start()
        yield valkey
    finally:
        valkey.stop()
        shutil.rmtree(folder, ignore_errors=True)


class Valkey:
    def __init__(self, folder: Path) -> None:
        self.socket = folder / "valkey.sock"
        self.folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    def start(self) -> None:
        command = [
            str(server_binary()),
            "--port",
            "0",
            "--unixsocket",
            str(self.socket),
            "--save",
            "",
            "--dir",
            str(self.folder),
        ]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            with suppress(RedisError, OSError):
                if Redis.from_url(self.url).ping():
                    return
            time.sleep(0.02)
        raise RuntimeError("Valkey did not start")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        """Keep the socket open and answer nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def forget_everything(self) -> None:
        Redis.from_url(self.url).flushall()
