"""The load generator, in a process of its own: a few keep-alive connections that each wait for their answer.

`run` starts it with rounds as JSON on its standard input; it prints what came of them as JSON. It imports nothing of
the product, so that it starts at once and takes as little as it can from the server on the other core.
"""

from __future__ import annotations

import json
import re
import selectors
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"
ANSWER_SECONDS = 10.0
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class LoadFailed(Exception):
    """The server closed a connection or did not answer; no figure can be had."""


@dataclass(frozen=True)
class Round:
    """Requests to one server, taken in turn and again from the first where `repeats`, until `count` or `seconds`.

    What is answered within the first `warm_seconds` is not counted.
    """

    name: str
    port: int
    requests: Sequence[str]
    clients: int = 8
    count: int = 100_000
    seconds: float = 1.0
    warm_seconds: float = 0.0
    repeats: bool = True


@dataclass(frozen=True)
class Outcome:
    """What came of a round: answers a second, milliseconds of one answer, how many there were of each status."""

    name: str
    rate: float
    median_ms: float
    p95_ms: float
    statuses: Mapping[str, int]

    def expect(self, *statuses: int) -> Outcome:
        """Itself; raises `LoadFailed` where an answer has another status, since its time says nothing then."""
        others = {status for status in self.statuses if int(status) not in statuses}
        if others or not self.statuses:
            raise LoadFailed(f"{self.name}: answers {dict(self.statuses)}, expected {statuses}")
        return self


def get(path: str, headers: Mapping[str, str]) -> str:
    """A GET request as it goes over the wire."""
    return _request("GET", path, headers, "")


def post(path: str, body: Any, headers: Mapping[str, str]) -> str:
    """A POST request of JSON."""
    return _request("POST", path, {**headers, "Content-Type": "application/json"}, json.dumps(body))


def run(rounds: Sequence[Round]) -> list[Outcome]:
    """Run the rounds one after the other in a process of their own."""
    limit = sum(each.seconds for each in rounds) + ANSWER_SECONDS * 2
    done = subprocess.run(
        [sys.executable, str(Path(__file__))],
        input=json.dumps([asdict(each) for each in rounds]),
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
    )
    if done.returncode != 0:
        raise LoadFailed(done.stderr.strip().splitlines()[-1])
    return [Outcome(**each) for each in json.loads(done.stdout)]


def first_answer(port: int, request: str) -> bytes:
    """The body of one answer."""
    connection = _Connection(port)
    connection.send(request.encode())
    while (answer := connection.receive()) is None:
        pass
    connection.socket.close()
    return answer[1]


def _request(method: str, path: str, headers: Mapping[str, str], body: str) -> str:
    length = {"Content-Length": str(len(body))} if body else {}
    lines = [f"{name}: {value}" for name, value in {"Host": HOST, **headers, **length}.items()]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", body])


class _Connection:
    """One client: sends a request, and gathers the bytes of its answer."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection((HOST, port), timeout=ANSWER_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent_at = 0.0
        self._got = bytearray()
        self._whole = 0

    def send(self, request: bytes) -> None:
        self.sent_at = time.perf_counter()
        self.socket.sendall(request)

    def receive(self) -> tuple[int, bytes] | None:
        """Status and body once the answer is whole."""
        piece = self.socket.recv(1 << 18)
        if not piece:
            raise LoadFailed("the server closed a connection")
        self._got += piece
        if not self._whole:
            self._whole = self._length()
        if not self._whole or len(self._got) < self._whole:
            return None
        status, body = int(self._got[9:12]), bytes(self._got[self._got.find(b"\r\n\r\n") + 4 :])
        self._got.clear()
        self._whole = 0
        return status, body

    def _length(self) -> int:
        end = self._got.find(b"\r\n\r\n")
        found = _LENGTH.search(self._got, 0, end + 2) if end >= 0 else None
        if end >= 0 and found is None:
            raise LoadFailed("an answer without Content-Length")
        return end + 4 + int(found[1]) if found else 0


@dataclass
class _Measured:
    """A round under way."""

    requests: list[bytes]
    repeats: bool
    sent: int = 0
    milliseconds: list[float] = field(default_factory=list)
    statuses: dict[str, int] = field(default_factory=dict)

    def next(self) -> bytes | None:
        """The next request; None where all are sent."""
        if not self.repeats and self.sent >= len(self.requests):
            return None
        self.sent += 1
        return self.requests[(self.sent - 1) % len(self.requests)]


def _measure(given: Round) -> Outcome:
    measured = _Measured([text.encode() for text in given.requests], given.repeats)
    with selectors.DefaultSelector() as selector:
        for _ in range(given.clients):
            connection = _Connection(given.port)
            selector.register(connection.socket, selectors.EVENT_READ, connection)
        if given.warm_seconds:
            _drive(selector, measured, given.count, given.warm_seconds)
            measured.milliseconds.clear()
        began = time.perf_counter()
        _drive(selector, measured, given.count, given.seconds)
        elapsed = time.perf_counter() - began
        for key in list(selector.get_map().values()):
            key.data.socket.close()
    times = sorted(measured.milliseconds)
    if not times:
        raise LoadFailed(f"{given.name}: no answer in time")
    p95 = times[int(len(times) * 0.95)]
    return Outcome(given.name, len(times) / elapsed, statistics.median(times), p95, measured.statuses)


def _drive(selector: selectors.BaseSelector, measured: _Measured, count: int, seconds: float) -> None:
    """Keep every connection busy until the count or the time is reached, then wait for what is under way."""
    until = time.perf_counter() + seconds
    first, waiting = measured.sent, 0
    for key in list(selector.get_map().values()):
        waiting += _send(key.data, measured)
    while waiting:
        ready = selector.select(ANSWER_SECONDS)
        if not ready:
            raise LoadFailed(f"no answer within {ANSWER_SECONDS:.0f} s")
        for key, _ in ready:
            answer = key.data.receive()
            if answer is None:
                continue
            waiting -= 1
            now = time.perf_counter()
            measured.milliseconds.append((now - key.data.sent_at) * 1000)
            status = str(answer[0])
            measured.statuses[status] = measured.statuses.get(status, 0) + 1
            if now < until and measured.sent - first < count:
                waiting += _send(key.data, measured)


def _send(connection: _Connection, measured: _Measured) -> int:
    request = measured.next()
    if request is None:
        return 0
    connection.send(request)
    return 1


def main() -> int:
    try:
        outcomes = [_measure(Round(**each)) for each in json.load(sys.stdin)]
    except (LoadFailed, OSError) as reason:
        sys.stderr.write(f"{reason}\n")
        return 1
    json.dump([asdict(each) for each in outcomes], sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
