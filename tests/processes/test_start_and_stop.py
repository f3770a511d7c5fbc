"""`python app.py` as a person runs it: real processes, killed one by one, and stopped with Ctrl-C."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import RedisError
from rq import Queue
from rq.serializers import JSONSerializer

from core.queue import QUEUE_NAME
from core.settings import embedded_valkey_socket
from tests.processes.parts import ROOT, family, processes, wait_for

READY_SECONDS = 40.0


class Machine:
    """One `python app.py` on a folder and a port of its own; what it says is collected in a file."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.output = folder.parent / f"said-{port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> Machine:
        unset = ("DATABASE_URL", "REDIS_URL", "BASE_URL", "HOST", "SECRET_KEY", "SMTP_URL")
        env = {name: value for name, value in os.environ.items() if name not in unset}
        env |= {"INSTANCE_PATH": str(self.folder), "PORT": str(self.port), "DEMO": "0"}
        with self.output.open("wb") as said:
            self.process = subprocess.Popen(
                [sys.executable, "app.py"], cwd=ROOT, env=env, stdout=said, stderr=said, start_new_session=True
            )
        return self

    def ready(self) -> Machine:
        self.until(lambda: "Assessor is ready at" in self.said(), seconds=READY_SECONDS)
        return self

    def until(self, question: Callable[[], object], seconds: float = 15.0) -> None:
        wait_for(question, seconds, self.said)

    def said(self) -> str:
        return self.output.read_text()

    def answers(self) -> bool:
        try:
            self.get("healthz", seconds=2)
        except OSError:  # of which the library's own errors are
            return False
        return True

    def get(self, page: str, seconds: float = 30.0) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{page}", timeout=seconds) as response:
            return str(response.read().decode())

    def readiness_checks(self) -> float:
        """How many `/metrics` tells of."""
        shown = self.get("metrics")
        series = 'assessor_http_requests_total{endpoint="ops.readyz",status="200"} '
        return float(shown.partition(series)[2].partition("\n")[0] or 0)

    def exit_code(self) -> int:
        assert self.process is not None
        return self.process.wait(timeout=30)

    def part(self, word: str) -> int:
        """The process id of the part whose command line holds `word`; 0 while there is none."""
        assert self.process is not None
        found = (pid for pid, parent, command in processes() if parent == self.process.pid and word in command)
        return next(found, 0)

    def kill_part(self, word: str) -> int:
        self.until(lambda: self.part(word))  # never signal process 0, which is everybody
        killed = self.part(word)
        assert killed > 1
        os.kill(killed, signal.SIGKILL)
        return killed

    def queue(self) -> Queue:
        redis = Redis(unix_socket_path=str(embedded_valkey_socket(self.folder)), socket_timeout=2)
        return Queue(QUEUE_NAME, connection=redis, serializer=JSONSerializer)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """One machine for the kills; each test leaves it whole again."""
    running = Machine(tmp_path_factory.mktemp("machine") / "instance", free_port()).start()
    yield running.ready()
    assert running.process is not None
    running.process.send_signal(signal.SIGTERM)
    assert running.exit_code() == 0


@pytest.mark.parametrize(("name", "word"), [("web", "granian"), ("worker", "worker.py"), ("valkey", "-server")])
def test_a_killed_part_comes_back_and_its_death_is_said(machine: Machine, name: str, word: str) -> None:
    killed = machine.kill_part(word)
    machine.until(lambda: machine.part(word) not in (0, killed))
    machine.until(machine.answers)
    assert f"{name} ended (killed by SIGKILL); it is started again in" in machine.said()


def test_a_killed_process_of_the_web_server_is_replaced(machine: Machine) -> None:
    server = machine.part("granian")

    def serving() -> set[int]:
        return {pid for pid, parent, _ in processes() if parent == server}

    machine.until(lambda: len(serving()) == 2)
    killed = min(serving())
    os.kill(killed, signal.SIGKILL)
    machine.until(lambda: len(serving() - {killed}) == 2)
    machine.until(machine.answers)


def test_whichever_process_of_the_web_server_is_asked_the_counts_are_of_all(machine: Machine) -> None:
    before = machine.readiness_checks()  # which nobody but this test asks for, so that none comes twice
    for _ in range(20):
        machine.get("readyz")
    assert {machine.readiness_checks() for _ in range(20)} == {before + 20}


def test_jobs_are_taken_again_after_valkey_was_lost_with_its_keys(machine: Machine) -> None:
    machine.kill_part("-server")

    def is_taken() -> bool:
        try:
            job = machine.queue().enqueue("core.clock.now_ms", result_ttl=60)
            machine.until(lambda: job.get_status(refresh=True) == "finished")
        except RedisError:
            return False
        return True

    machine.until(is_taken)


def test_what_is_asked_of_the_queue_is_done(machine: Machine) -> None:
    queue = machine.queue()
    machine.until(lambda: queue.connection.scard("rq:workers") >= 1)
    job = queue.enqueue("core.clock.now_ms", result_ttl=60)
    machine.until(lambda: job.get_status(refresh=True) == "finished")


def test_a_second_start_on_the_same_folder_is_refused(machine: Machine) -> None:
    second = Machine(machine.folder, free_port()).start()
    assert second.exit_code() == 1
    said = second.said()
    assert "Assessor cannot start: Assessor is already running on" in said
    assert "Traceback" not in said
    assert machine.answers()


def test_a_taken_port_is_said(machine: Machine, tmp_path: Path) -> None:
    second = Machine(tmp_path / "instance", machine.port).start()
    assert second.exit_code() == 1
    assert f"Assessor cannot start: port {machine.port} on 127.0.0.1 cannot be used" in second.said()
    assert "Traceback" not in second.said()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_however_it_ends_no_process_is_left(tmp_path: Path, number: int) -> None:
    running = Machine(tmp_path / "instance", free_port()).start().ready()
    assert running.process is not None
    left = set(family(running.process))
    running.process.send_signal(number)
    code = running.exit_code()
    running.until(lambda: not left & {pid for pid, _, _ in processes()})
    assert code == (0 if number == signal.SIGINT else -signal.SIGKILL)
    assert "Traceback" not in running.said()
