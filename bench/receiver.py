"""Receivers of the bench, in a process of their own: one port for each way to answer, many connections at once.

`python bench/receiver.py 0 100 8000` listens on one port for each of these milliseconds and prints the ports; for
each line on its standard input it prints how many requests have come to each. It imports nothing of the product, so
that it starts at once and takes little of the other core.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from dataclasses import dataclass
from functools import partial

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


@dataclass
class Seen:
    """What one port has seen."""

    count: int = 0


class Hook(asyncio.Protocol):
    """One connection: reads a request, waits, answers, closes."""

    def __init__(self, seen: Seen, seconds: float) -> None:
        self._seen = seen
        self._seconds = seconds
        self._got = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._got += data
        end = self._got.find(b"\r\n\r\n")
        found = _LENGTH.search(self._got, 0, end + 2) if end >= 0 else None
        if found is None or len(self._got) < end + 4 + int(found[1]):
            return
        self._seen.count += 1
        if self._seconds:
            asyncio.get_running_loop().call_later(self._seconds, self._answer)
        else:
            self._answer()

    def _answer(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(ANSWER)
            self._transport.close()


async def serve(milliseconds: list[int]) -> None:
    loop = asyncio.get_running_loop()
    seen = [Seen() for _ in milliseconds]
    servers = [
        await loop.create_server(partial(Hook, each, ms / 1000), "127.0.0.1", 0, backlog=1024)
        for each, ms in zip(seen, milliseconds, strict=True)
    ]
    _say([server.sockets[0].getsockname()[1] for server in servers])
    while await loop.run_in_executor(None, sys.stdin.readline):
        _say([each.count for each in seen])


def _say(what: object) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    asyncio.run(serve([int(word) for word in sys.argv[1:]]))
