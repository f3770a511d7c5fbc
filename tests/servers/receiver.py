"""A receiver of webhooks on loopback that keeps what it got and answers as it is told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Got:
    """One request: the exact body, its headers by lower-case name, and when it came (epoch seconds)."""

    path: str
    body: bytes
    headers: dict[str, str]
    at: float

    @property
    def json(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed


class Receiver:
    """`answer` decides the status of each request; `seconds` is how long it takes before, `location` a redirect's."""

    def __init__(self, port: int = 0) -> None:
        self.got: list[Got] = []
        self.seconds = 0.0
        self.location = ""
        self.most_at_once = 0
        self.answer: Callable[[Got], int] = lambda got: 200
        self._now = 0
        self._lock = threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver._take(self)

            def log_message(self, *arguments: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 256
            daemon_threads = True

            def handle_error(self, *arguments: object) -> None:
                pass

        self.server = Server(("127.0.0.1", port), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/hook"

    @property
    def ids(self) -> list[str]:
        return [got.json["id"] for got in self.got]

    def _take(self, request: BaseHTTPRequestHandler) -> None:
        length = int(request.headers.get("Content-Length") or 0)
        headers = {name.lower(): value for name, value in request.headers.items()}
        got = Got(request.path, request.rfile.read(length), headers, time.time())
        with self._lock:
            self.got.append(got)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            if self.seconds:
                time.sleep(self.seconds)
            status = self.answer(got)
        finally:
            with self._lock:  # before the answer: whoever has it may send the next at once
                self._now -= 1
        request.send_response(status)
        request.send_header("Content-Length", "2")
        if self.location:
            request.send_header("Location", self.location)
        request.end_headers()
        request.wfile.write(b"ok")


@contextmanager
def receiver(port: int = 0) -> Iterator[Receiver]:
    """Start a receiver, on a free port unless one is named; stop it at the end."""
    made = Receiver(port)
    threading.Thread(target=made.server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield made
    finally:
        made.server.shutdown()
        made.server.server_close()
