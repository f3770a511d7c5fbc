"""Imports in the background: read a file and plan it, write the plan to the roster, take it back.

Each step goes chunk by chunk, each chunk in one transaction, so that a kill costs at most the chunk under way.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

import structlog
from flask import current_app
from sqlalchemy.exc import DBAPIError

from core import files
from core.db import db, storage_trouble, transaction
from domain.campaigns import roster
from domain.campaigns.imports import ROWS_IN_A_CHUNK, LastRows, RowReader, applying, chunks, plan, work
from domain.campaigns.imports.rows import ReadRow
from domain.campaigns.imports.work import Claim, LeaseLost
from outbound import spreadsheets
from outbound.spreadsheets import Layout, SheetRow, SpreadsheetRefused, strip_formula_guard

# The first pass writes nothing; after this many chunks it says how far it is, and keeps its lease.
CHUNKS_BETWEEN_SIGNS = 20
# Cycles are looked for after this many chunks; between, what is not needed any more goes by itself.
CHUNKS_BETWEEN_COLLECTIONS = 10

log = structlog.get_logger(__name__)
_sweeping = threading.Lock()


def run(import_id: str) -> bool:
    """Work on one import until its step is done; False where it has no work, or somebody else holds it."""
    with transaction():
        holder = work.claim(import_id)
    if holder is None:
        return False
    try:
        with _rare_collections():
            STEPS[holder.state](holder)
    except LeaseLost:
        log.info("import_lease_lost", import_id=import_id, generation=holder.generation)
    except Exception as error:  # whatever broke, the row must say so, or it would be tried for ever
        log.exception("import_stumbled", import_id=import_id, state=holder.state)
        _stumble(holder, error)
    finally:
        db.session.remove()
    return True


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Keep Python from looking for cycles in the whole application again and again, a third of an import's time.

    A chunk makes some hundred thousand short-lived objects, which is what sets it off. `_collect` looks among the new.
    """
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def _collect(chunk: int) -> None:
    if chunk % CHUNKS_BETWEEN_COLLECTIONS == 0:
        gc.collect()


def sweep() -> int:
    """Run what nobody is working on, in this process and without Redis; returns how many imports that were."""
    found = work.left_behind()
    db.session.rollback()
    return sum(run(import_id) for import_id in found)


def sweep_aside() -> None:
    """`sweep` on a thread of its own: an import of minutes must not hold up the other sweeps of the loop."""
    if _sweeping.locked() or not work.left_behind():
        return
    app = current_app._get_current_object()  # type: ignore[attr-defined]  # a proxy

    def aside() -> None:
        with _sweeping, app.app_context():
            try:
                sweep()
            except Exception:  # the database is away: the next sweep looks again
                log.exception("import_sweep_failed")

    threading.Thread(target=aside, name="import sweep", daemon=True).start()


def check(holder: Claim) -> None:
    """Read the file twice: who stands in it again later, then what each row would do. Ends in the dry run."""
    path, layout = files.path_of(holder.stored_name), Layout(**holder.layout)
    reader = RowReader(layout.header, holder.mapping)
    try:
        last = _last_rows(holder, reader, _unguarded(spreadsheets.rows(path, layout)))
        source = islice(_unguarded(spreadsheets.rows(path, layout)), holder.done, None)
        for number, rows in enumerate(_batches(source), start=_chunks_of(holder)):
            read = [reader.read(row, last) for row in rows]
            planned = plan(read, _stored(holder, read))
            with transaction():
                work.keep_plan(holder, number, planned)
            _collect(number)
    except (SpreadsheetRefused, FileNotFoundError) as refused:
        code, params = ("FILE_GONE", {}) if isinstance(refused, OSError) else (refused.code, refused.params)
        with transaction():
            work.refuse(holder, code, params)
        return
    with transaction():
        work.finish_check(holder)


def apply(holder: Claim) -> None:
    """Write the planned chunks to the roster, one transaction each."""
    while (chunk := chunks.next_in(holder.import_id, "planned")) is not None:
        rows = chunks.unpack(chunk.payload)
        asked = applying.bodies(rows)
        with transaction():
            work.apply_chunk(holder, chunk, rows, asked)
        _collect(chunk.number)
    with transaction():
        work.finish_apply(holder)


def undo(holder: Claim) -> None:
    """Take the applied chunks back, one transaction each."""
    while (chunk := chunks.next_in(holder.import_id, "applied")) is not None:
        rows = chunks.unpack(chunk.payload)
        with transaction():
            work.undo_chunk(holder, chunk, rows)
        _collect(chunk.number)
    with transaction():
        work.finish_undo(holder)


STEPS: dict[str, Callable[[Claim], None]] = {"checking": check, "applying": apply, "undoing": undo}


def _last_rows(holder: Claim, reader: RowReader, source: Iterator[SheetRow]) -> LastRows:
    """The first pass, with a sign of life now and then."""
    last, count = LastRows(), 0
    for number, rows in enumerate(_batches(source), start=1):
        reader.note(rows, last)
        count += len(rows)
        if number % CHUNKS_BETWEEN_SIGNS == 0:
            _show_total(holder, count)
    _show_total(holder, count)
    return last


def _show_total(holder: Claim, count: int) -> None:
    with transaction():
        work.hold(holder, rows_total=count)


def _batches(source: Iterator[SheetRow]) -> Iterator[list[SheetRow]]:
    while rows := list(islice(source, ROWS_IN_A_CHUNK)):
        yield rows


def _unguarded(source: Iterable[SheetRow]) -> Iterator[SheetRow]:
    """The rows without the `'` that a report of ours put before formulas."""
    for row in source:
        if "'" in "".join(row.cells):
            yield row._replace(cells=[strip_formula_guard(cell) for cell in row.cells])
        else:
            yield row


def _stored(holder: Claim, rows: list[ReadRow]) -> dict[str, dict[str, object]]:
    found = roster.stored(holder.campaign_id, [row.body.email for row in rows if row.body is not None])
    db.session.rollback()
    return found


def _chunks_of(holder: Claim) -> int:
    """Chunks that an earlier holder of this check has written; they are kept."""
    found = chunks.count(holder.import_id)
    db.session.rollback()
    return found


def _stumble(holder: Claim, error: Exception) -> None:
    trouble = storage_trouble(error) if isinstance(error, DBAPIError) else None
    try:
        with transaction():
            work.stumble(holder, trouble or "INTERNAL")
    except LeaseLost:
        log.info("import_lease_lost", import_id=holder.import_id, generation=holder.generation)
