"""Keeps named child processes running: starts them, restarts what dies, and stops all of them together.

A part lives in a session of its own, so that Ctrl-C in a terminal reaches the supervisor alone. Its output goes where
the supervisor's goes. Should the supervisor itself be killed, its guard (`core.guard`) stops the parts.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from core import guard

ROOT = Path(__file__).parent.parent
BACKOFF_SECONDS = (0.5, 1, 2, 5, 10, 30)
# After a part left of its own accord: long enough that one which leaves after each job starts but now and then.
LEFT_SECONDS = 2.0
SETTLED_SECONDS = 15.0
FAILED_STARTS_LIMIT = 4
CANNOT_START = 78  # the exit code of a supervisor that gave up, so that one above it does so too (EX_CONFIG)
STOP_SECONDS = 20.0
TICK_SECONDS = 0.1


@dataclass(frozen=True)
class Part:
    """One child process. `stops_last`: others use it until their end, so it ends after them. `may_leave`: it ends with
    exit code 0 when it has reason to begin afresh, which is no failure."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] | None = None
    stops_last: bool = False
    may_leave: bool = False


@dataclass
class _Running:
    """What is known of one part: its process, its failures in a row, and when to start it again."""

    part: Part
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    starts: int = 0
    failures: int = 0
    start_at: float | None = 0.0
    ever_settled: bool = False

    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def has_left(self) -> bool:
        """Whether it ended because it wanted to: then it had run well."""
        return self.part.may_leave and self.process is not None and self.process.returncode == 0

    def is_hopeless(self) -> bool:
        """Whether it has never run well and need not be tried again: what it lacks will not come by itself."""
        gave_up = self.process is not None and self.process.returncode == CANNOT_START
        return (gave_up and self.starts == 1) or (self.failures >= FAILED_STARTS_LIMIT and not self.ever_settled)


class Supervisor:
    """Runs `parts` until a signal or a part that cannot start. `label` begins each line that it prints.

    `keep_open` are file descriptors (such as a lock) that are held until the last part is gone, even if the
    supervisor is killed.
    """

    def __init__(self, parts: Sequence[Part], *, label: str, keep_open: Sequence[int] = ()) -> None:
        self._running = [_Running(part) for part in parts]
        self._label = label
        self._keep_open = tuple(keep_open)
        self._signals = 0
        self._given_up = False
        self._guard: guard.Guard | None = None

    def run(self) -> int:
        """Keep the parts running; the exit code: 0 after a signal, `CANNOT_START` where one of them cannot."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        self._guard = guard.Guard(self._keep_open)
        while not self._signals and not self._given_up:
            self._tick()
            time.sleep(TICK_SECONDS)
        self._stop()
        return CANNOT_START if self._given_up else 0

    def give_up(self, sentence: str) -> None:
        """Stop everything, since it will not come to serve. Any thread may call this."""
        self.say(f"{sentence} Stopping.")
        self._given_up = True

    def say(self, sentence: str) -> None:
        with suppress(OSError):  # a full disk that has no room for the line is no reason to stop
            sys.stderr.write(f"[{self._label}] {sentence}\n")
            sys.stderr.flush()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1

    def _tick(self) -> None:
        self._watch_guard()
        for running in self._running:
            if running.start_at is None and not running.is_alive():
                self._note_death(running)
            if self._given_up:
                return
            if running.start_at is not None and time.monotonic() >= running.start_at:
                self._start(running)
            elif running.is_alive() and time.monotonic() - running.started > SETTLED_SECONDS:
                running.failures, running.ever_settled = 0, True

    def _start(self, running: _Running) -> None:
        part = running.part
        env = dict(os.environ if part.env is None else part.env)
        running.starts += 1
        try:
            running.process = subprocess.Popen(  # noqa: S603 - the command lines are this program's own
                part.argv, env=env, cwd=ROOT, stdin=subprocess.DEVNULL, start_new_session=True
            )
        except OSError as error:  # no such program, or no memory for one more process
            self.say(f"{part.name}: {part.argv[0]}: {error.strerror}.")
            self._plan_restart(running, "not started")
            return
        self._guarded().watch(running.process.pid)
        running.started, running.start_at = time.monotonic(), None

    def _note_death(self, running: _Running) -> None:
        """Take down what the dead part left in its group, and plan the next start."""
        assert running.process is not None
        guard.signal_group(running.process.pid, signal.SIGKILL)
        self._guarded().forget(running.process.pid)
        if running.has_left():
            running.failures, running.ever_settled = 0, True
            running.start_at = time.monotonic() + LEFT_SECONDS
        else:
            self._plan_restart(running, _how(running.process.returncode))

    def _plan_restart(self, running: _Running, how: str) -> None:
        """Start it again in a while, longer after each failure in a row; or give up, where it never ran well."""
        wait = BACKOFF_SECONDS[min(running.failures, len(BACKOFF_SECONDS) - 1)]
        running.failures += 1
        running.start_at = time.monotonic() + wait
        if running.is_hopeless():
            self.give_up(f"{running.part.name} cannot start ({how}); its own message stands above.")
        else:
            self.say(f"{running.part.name} ended ({how}); it is started again in {wait:g} s.")

    def _guarded(self) -> guard.Guard:
        assert self._guard is not None
        return self._guard

    def _watch_guard(self) -> None:
        """A guard that was killed is replaced, and told of every part again."""
        if self._guarded().is_alive():
            return
        self._guard = guard.Guard(self._keep_open)
        for running in self._running:
            if running.is_alive() and running.process is not None:
                self._guard.watch(running.process.pid)

    def _stop(self) -> None:
        deadline = time.monotonic() + STOP_SECONDS
        self._stop_these([running for running in self._running if not running.part.stops_last], deadline)
        self._stop_these([running for running in self._running if running.part.stops_last], deadline)
        self._guarded().dismiss()

    def _stop_these(self, leaving: list[_Running], deadline: float) -> None:
        """TERM, and KILL at the deadline or when the signal comes once more."""
        alive = [running for running in leaving if running.is_alive()]
        asked = self._signals
        for running in alive:
            assert running.process is not None
            running.process.terminate()
        while any(running.is_alive() for running in alive):
            if time.monotonic() > deadline or self._signals > asked:
                break
            time.sleep(TICK_SECONDS / 2)
        for running in alive:
            self._finish(running)

    def _finish(self, running: _Running) -> None:
        assert running.process is not None
        if running.is_alive():
            self.say(f"{running.part.name} did not stop when asked; it is killed.")
        guard.signal_group(running.process.pid, signal.SIGKILL)
        running.process.wait()
        self._guarded().forget(running.process.pid)


def _how(returncode: int) -> str:
    """`exit code 3`, or `killed by SIGKILL`."""
    if returncode >= 0:
        return f"exit code {returncode}"
    return f"killed by {signal.Signals(-returncode).name}"
