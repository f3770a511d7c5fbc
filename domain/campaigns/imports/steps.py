"""The steps of an import that a person takes: conditional changes of state, so that a second press does nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import CursorResult, select, update

from core import clock, files, queue
from core.db import db, on_commit
from core.errors import NotFound
from core.files import Stored
from domain.campaigns.campaign import Campaign
from domain.events.audit import Actor

from . import chunks, columns
from .record import Import, State, as_acting

JOB = "jobs.imports.run"


def receive(campaign: Campaign, file_name: str, stored: Stored, layout: Any, by: Actor) -> Import:
    """A file that was sent, with a suggestion for its columns. `layout` is the reader's dataclass.

    Refuses a file without an e-mail column.
    """
    key = columns.header_key(layout.header)
    mapping = columns.suggest(layout.header, layout.sample, _remembered(campaign.account_id, key))
    received = Import(
        account_id=campaign.account_id,
        campaign_id=campaign.id,
        actor_kind=by.kind,
        actor_id=by.id,
        actor_label=by.label,
        file_name=file_name,
        stored_name=stored.name,
        size=stored.size,
        sha256=stored.sha256,
        layout=asdict(layout),
        header_key=key,
        mapping=mapping,
    )
    db.session.add(received)
    db.session.flush()
    return received


def choose_columns(import_: Import, mapping: Sequence[str], by: Actor) -> bool:
    """Confirm what the columns mean and start the check; False where the import has moved on meanwhile.

    Refuses a mapping that `columns.check` refuses.
    """
    columns.check(import_.header, mapping)
    begun = _begin(
        import_,
        ("uploaded", "checked"),
        "checking",
        by,
        mapping=list(mapping),
        is_mapping_confirmed=True,
        rows_total=0,
        counts={},
    )
    if begun:
        chunks.drop(import_.id)
    return begun


def apply(import_: Import, seen: int, by: Actor) -> bool:
    """Start the write of what the check of generation `seen` showed; False where it is not what stands there now."""
    return _begin(import_, ("checked",), "applying", by, import_.lease_generation == seen)


def undo(import_: Import, by: Actor) -> bool:
    """Start to take an applied import back; False where it has moved on meanwhile."""
    return _begin(import_, ("applied",), "undoing", by, undo_counts={})


def try_again(import_: Import, by: Actor) -> bool:
    """Go on with a step that gave up; False where the import has moved on meanwhile."""
    if import_.failed_in is None:
        return False
    begun = _change(import_, ("failed",), {**_woken(), "state": import_.failed_in, "failed_in": None, "error": None})
    if begun:
        on_commit(lambda: queue.nudge(JOB, import_.id))
    return begun


def discard(import_: Import) -> bool:
    """Drop a file that has not reached the roster; False where it has."""
    if import_.state == "failed" and import_.failed_in != "checking":
        return False
    gone = _change(import_, ("uploaded", "checked", "refused", "failed"), {"state": "discarded"})
    if gone:
        chunks.drop(import_.id)
        on_commit(lambda: files.remove(import_.stored_name))
    return gone


def get(campaign: Campaign, import_id: str) -> Import:
    """The import, or `NotFound` where the campaign has none of this id."""
    found = db.session.scalar(select(Import).where(Import.id == import_id, Import.campaign_id == campaign.id))
    if found is None:
        raise NotFound("import")
    return found


def _begin(
    import_: Import, sources: Sequence[State], target: State, by: Actor, is_allowed: bool = True, **values: Any
) -> bool:
    step = {"state": target, "rows_done": 0, "error": None, "acting": as_acting(by), **_woken(), **values}
    if not is_allowed or not _change(import_, sources, step):
        return False
    on_commit(lambda: queue.nudge(JOB, import_.id))
    return True


def _woken() -> dict[str, Any]:
    """A lease that has run out just now: a worker may take it at once, the sweep a little later."""
    now = clock.now_ms()
    return {"lease_until": now, "working_since": now, "failures": 0}


def _change(import_: Import, sources: Sequence[State], values: Mapping[str, Any]) -> bool:
    changed = db.session.execute(
        update(Import)
        .where(Import.id == import_.id, Import.state.in_(sources), Import.lease_generation == import_.lease_generation)
        .values(**values)
        .execution_options(synchronize_session=False)
    )
    db.session.expire(import_)
    assert isinstance(changed, CursorResult)
    return changed.rowcount == 1


def _remembered(account_id: str, key: str) -> list[str] | None:
    """The mapping that was last confirmed in this account for a file of the same columns."""
    return db.session.scalar(
        select(Import.mapping)
        .where(Import.account_id == account_id, Import.header_key == key, Import.is_mapping_confirmed.is_(True))
        .order_by(Import.id.desc())
        .limit(1)
    )
