"""Opaque ids in TypeID form: a three-letter prefix, `_`, and a UUIDv7 in 26 characters (contract 1)."""

from __future__ import annotations

import re
import secrets
import threading

from core import clock

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
PATTERN = re.compile(r"[a-z]{3}_[0-7][0-9a-hjkmnp-tv-z]{25}")

_PAIRS = [high + low for high in ALPHABET for low in ALPHABET]
_lock = threading.Lock()
_last_ms = 0
_sequence = 0


def new_id(prefix: str, at: int | None = None) -> str:
    """A new id that sorts after every earlier one of this process; `at` is its creation in epoch ms."""
    ms, sequence = _tick(clock.now_ms() if at is None else at)
    tail = (sequence << 62) | secrets.randbits(62)
    value = (ms << 80) | (0x7 << 76) | ((tail >> 62 & 0xFFF) << 64) | (0b10 << 62) | (tail & (2**62 - 1))
    return f"{prefix}_{_base32(value)}"


def first_of(prefix: str, at: int) -> str:
    """The least id that something created at `at` (epoch ms) or later can have."""
    return f"{prefix}_{_base32(max(0, at) << 80)}"


def is_id(text: str, prefix: str) -> bool:
    """Whether `text` has the shape of an id with this prefix."""
    return text.startswith(prefix + "_") and PATTERN.fullmatch(text) is not None


def _tick(ms: int) -> tuple[int, int]:
    """The millisecond and the place within it; 4,096 places, then the next millisecond is borrowed."""
    global _last_ms, _sequence
    with _lock:
        if ms > _last_ms:
            _last_ms, _sequence = ms, 0
        else:
            _sequence += 1
            if _sequence > 0xFFF:
                _last_ms, _sequence = _last_ms + 1, 0
        return _last_ms, _sequence


def _base32(value: int) -> str:
    """128 bits as 26 characters, two at a time; written out, since an import makes two hundred thousand."""
    pairs, high, low = _PAIRS, value >> 60, value & (2**60 - 1)
    return (
        f"{pairs[high >> 60 & 1023]}{pairs[high >> 50 & 1023]}{pairs[high >> 40 & 1023]}{pairs[high >> 30 & 1023]}"
        f"{pairs[high >> 20 & 1023]}{pairs[high >> 10 & 1023]}{pairs[high & 1023]}"
        f"{pairs[low >> 50]}{pairs[low >> 40 & 1023]}{pairs[low >> 30 & 1023]}{pairs[low >> 20 & 1023]}"
        f"{pairs[low >> 10 & 1023]}{pairs[low & 1023]}"
    )
