"""Deliveries by the product's worker against as many bare signed POSTs with its client, to the same receivers."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy import func, select

from bench.installation import ROOT, Installation, Scratch, stop
from bench.load import LoadFailed
from bench.table import Line
from contract.webhooks import WebhookRegister
from core.db import db, transaction
from domain.events import event, subscription
from domain.events.audit import COMMAND_LINE
from domain.events.delivery import Delivery, DeliveryAttempt
from jobs.deliveries import THREADS

SUBSCRIPTIONS = 20
COUNT = 3_000
CHANGES = 60
SLOW, FAST = 600, 1_000
SECRET = "a secret of the receiver"
PARTS = ("taker", "taker", "loop")
PATIENCE_SECONDS = 40.0
AIM_INSTANT, AIM_SLOWER = 1_500, 500  # deliveries a second
AIM_P95_MS = 1_000
AIM_FAST_SECONDS = 5.0
AIM_MIB = 200


class Receivers:
    """The process of receivers: an instant one, one that takes 100 ms, one that takes 8 s."""

    MILLISECONDS = (0, 100, 8_000)

    def __init__(self) -> None:
        command = [sys.executable, str(Path(__file__).with_name("receiver.py")), *map(str, self.MILLISECONDS)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._ports: list[int] = self._said()

    def url(self, milliseconds: int) -> str:
        return f"http://127.0.0.1:{self._ports[self.MILLISECONDS.index(milliseconds)]}/hook"

    def count(self, milliseconds: int) -> int:
        """How many requests that one has got."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return int(self._said()[self.MILLISECONDS.index(milliseconds)])

    def _said(self) -> list[int]:
        assert self._process.stdout is not None
        said: list[int] = json.loads(self._process.stdout.readline())
        return said

    def stop(self) -> None:
        stop(self._process)


@dataclass
class Worker:
    """The parts of a worker, running."""

    parts: Sequence[subprocess.Popen[bytes]]

    def peak_mib(self) -> float:
        """The peak of the part that took most."""
        return max(_peak_mib(part.pid) for part in self.parts)


def run(scratch: Scratch) -> Iterator[Line]:
    """Throughput on each database, then how soon, what a slow receiver costs the others, and memory."""
    with ExitStack() as open_now:
        receivers = Receivers()
        open_now.callback(receivers.stop)
        for database in scratch.databases():
            yield from _throughput(database, scratch.installation(database), receivers)
        installation = scratch.installation()
        yield _soon(installation, receivers)
        yield from _behind_a_slow_one(installation, receivers)


def _throughput(database: str, installation: Installation, receivers: Receivers) -> Iterator[Line]:
    for milliseconds, aim in ((0, AIM_INSTANT), (100, AIM_SLOWER)):
        name = f"{database}, to {'an instant receiver' if not milliseconds else f'one of {milliseconds} ms'}"
        floor = COUNT / _bare(receivers.url(milliseconds))
        rate = COUNT / _delivered(name, installation, receivers, milliseconds)
        measured = f"{rate * 60:,.0f}/min ({rate:,.0f}/s)"
        yield Line(name, measured, f"bare POSTs {floor:,.0f}/s", rate / floor, f"{aim:,}/s", rate >= aim)


def _delivered(name: str, installation: Installation, receivers: Receivers, milliseconds: int) -> float:
    """The seconds from the transaction of the events to the last result on disk."""
    with installation.app.app_context(), _worker(installation):
        before = receivers.count(milliseconds)
        url = receivers.url(milliseconds)
        listening = [_subscribe(installation, url, "campaign.updated") for _ in range(SUBSCRIPTIONS)]
        began = time.perf_counter()
        _happen(installation, "campaign.updated", COUNT // SUBSCRIPTIONS)
        _wait(lambda: _accepted(listening) == COUNT, f"{name}: not all were delivered")
        took = time.perf_counter() - began
        _require_once(name, receivers.count(milliseconds) - before)
        _unsubscribe(installation, listening)
    return took


def _require_once(name: str, got: int) -> None:
    """A rate counts only where each was sent once."""
    if got != COUNT:
        raise LoadFailed(f"{name}: {got} requests for {COUNT} deliveries")


def _soon(installation: Installation, receivers: Receivers) -> Line:
    """Single changes, one after the other. The time begins with the row, a little before its commit."""
    with installation.app.app_context(), _worker(installation):
        listening = [_subscribe(installation, receivers.url(0), "campaign.updated")]
        for _ in range(CHANGES):
            _happen(installation, "campaign.updated", 1)
            time.sleep(0.05)
        _wait(lambda: _accepted(listening) == CHANGES, "not every change was delivered")
        waited = select(DeliveryAttempt.at - Delivery.created_at).join(
            Delivery, Delivery.id == DeliveryAttempt.delivery_id
        )
        times = sorted(db.session.scalars(waited.where(Delivery.subscription_id.in_(listening))))
        _unsubscribe(installation, listening)
    p95 = times[int(len(times) * 0.95)]
    measured = f"median {statistics.median(times):.0f} ms, p95 {p95} ms"
    return Line("Commit to first POST", measured, aim=f"p95 under {AIM_P95_MS:,} ms", reached=p95 < AIM_P95_MS)


def _behind_a_slow_one(installation: Installation, receivers: Receivers) -> Iterator[Line]:
    with installation.app.app_context(), _worker(installation) as worker:
        slow = _subscribe(installation, receivers.url(8_000), "file.deleted")
        fast = [_subscribe(installation, receivers.url(0), "campaign.updated") for _ in range(10)]
        _happen(installation, "file.deleted", SLOW)
        _wait(lambda: receivers.count(8_000) > 0, "the slow receiver was not reached")
        began = time.perf_counter()
        _happen(installation, "campaign.updated", FAST // len(fast))
        _wait(lambda: _accepted(fast) == FAST, "the fast ones were held back")
        took = time.perf_counter() - began
        peak = worker.peak_mib()
        _unsubscribe(installation, [slow, *fast])
    name = f"{FAST:,} fast ones behind {SLOW} to one of 8 s"
    yield Line(name, f"{took:.1f} s", aim=f"within {AIM_FAST_SECONDS:.0f} s", reached=took < AIM_FAST_SECONDS)
    yield Line("  the worker's memory", f"{peak:.0f} MiB", aim=f"under {AIM_MIB} MiB", reached=peak < AIM_MIB)


def _bare(url: str) -> float:
    """The seconds of as many POSTs without rows, on as many threads as one worker has."""
    given = {"url": url, "count": COUNT, "threads": THREADS, "payload": json.dumps({"number": 0}), "secret": SECRET}
    done = subprocess.run(
        [sys.executable, "-m", "bench.posting"],
        input=json.dumps(given),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise LoadFailed(done.stderr.strip().splitlines()[-1])
    return float(done.stdout)


@contextmanager
def _worker(installation: Installation) -> Iterator[Worker]:
    """The parts that `python worker.py` runs; what is measured begins once they stand."""
    environment = installation.environment | {"WEBHOOK_ALLOW_PRIVATE_HOSTS": "1"}
    with (installation.settings.instance_path / "parts.log").open("ab") as log:
        parts = [
            subprocess.Popen([sys.executable, "worker.py", part], cwd=ROOT, env=environment, stdout=log, stderr=log)
            for part in PARTS
        ]
    try:
        redis = Redis.from_url(installation.settings.redis_url)
        _wait(lambda: _takers(redis) >= PARTS.count("taker"), "the worker did not start")
        time.sleep(1.0)
        yield Worker(parts)
    finally:
        for part in parts:
            part.terminate()
        for part in parts:
            stop(part)


def _takers(redis: Redis) -> int:
    """How many wait for jobs; without a Valkey those are not waited for."""
    try:
        return sum("b" in client["flags"] for client in redis.client_list())
    except RedisError:
        return len(PARTS)


def _subscribe(installation: Installation, url: str, name: str) -> str:
    body = WebhookRegister.model_validate({"url": url, "events": [name], "secret": SECRET})
    with transaction():
        return subscription.register(installation.account_id, body, COMMAND_LINE).id


def _unsubscribe(installation: Installation, subscription_ids: Sequence[str]) -> None:
    """So that what comes next has the worker for itself."""
    for each in subscription_ids:
        with transaction():
            subscription.delete(subscription.get(installation.account_id, each, lock=True), COMMAND_LINE)


def _happen(installation: Installation, name: str, times: int) -> None:
    with transaction():
        event.record_many(installation.account_id, name, [{"number": number} for number in range(times)])


def _accepted(subscription_ids: Sequence[str]) -> int:
    query = select(func.count()).where(Delivery.subscription_id.in_(subscription_ids), Delivery.state == "accepted")
    db.session.rollback()
    return db.session.scalar(query) or 0


def _wait(question: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not question():
        if time.monotonic() > deadline:
            raise LoadFailed(otherwise)
        time.sleep(0.05)


def _peak_mib(pid: int) -> float:
    """From the kernel's own account; 0 where there is none."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0.0
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return int(lines["VmHWM"].split()[0]) / 1024
