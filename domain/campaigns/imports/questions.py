"""Reading imports: the history of a campaign, and the rows of one import page by page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from sqlalchemy import Select, func, select

from contract.paging import Paging
from core.db import db
from domain.campaigns.campaign import Campaign

from . import chunks
from .plan import PlannedRow
from .record import Import, ImportChunk

Show = Literal["all", "created", "updated", "unchanged", "refused", "noticed"]
SHOWS: tuple[Show, ...] = get_args(Show)


def history(campaign: Campaign) -> Select[Import]:
    """The imports of a campaign, the newest first."""
    return select(Import).where(Import.campaign_id == campaign.id).order_by(Import.id.desc())


def count(query: Select[Import]) -> int:
    """How many imports a selection holds."""
    return db.session.scalar(select(func.count()).select_from(query.order_by(None).subquery())) or 0


def page(import_: Import, show: Show, paging: Paging) -> tuple[list[PlannedRow], int]:
    """One page of rows of one kind, and how many there are of that kind. Unpacks only the chunks that it needs."""
    column = ImportChunk.rows if show == "all" else getattr(ImportChunk, show)
    sizes = db.session.execute(
        select(ImportChunk.number, column).where(ImportChunk.import_id == import_.id).order_by(ImportChunk.number)
    ).all()
    rows: list[PlannedRow] = []
    skipped = 0
    for number, size in sizes:
        if skipped + size > paging.offset and len(rows) < paging.limit:
            found = [row for row in _of_chunk(import_.id, number) if _is_shown(row, show)]
            first = max(0, paging.offset - skipped)
            rows.extend(found[first : first + paging.limit - len(rows)])
        skipped += size
    return rows, skipped


def all_rows(import_: Import) -> Iterator[PlannedRow]:
    """Every row in the order of the file, a chunk at a time."""
    for number in range(chunks.count(import_.id)):
        yield from _of_chunk(import_.id, number)


def _of_chunk(import_id: str, number: int) -> list[PlannedRow]:
    query = select(ImportChunk.payload).where(ImportChunk.import_id == import_id, ImportChunk.number == number)
    payload = db.session.scalar(query)
    return chunks.unpack(payload) if payload else []


def _is_shown(row: PlannedRow, show: Show) -> bool:
    if show == "all":
        return True
    return bool(row.notices) if show == "noticed" else row.outcome == show
