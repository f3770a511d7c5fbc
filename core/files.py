"""Files that people send, kept below the installation's files folder under names of our own."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from flask import current_app

from core.ids import new_id

PIECE = 1 << 20


@dataclass(frozen=True)
class Stored:
    """A kept file: our name for it, its size in bytes, and the SHA-256 of its content in hex."""

    name: str
    size: int
    sha256: str


def store(source: IO[bytes]) -> Stored:
    """Keep what `source` holds, a piece at a time; it is on disk when this returns. A half-written file is dropped."""
    name = new_id("fil")
    folder().mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    size = 0
    try:
        with path_of(name).open("xb") as target:
            while piece := source.read(PIECE):
                target.write(piece)
                digest.update(piece)
                size += len(piece)
            target.flush()
            os.fsync(target.fileno())
    except BaseException:
        remove(name)
        raise
    return Stored(name, size, digest.hexdigest())


def path_of(name: str) -> Path:
    """Where the file of this name (one that `store` gave) is kept."""
    return folder() / name


def remove(name: str) -> None:
    """Drop a kept file; one that is gone already is no trouble."""
    with suppress(FileNotFoundError):
        path_of(name).unlink()


def folder() -> Path:
    """The current installation's files folder."""
    kept: Path = current_app.config["SETTINGS"].files_path
    return kept
