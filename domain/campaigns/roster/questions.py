"""Finding people on a roster: by id, by filter, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from sqlalchemy import ColumnElement, Select, Subquery, Table, Text, bindparam, func, select, type_coerce

import contract.participants as public
from contract.paging import Paging
from core.db import db
from core.errors import NotFound
from core.json_text import from_texts
from domain.campaigns.campaign import Rostered

from .participant import PUBLIC_COLUMNS, Participant, folded, project

Sort = Literal["created", "name", "email", "status", "language", "updated"]

# Lists for other systems read columns, not objects: building fifty objects costs more than reading fifty rows.
_TABLE = cast(Table, Participant.__table__)
_PUBLIC = [
    *(_TABLE.c[name] for name in PUBLIC_COLUMNS if name not in ("labels", "bag")),
    type_coerce(_TABLE.c.labels, Text),
    type_coerce(_TABLE.c.metadata, Text),
]

# Each order ends in the id, so that pages never overlap. Who states no language comes first: PostgreSQL would put
# nulls last, SQLite first.
_ORDERS: dict[Sort, tuple[Any, ...]] = {
    "created": (Participant.id,),
    "name": (Participant.name_key, Participant.id),
    "email": (Participant.email, Participant.id),
    "status": (Participant.status, Participant.id),
    "language": (func.coalesce(Participant.language, ""), Participant.id),
    "updated": (Participant.updated_at, Participant.id),
}


@dataclass(frozen=True)
class Filters:
    """What to look for; unset means all. `language` `none` asks for unset, `updated_since` is epoch ms, inclusive."""

    status: str | None = None
    email: str | None = None
    language: str | None = None
    updated_since: int | None = None
    search: str = ""
    organisation_id: str | None = None

    @property
    def is_empty(self) -> bool:
        return self == Filters()


def get(campaign: Rostered, participant_id: str) -> Participant:
    """The participant, or `NotFound` where none of this campaign has the id."""
    query = select(Participant).where(Participant.id == participant_id, Participant.campaign_id == campaign.id)
    found = db.session.scalar(query)
    if found is None:
        raise NotFound("participant")
    return found


def count(campaign: Rostered, filters: Filters) -> int:
    """The exact number of people that `filters` select; free for all of them."""
    if filters.is_empty:
        return campaign.roster_size
    return db.session.scalar(select(func.count()).select_from(selection(campaign, filters).subquery())) or 0


def page(
    campaign: Rostered,
    filters: Filters,
    paging: Paging,
    total: int,
    *,
    sort: Sort = "created",
    descending: bool = False,
) -> list[Participant]:
    """One page of people, for a screen."""
    inner = _ids_of_page(campaign, filters, paging, total, sort, descending)
    if inner is None:
        return []
    query = select(Participant).join(inner, inner.c.id == Participant.id)
    return list(db.session.scalars(query.order_by(*_order(sort, descending))))


def public_page(campaign: Rostered, filters: Filters, paging: Paging, total: int) -> list[public.Participant]:
    """One page in the order of creation, as the API shows it.

    The ids of the page come from the index alone, and from its nearer end, so that the last page costs what the
    first does; then only the rows of the page are read.
    """
    skipped, wanted, backwards = _window(paging, total)
    if wanted <= 0:
        return []
    known = {"of_campaign": campaign.id, "wanted": wanted, "skipped": skipped}
    query = _PAGE[backwards] if filters.is_empty else _page_statement(_conditions(campaign, filters), backwards)
    rows = db.session.connection().execute(query, known).all()
    values = from_texts([text for row in rows for text in row[-2:]])
    return [
        project(*tuple(row)[:-2], labels, bag)  # type: ignore[call-arg]  # a slice has no length of its own
        for row, labels, bag in zip(rows, values[::2], values[1::2], strict=True)
    ]


def _page_statement(conditions: Sequence[ColumnElement[bool]], backwards: bool) -> Select[Any]:
    """The rows of one page; `labels` and `metadata` come as text, to be read all at once."""
    order = _TABLE.c.id.desc() if backwards else _TABLE.c.id.asc()
    ids = select(_TABLE.c.id).where(*conditions).order_by(order)
    inner = ids.limit(bindparam("wanted")).offset(bindparam("skipped")).subquery()
    return select(*_PUBLIC).join(inner, inner.c.id == _TABLE.c.id).order_by(_TABLE.c.id)


# The unfiltered pages, forwards and backwards, built once.
_PAGE = {
    backwards: _page_statement([_TABLE.c.campaign_id == bindparam("of_campaign")], backwards)
    for backwards in (False, True)
}


def selection(campaign: Rostered, filters: Filters) -> Select[str]:
    """The ids of everybody that `filters` select."""
    return select(Participant.id).where(*_conditions(campaign, filters))


def standing(campaign: Rostered, participant_ids: Sequence[str]) -> list[str]:
    """Those of these ids that stand on the roster now."""
    query = select(Participant.id).where(Participant.campaign_id == campaign.id, Participant.id.in_(participant_ids))
    return list(db.session.scalars(query.order_by(Participant.id)))


def by_address(campaign: Rostered, emails: Sequence[str]) -> dict[str, str]:
    """The participant ids of those of these addresses (lower-cased) that stand on the roster."""
    query = select(Participant.email, Participant.id).where(
        Participant.campaign_id == campaign.id, Participant.email.in_(emails)
    )
    return {row.email: row.id for row in db.session.execute(query)}


def _ids_of_page(
    campaign: Rostered, filters: Filters, paging: Paging, total: int, sort: Sort, descending: bool
) -> Subquery | None:
    """The ids of one page as a subquery; None where the page is beyond the last."""
    skipped, wanted, backwards = _window(paging, total)
    if wanted <= 0:
        return None
    ids = select(Participant.id).where(*_conditions(campaign, filters))
    return ids.order_by(*_order(sort, descending != backwards)).limit(wanted).offset(skipped).subquery()


def _order(sort: Sort, descending: bool) -> list[Any]:
    return [column.desc() if descending else column.asc() for column in _ORDERS[sort]]


def _window(paging: Paging, total: int) -> tuple[int, int, bool]:
    """How many rows to skip and to take, and whether from the end."""
    wanted = min(paging.limit, total - paging.offset)
    from_the_end = total - paging.offset - wanted
    if wanted > 0 and from_the_end < paging.offset:
        return from_the_end, wanted, True
    return paging.offset, wanted, False


def _conditions(campaign: Rostered, filters: Filters) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [Participant.campaign_id == campaign.id]
    if filters.status is not None:
        conditions.append(Participant.status == filters.status)
    if filters.email is not None:
        conditions.append(Participant.email == filters.email.strip().lower())
    if filters.language is not None:
        unset = filters.language == "none"
        conditions.append(Participant.language.is_(None) if unset else Participant.language == filters.language)
    if filters.updated_since is not None:
        conditions.append(Participant.updated_at >= filters.updated_since)
    if filters.organisation_id is not None:
        conditions.append(Participant.organisation_id == filters.organisation_id)
    conditions.extend(Participant.name_key.contains(word, autoescape=True) for word in folded(filters.search).split())
    return conditions
