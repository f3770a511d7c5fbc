"""Whether this process was told to stop: long work looks here between its steps."""

from __future__ import annotations

import threading

_asked = threading.Event()


def ask() -> None:
    """Tell everything in this process to come to an end."""
    _asked.set()


def is_asked() -> bool:
    return _asked.is_set()
