"""The supervisor with small parts of its own: real processes, real signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core import instance
from core.supervisor import CANNOT_START, FAILED_STARTS_LIMIT

ROOT = Path(__file__).parent.parent.parent

SUPERVISE = """
import sys
from core import instance
from core.supervisor import Part, Supervisor
from pathlib import Path
folder = Path(sys.argv[1])
lock = instance.lock(folder)
parts = [
    Part(script.stem, [sys.executable, str(script), str(folder)], may_leave=script.stem == "leaves")
    for script in sorted(folder.glob("*.py"))
]
sys.exit(Supervisor(parts, label="test", keep_open=[lock]).run())
"""

# Writes its pid, and lives until it is told to stop.
LIVES = """
import os, sys, time
from pathlib import Path
Path(sys.argv[1], "{name}.pid").write_text(str(os.getpid()))
time.sleep(60)
"""

# Counts its starts, and ends at once.
LEAVES = """
import sys
from pathlib import Path
with Path(sys.argv[1], "starts").open("a") as starts:
    starts.write("1")
sys.exit({code})
"""

HAS_A_CHILD = """
import subprocess, sys, time
from pathlib import Path
child = subprocess.Popen(["sleep", "60"])
Path(sys.argv[1], "{name}.pid").write_text(str(child.pid))
time.sleep(60)
"""

DEAF = """
import os, signal, sys, time
from pathlib import Path
signal.signal(signal.SIGTERM, signal.SIG_IGN)
Path(sys.argv[1], "{name}.pid").write_text(str(os.getpid()))
time.sleep(60)
"""


class Supervised:
    """A supervisor over the scripts of a folder; its lines are collected in a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None

    def part(self, name: str, script: str) -> None:
        (self.folder / f"{name}.py").write_text(script.replace("{name}", name))

    def start(self, said_to: Path | None = None) -> None:
        with (said_to or self.folder / "said").open("wb") as said:
            command = [sys.executable, "-c", SUPERVISE, str(self.folder)]
            self.process = subprocess.Popen(command, cwd=ROOT, stderr=said, start_new_session=True)

    def send(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def exit_code(self) -> int:
        assert self.process is not None
        return self.process.wait(timeout=15)

    def said(self) -> str:
        return (self.folder / "said").read_text()

    def pid(self, name: str, *, other_than: int = 0) -> int:
        file = self.folder / f"{name}.pid"
        return wait_for(lambda: int(file.read_text() or 0) if file.exists() else 0, unless=other_than)


def wait_for(question: Callable[[], int | bool], *, unless: int = 0, seconds: float = 10.0) -> int:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = question()
        if answer and answer != unless:
            return answer
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")


def is_gone(pid: int) -> bool:
    """No such process, or only its entry is left for a parent that has not asked yet."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[Supervised]:
    case = Supervised(tmp_path)
    yield case
    if case.process is not None and case.process.poll() is None:
        case.process.kill()
        case.process.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_every_part_and_the_exit_code_is_0(supervised: Supervised, number: int) -> None:
    supervised.part("first", LIVES)
    supervised.part("second", HAS_A_CHILD)
    supervised.start()
    pids = [supervised.pid("first"), supervised.pid("second")]
    supervised.send(number)
    assert supervised.exit_code() == 0
    assert all(is_gone(pid) for pid in pids)
    assert "Traceback" not in supervised.said()


def test_a_killed_part_comes_back_and_its_death_is_said_in_one_line(supervised: Supervised) -> None:
    supervised.part("first", LIVES)
    supervised.start()
    killed = supervised.pid("first")
    os.kill(killed, signal.SIGKILL)
    assert supervised.pid("first", other_than=killed) != killed
    assert supervised.said() == "[test] first ended (killed by SIGKILL); it is started again in 0.5 s.\n"


def test_a_death_that_no_log_has_room_for_is_mended_all_the_same(supervised: Supervised) -> None:
    supervised.part("one", LIVES)
    supervised.start(said_to=Path("/dev/full"))
    killed = supervised.pid("one")
    os.kill(killed, signal.SIGKILL)
    supervised.pid("one", other_than=killed)
    supervised.send(signal.SIGTERM)
    assert supervised.exit_code() == 0


def test_a_part_that_cannot_start_ends_everything_with_a_sentence(supervised: Supervised) -> None:
    supervised.part("broken", "raise SystemExit('the port is taken')")
    supervised.part("first", LIVES)
    supervised.start()
    pid = supervised.pid("first")
    assert supervised.exit_code() == CANNOT_START
    assert is_gone(pid)
    assert supervised.said().endswith("broken cannot start (exit code 1); its own message stands above. Stopping.\n")


def test_a_supervisor_below_that_gave_up_is_not_tried_again(supervised: Supervised) -> None:
    supervised.part("below", f"raise SystemExit({CANNOT_START})")
    supervised.start()
    assert supervised.exit_code() == CANNOT_START
    said = "[test] below cannot start (exit code 78); its own message stands above. Stopping.\n"
    assert supervised.said() == said


def test_a_part_that_may_leave_comes_again_however_often_it_left(supervised: Supervised) -> None:
    supervised.part("leaves", LEAVES.replace("{code}", "0"))
    supervised.part("other", LIVES)
    supervised.start()
    starts, pid = supervised.folder / "starts", supervised.pid("other")
    wait_for(lambda: starts.exists() and starts.stat().st_size > FAILED_STARTS_LIMIT, seconds=60)
    assert not is_gone(pid) and supervised.said() == ""
    supervised.send(signal.SIGTERM)
    assert supervised.exit_code() == 0


def test_a_part_that_may_leave_and_cannot_start_ends_everything_all_the_same(supervised: Supervised) -> None:
    supervised.part("leaves", LEAVES.replace("{code}", "1"))
    supervised.start()
    assert supervised.exit_code() == CANNOT_START
    assert (supervised.folder / "starts").read_text() == "1" * FAILED_STARTS_LIMIT


def test_killing_the_supervisor_takes_its_parts_and_theirs_down(supervised: Supervised) -> None:
    supervised.part("first", LIVES)
    supervised.part("second", HAS_A_CHILD)
    supervised.start()
    pids = [supervised.pid("first"), supervised.pid("second")]
    supervised.send(signal.SIGKILL)
    for pid in pids:
        wait_for(lambda pid=pid: is_gone(pid))


def test_the_lock_of_a_killed_supervisor_is_free_once_its_parts_are_gone(supervised: Supervised) -> None:
    supervised.part("first", LIVES)
    supervised.start()
    pid = supervised.pid("first")
    with pytest.raises(instance.InstanceInUse, match="already running"):
        instance.lock(supervised.folder)
    supervised.send(signal.SIGKILL)
    supervised.exit_code()
    descriptor = instance.lock(supervised.folder)
    assert is_gone(pid)
    os.close(descriptor)


def test_a_second_ctrl_c_kills_a_part_that_does_not_listen(supervised: Supervised) -> None:
    supervised.part("deaf", DEAF)
    supervised.start()
    pid = supervised.pid("deaf")
    supervised.send(signal.SIGINT)
    time.sleep(0.5)
    assert not is_gone(pid)
    supervised.send(signal.SIGINT)
    assert supervised.exit_code() == 0
    assert is_gone(pid)
    assert "deaf did not stop when asked; it is killed." in supervised.said()
