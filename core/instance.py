"""One live installation for each instance folder: a lock that is gone with the process that held it."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

LEFTOVERS_SECONDS = 15.0


class InstanceInUse(Exception):
    """Another process serves from this folder; the message says which."""


def lock(instance_path: Path) -> int:
    """Take the folder's lock; the open descriptor holds it. Raises `InstanceInUse`.

    The guard of a killed supervisor holds the lock until the old parts are gone: then this waits a little.
    """
    instance_path.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(instance_path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + LEFTOVERS_SECONDS
    while not _try(descriptor):
        holder = _holder(descriptor)
        if _is_alive(holder) or time.monotonic() > deadline:
            os.close(descriptor)
            raise InstanceInUse(
                f"Assessor is already running on {instance_path} (process {holder}). "
                "Stop it first, or set INSTANCE_PATH to another folder."
            )
        time.sleep(0.1)
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, str(os.getpid()).encode(), 0)
    return descriptor


def _try(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(descriptor: int) -> int:
    """The process that wrote itself into the lock; 0 in the moment before it did."""
    text = os.pread(descriptor, 20, 0).decode()
    return int(text) if text.isdecimal() else 0


def _is_alive(process: int) -> bool:
    if process == 0:
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
