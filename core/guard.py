"""A small process that outlives a killed supervisor just long enough to stop the parts that it left behind.

The supervisor tells it through a pipe which process groups run. The pipe's end means that the supervisor is gone,
by whatever death: then each group is asked to stop, and killed if it does not. This works on every Unix and reaches
grandchildren too, which Linux's parent-death signal does not.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

GRACE_SECONDS = 8.0


class Guard:
    """The supervisor's end of the pipe. `keep_open` are descriptors that the guard holds while it lives."""

    def __init__(self, keep_open: Sequence[int] = ()) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - this file itself
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=tuple(keep_open),
        )

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def watch(self, group: int) -> None:
        self._tell(f"+{group}\n")

    def forget(self, group: int) -> None:
        self._tell(f"-{group}\n")

    def dismiss(self) -> None:
        """Let the guard go, at the orderly end; it has nothing left to stop."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it was killed; the supervisor sees that at its next tick and starts another
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()


def signal_group(group: int, number: int) -> bool:
    """Send a signal to every process of a group; False where none is left.

    macOS answers EPERM where only zombies are left.
    """
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        group = int(line[1:])
        if line[0] == "+":
            groups.add(group)
        else:
            groups.discard(group)
    _stop(groups)


def _stop(groups: set[int]) -> None:
    deadline = time.monotonic() + GRACE_SECONDS
    left = {group for group in groups if signal_group(group, signal.SIGTERM)}
    while left and time.monotonic() < deadline:
        time.sleep(0.05)
        left = {group for group in left if signal_group(group, 0)}
    for group in left:
        signal_group(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
