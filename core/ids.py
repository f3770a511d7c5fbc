"""Opaque ids in TypeID form: a three-letter prefix, `_`, and a UUIDv7 in 26 characters (contract 1)."""

from __future__ import annotations

import os
import re
import struct
import threading
from functools import lru_cache

from sqlalchemy import ColumnElement
from sqlalchemy.orm import InstrumentedAttribute as Instrumented

from core import clock

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
PATTERN = re.compile(r"[a-z]{3}_[0-7][0-9a-hjkmnp-tv-z]{25}")

# By the milliseconds that a burst borrows, or by as much as a clock was set back: so far, and no further.
_MAY_RUN_AHEAD_MS = clock.DAY_MS

_PAIRS = [high + low for high in ALPHABET for low in ALPHABET]
_lock = threading.Lock()
# The place of the last id: 48 bits of epoch ms, and 12 bits that count within one.
_last = 0


def new_id(prefix: str, at: int | None = None) -> str:
    """A new id that sorts after every earlier one of this process; `at` is its creation in epoch ms."""
    return new_ids(prefix, 1, at)[0]


def new_ids(prefix: str, count: int, at: int | None = None) -> list[str]:
    """So many new ids at once, each after the one before; a third of the cost of asking for them one by one."""
    first = _take_places(clock.now_ms() if at is None else at, count)
    chance = struct.unpack(f"{count}Q", os.urandom(8 * count))
    return [f"{prefix}_{_front(place >> 12)}{_back(place, bits)}" for place, bits in enumerate(chance, start=first)]


def first_of(prefix: str, at: int) -> str:
    """The least id that something created at `at` (epoch ms) or later can have."""
    return f"{prefix}_{_front(max(0, at))}{'0' * 16}"


def beyond(prefix: str, at: int) -> str:
    """An id after that of everything created at `at` (epoch ms) or before, whose id may be later than its time."""
    return first_of(prefix, at + _MAY_RUN_AHEAD_MS)


def made_between(
    prefix: str, id_: Instrumented[str], at: Instrumented[int], since: int | None, until: int | None
) -> list[ColumnElement[bool]]:
    """The conditions of rows whose column `at` is from `since` to `until` (epoch ms, both inclusive; None leaves it
    open), and with which their ids were made. These sort by time, so it is a range of every index of ids too.
    """
    conditions: list[ColumnElement[bool]] = []
    if since is not None:
        conditions += [at >= since, id_ >= first_of(prefix, since)]
    if until is not None:
        conditions += [at <= until, id_ < beyond(prefix, until)]
    return conditions


def is_id(text: str, prefix: str) -> bool:
    """Whether `text` has the shape of an id with this prefix."""
    return text.startswith(prefix + "_") and PATTERN.fullmatch(text) is not None


def _take_places(ms: int, count: int) -> int:
    """The first of so many places in a row; after 4,096 places the next millisecond is borrowed.

    Where the clock was set back by more than ids may run ahead, they begin anew at its time.
    """
    global _last
    with _lock:
        is_near = _last >> 12 <= ms + _MAY_RUN_AHEAD_MS
        first = max(_last + 1, ms << 12) if is_near else ms << 12
        _last = first + count - 1
        return first


@lru_cache(maxsize=4)
def _front(ms: int) -> str:
    """The 48 bits of a time as 10 characters."""
    return "".join(_PAIRS[ms >> shift & 1023] for shift in (40, 30, 20, 10, 0))


def _back(place: int, chance: int) -> str:
    """The other 80 bits as 16 characters, two at a time: version 7, the count, the variant, 62 bits of chance."""
    pairs, high = _PAIRS, 0x70008 | (place & 0xFFF) << 4 | chance >> 60 & 3
    return (
        f"{pairs[high >> 10]}{pairs[high & 1023]}{pairs[chance >> 50 & 1023]}{pairs[chance >> 40 & 1023]}"
        f"{pairs[chance >> 30 & 1023]}{pairs[chance >> 20 & 1023]}{pairs[chance >> 10 & 1023]}{pairs[chance & 1023]}"
    )
