"""The worker's half of an import: who holds it, and each chunk with its rows, its state and the progress in one write.

A claim carries a generation. Every write names it, so that a holder whose lease ran out changes nothing any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import CursorResult, select, update

from contract.participants import ParticipantUpsert
from core import clock, files
from core.db import db, on_commit
from domain.campaigns import campaign as campaigns
from domain.events import audit

from . import applying, chunks, undoing
from .plan import PlannedRow, tally
from .record import WORKING, Import, ImportChunk, actor_of

LEASE_MS = 30_000
# How long the sweep leaves a fresh step to the worker that was woken for it.
GRACE_MS = 4_000
MOST_FAILURES = 3


class LeaseLost(Exception):
    """Somebody else holds the import now, or it is gone: whatever was about to be written is not."""


@dataclass(frozen=True)
class Claim:
    """An import in the hands of one worker. `done` rows were finished by an earlier holder of this step."""

    import_id: str
    account_id: str
    campaign_id: str
    state: str
    generation: int
    done: int
    stored_name: str
    layout: dict[str, Any]
    mapping: list[str]


def claim(import_id: str) -> Claim | None:
    """Take an import that has work and that nobody holds; None for any other."""
    now = clock.now_ms()
    taken = db.session.execute(
        update(Import)
        .where(Import.id == import_id, Import.state.in_(WORKING), Import.lease_until <= now)
        .values(lease_until=now + LEASE_MS, lease_generation=Import.lease_generation + 1)
        .execution_options(synchronize_session=False)
    )
    assert isinstance(taken, CursorResult)
    found = db.session.get(Import, import_id, populate_existing=True) if taken.rowcount == 1 else None
    if found is None:
        return None
    return Claim(
        found.id,
        found.account_id,
        found.campaign_id,
        found.state,
        found.lease_generation,
        found.rows_done,
        found.stored_name,
        found.layout,
        found.mapping,
    )


def left_behind() -> list[str]:
    """Imports whose step nobody works on: the wake-up was lost, or the worker died."""
    limit = clock.now_ms() - GRACE_MS
    query = select(Import.id).where(Import.state.in_(WORKING), Import.lease_until < limit)
    return list(db.session.scalars(query.order_by(Import.lease_until)))


def hold(holder: Claim, **values: Any) -> None:
    """Extend the lease and write `values`; raises `LeaseLost` for a late holder."""
    held = db.session.execute(
        update(Import)
        .where(
            Import.id == holder.import_id,
            Import.lease_generation == holder.generation,
            Import.state == holder.state,
        )
        .values(**{"lease_until": clock.now_ms() + LEASE_MS, "failures": 0, **values})
        .execution_options(synchronize_session=False)
    )
    assert isinstance(held, CursorResult)
    if held.rowcount != 1:
        raise LeaseLost


def keep_plan(holder: Claim, number: int, rows: Sequence[PlannedRow]) -> None:
    """Write one chunk of the check."""
    hold(holder, rows_done=Import.rows_done + len(rows))
    chunks.add(holder.import_id, number, rows)


def finish_check(holder: Claim) -> None:
    """The dry run stands."""
    hold(holder, state="checked", counts=chunks.sums(holder.import_id), lease_until=0)


def refuse(holder: Claim, code: str, params: dict[str, Any]) -> None:
    """The file turned out to be unreadable while it was read."""
    hold(holder, state="refused", error={"code": code, "params": params}, lease_until=0)
    chunks.drop(holder.import_id)


def apply_chunk(
    holder: Claim, chunk: ImportChunk, rows: Sequence[PlannedRow], asked: Sequence[ParticipantUpsert]
) -> None:
    """Write one chunk's people to the roster (`asked`: their bodies), and what became of them."""
    hold(holder, rows_done=Import.rows_done + chunk.rows)
    campaign = campaigns.get(holder.account_id, holder.campaign_id)
    began = clock.now_ms()
    told = applying.apply(campaign, rows, asked)
    values: dict[str, Any] = {"state": "applied", "applied_from": began, "applied_until": clock.now_ms()}
    if any(after is not before for before, after in zip(rows, told, strict=True)):
        values |= {"payload": chunks.pack(told), **tally(told)}
    chunks.change(holder.import_id, chunk.number, **values)


def finish_apply(holder: Claim) -> None:
    """Every row has reached the roster; the file itself is not needed any more."""
    counts = chunks.sums(holder.import_id)
    hold(holder, state="applied", counts=counts, applied_at=clock.now_ms(), lease_until=0)
    _log(holder, "import.applied", {name: counts[name] for name in ("created", "updated", "unchanged", "refused")})
    on_commit(lambda: files.remove(holder.stored_name))


def undo_chunk(holder: Claim, chunk: ImportChunk, rows: Sequence[PlannedRow]) -> None:
    """Take one chunk back, and note what somebody has changed since."""
    assert chunk.applied_from is not None and chunk.applied_until is not None
    hold(holder, rows_done=Import.rows_done + chunk.rows)
    campaign = campaigns.get(holder.account_id, holder.campaign_id)
    undone = undoing.undo(campaign, rows, (chunk.applied_from, chunk.applied_until))
    values: dict[str, Any] = {"state": "undone"}
    if undone.counts["kept"]:
        values |= {"payload": chunks.pack(undone.rows), "noticed": tally(undone.rows)["noticed"]}
    chunks.change(holder.import_id, chunk.number, **values)
    _add_undo_counts(holder.import_id, undone.counts)


def finish_undo(holder: Claim) -> None:
    """The import is taken back, as far as nobody has built on it."""
    hold(holder, state="undone", counts=chunks.sums(holder.import_id), undone_at=clock.now_ms(), lease_until=0)
    counts = db.session.scalar(select(Import.undo_counts).where(Import.id == holder.import_id)) or {}
    _log(holder, "import.undone", counts)


def stumble(holder: Claim, code: str) -> None:
    """A step broke off. It is tried again soon; after three times without progress it gives up and says so."""
    failures = db.session.scalar(select(Import.failures).where(Import.id == holder.import_id)) or 0
    if failures + 1 < MOST_FAILURES:
        hold(holder, failures=failures + 1, lease_until=clock.now_ms())
    else:
        error = {"code": code, "params": {}}
        hold(holder, state="failed", failed_in=holder.state, error=error, failures=failures + 1, lease_until=0)


def _add_undo_counts(import_id: str, more: dict[str, int]) -> None:
    before = db.session.scalar(select(Import.undo_counts).where(Import.id == import_id)) or {}
    counts = {name: before.get(name, 0) + count for name, count in more.items()}
    db.session.execute(
        update(Import)
        .where(Import.id == import_id)
        .values(undo_counts=counts)
        .execution_options(synchronize_session=False)
    )


def _log(holder: Claim, action: str, counts: dict[str, int]) -> None:
    file_name, acting = db.session.execute(
        select(Import.file_name, Import.acting).where(Import.id == holder.import_id)
    ).one()
    assert acting is not None
    changes = {name: [None, count] for name, count in counts.items()}
    audit.record(holder.account_id, actor_of(acting), action, holder.import_id, file_name, changes)
