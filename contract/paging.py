"""`page` and `limit` as every list reads them (service.md 4.2, 8; contract 3): they never err."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field

from contract.envelope import ListMeta

DEFAULT_LIMIT = 50
MOST = 200
# Beyond this a page is empty in any database we can hold; it keeps the offset inside 64 bits.
LAST_PAGE = 10**9

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


class PagingQuery(BaseModel):
    """How the two are told in the reference. They are read by `Paging.parse`, which refuses nothing."""

    page: Annotated[int, Field(ge=1, description="From 1. What cannot be read is 1.")] = 1
    limit: Annotated[
        int,
        Field(
            ge=1,
            le=MOST,
            description="Rows of a page. What cannot be read is 50; what is out of range is brought into it.",
        ),
    ] = DEFAULT_LIMIT


@dataclass(frozen=True)
class Paging:
    """Which page of a list: `page` from 1, `limit` from 1 to 200."""

    page: int = 1
    limit: int = DEFAULT_LIMIT

    @classmethod
    def parse(cls, page: str | None, limit: str | None) -> Paging:
        """Read what was asked; what cannot be parsed falls back to the default, what is out of range is clamped."""
        return cls(
            page=min(max(_whole(page, 1), 1), LAST_PAGE),
            limit=min(max(_whole(limit, DEFAULT_LIMIT), 1), MOST),
        )

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.limit

    def meta(self, total: int) -> ListMeta:
        """`meta` of the answer; an empty list has no pages."""
        return {"page": self.page, "limit": self.limit, "total": total, "totalPages": -(-total // self.limit)}


def _whole(text: str | None, default: int) -> int:
    return int(text) if text is not None and _WHOLE.fullmatch(text.strip()) else default
