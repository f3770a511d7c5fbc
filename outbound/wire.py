"""A socket with one wall-clock deadline over everything done with it, and a limit on what may be read.

A socket's own timeout starts anew with each read, so a receiver that drips outlives it; here each operation gets
what is left of the whole.
"""

from __future__ import annotations

import io
import socket
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

HEADER_LIMIT = 64 * 1024
BODY_LIMIT = 64 * 1024


class HeadersTooLarge(Exception):
    """More than `HEADER_LIMIT` bytes came and the headers had not ended."""


class CutInHeaders(Exception):
    """The peer closed before its headers ended."""


class Deadline:
    """A moment in the monotonic time that no change of the clock moves."""

    def __init__(self, seconds: float) -> None:
        self._start = time.monotonic()
        self._end = self._start + seconds

    def left(self) -> float:
        """Seconds left, above zero. Raises TimeoutError when there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def milliseconds(self) -> int:
        """How long it has taken so far."""
        return round((time.monotonic() - self._start) * 1000)


class Wire(io.RawIOBase):
    """A connected socket, in the shape that `http.client` reads from.

    While the headers are read an end of the stream is an error: `http.client` alone takes headers that were cut
    for headers that ended, and so a half answer for an acceptance.
    """

    def __init__(self, connected: socket.socket, deadline: Deadline) -> None:
        self._socket = connected
        self._deadline = deadline
        self._in_headers = True
        self._allowed = HEADER_LIMIT
        self._reader = io.BufferedReader(self)

    def sendall(self, data: bytes | bytearray) -> None:
        """All of it inside the deadline; a TLS socket's own `sendall` would start its timeout anew at each part."""
        rest = memoryview(data)
        while rest:
            self._socket.settimeout(self._deadline.left())
            rest = rest[self._socket.send(rest) :]

    def makefile(self, _mode: str) -> io.BufferedReader[Wire]:
        """The one reader: what it holds in advance is not lost between two answers of one connection."""
        return self._reader

    def body_begins(self) -> None:
        """From here on the stream may end, and ends by itself after `BODY_LIMIT` bytes, chunk sizes and all."""
        self._in_headers = False
        self._allowed = BODY_LIMIT

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        room = memoryview(buffer)[: self._allowed]
        if not room:
            return self._out_of_room()
        self._socket.settimeout(self._deadline.left())
        count = self._socket.recv_into(room)
        if count == 0 and self._in_headers:
            raise CutInHeaders
        self._allowed -= count
        return count

    def _out_of_room(self) -> int:
        if self._in_headers:
            raise HeadersTooLarge
        return 0
