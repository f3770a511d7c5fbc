"""Who sends what: due deliveries are taken with a lease and a generation, fairly over their subscriptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, cycle, islice
from typing import Any, NamedTuple, cast

from sqlalchemy import (
    ColumnElement,
    Integer,
    LargeBinary,
    ScalarSelect,
    Select,
    Table,
    Text,
    bindparam,
    column,
    func,
    or_,
    select,
    text,
    true,
    update,
)
from sqlalchemy import cast as as_type

from core import bulk, clock
from core.db import connection, db, is_postgresql, writing_connection
from core.json_text import as_text

from ..subscription import Subscription
from .record import FIRST_ATTEMPT, LEASED, RETRY, TABLE, Delivery, lock_in_order

SUBSCRIPTIONS = cast(Table, Subscription.__table__)
# In flight for one subscription while others wait.
MOST_WHILE_OTHERS_WAIT = 4
# Claims of every process happen one after the other on PostgreSQL, as they do on SQLite: the limits are then exact.
CLAIM_LOCK = 7_305_220_613


@dataclass(frozen=True)
class Claim:
    """A delivery in the hands of one sender, with what its next POST needs as it stood at the claim.

    `payload` is UTF-8: as text Python keeps four bytes for each character once one of them is an emoji.
    """

    delivery_id: str
    generation: int
    round: int
    attempts: int
    subscription_id: str
    account_id: str
    event_id: str | None
    event: str
    payload: bytes
    created_at: int
    url: str
    sealed_secret: str | None


def waiting(until: int) -> list[str]:
    """The subscriptions that something is due for at `until` (epoch ms) and nobody sends it. Takes no lock."""
    return list(connection().execute(_WAITING, {"until": until}).scalars())


def _first_due_at(kind: str) -> ScalarSelect[int]:
    """No `EXISTS`: PostgreSQL would read all that is due, where the first entry of an index tells enough."""
    mine = select(TABLE.c.due_at).where(TABLE.c.subscription_id == SUBSCRIPTIONS.c.id, text(kind))
    return mine.order_by(TABLE.c.due_at).limit(1).scalar_subquery()


# Statements that every round of a drain asks are made once.
_WAITING = select(SUBSCRIPTIONS.c.id).where(
    SUBSCRIPTIONS.c.is_active.is_(True),
    SUBSCRIPTIONS.c.deleted_at.is_(None),
    or_(*(_first_due_at(kind) <= bindparam("until") for kind in (FIRST_ATTEMPT, RETRY))),
)


def claim(
    subscription_ids: Sequence[str], idle: int, reserve: int, until: int, lease_ms: int, most_bytes: int
) -> list[Claim]:
    """Take at most `idle` deliveries of these subscriptions, inside the caller's transaction.

    Their payloads have some `most_bytes` of UTF-8 together: memory stays flat whatever they hold. Of what is left no
    subscription takes more than half, so that a slow receiver of long ones leaves room for the others, and whoever
    has nothing in flight gets one of any length. `reserve` senders stay free for subscriptions that come later, once
    each has its four.
    """
    if not subscription_ids or idle <= 0:
        return []
    if is_postgresql():
        db.session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": CLAIM_LOCK})
    in_flight = _in_flight(subscription_ids)
    shares = share(subscription_ids, in_flight, idle, reserve)
    picked: list[str] = []
    for each, found in _pick(shares, until).items():
        fits = _fitting(found, most_bytes // 2, one_of_any=not in_flight.get(each))
        picked += [due.delivery_id for due in fits]
        most_bytes -= sum(due.size for due in fits)
    return _take(picked, clock.now_ms() + lease_ms) if picked else []


class Due(NamedTuple):
    """A delivery that could be claimed; `size` is its payload's, in bytes."""

    subscription_id: str
    delivery_id: str
    size: int


def _fitting(found: Sequence[Due], most_bytes: int, *, one_of_any: bool) -> Sequence[Due]:
    """As many of the first as fit together; with `one_of_any` the very first however long it is."""
    count = sum(size <= most_bytes for size in accumulate(due.size for due in found))
    return found[: max(count, 1 if one_of_any else 0)]


def share(subscription_ids: Sequence[str], in_flight: Mapping[str, int], idle: int, reserve: int) -> dict[str, int]:
    """How many deliveries each may have: four in flight first, the least busy first, then what is left, in turns."""
    order = sorted(subscription_ids, key=lambda each: in_flight.get(each, 0))
    given: Counter[str] = Counter()
    turns = [each for rank in range(MOST_WHILE_OTHERS_WAIT) for each in order if in_flight.get(each, 0) <= rank]
    given.update(turns[:idle])
    left = idle - len(turns) - reserve
    given.update(islice(cycle(order), max(0, left)))
    return dict(given)


def _in_flight(subscription_ids: Sequence[str]) -> dict[str, int]:
    found = connection().execute(_IN_FLIGHT, {"subscription_ids": subscription_ids})
    return {row[0]: row[1] for row in found}


_IN_FLIGHT = (
    select(TABLE.c.subscription_id, func.count())
    .where(bulk.among(TABLE.c.subscription_id, bindparam("subscription_ids", type_=bulk.Texts)), text(LEASED))
    .group_by(TABLE.c.subscription_id)
)


def _pick(shares: Mapping[str, int], until: int) -> dict[str, list[Due]]:
    """What is due, as much as each may have, the oldest first; locked on PostgreSQL.

    First attempts, and for what is left of a share retries: what is new does not wait behind what failed.
    """
    found: dict[str, list[Due]] = {each: [] for each in shares}
    for kind in (FIRST_ATTEMPT, RETRY):
        left = {each: most - len(found[each]) for each, most in shares.items() if most > len(found[each])}
        for due in _due(kind, left, until) if left else ():
            if len(found[due.subscription_id]) < shares[due.subscription_id]:
                found[due.subscription_id].append(due)
    return found


def _due(kind: str, shares: Mapping[str, int], until: int) -> list[Due]:
    """Everybody's in one question. SQLite, whose limit is one for all, may find more than a share."""
    if is_postgresql():
        rows = [{"subscription_id": each, "most": most} for each, most in shares.items()]
        found = connection().execute(_due_of_each(kind), {"shares": as_text(rows), "until": until})
    else:
        asked = {"subscription_ids": list(shares), "most": max(shares.values()), "until": until}
        found = connection().execute(_due_on_sqlite(kind), asked)
    return [Due(*row) for row in found]


@cache
def _due_of_each(kind: str) -> Select[str, str, int]:
    share = bulk.recordset("shares", column("subscription_id", Text), column("most", Integer), name="share")
    size = func.octet_length(TABLE.c.payload).label("size")
    due = _oldest(kind, share.c.subscription_id, share.c.most, TABLE.c.subscription_id, TABLE.c.id, size)
    oldest = due.correlate(share).with_for_update(skip_locked=True).lateral("due")
    return select(oldest.c.subscription_id, oldest.c.id, oldest.c.size).select_from(share.join(oldest, true()))


@cache
def _due_on_sqlite(kind: str) -> Select[str, str, int]:
    """Its `length` of text counts characters, of bytes those."""
    asked = func.json_each(bindparam("subscription_ids", type_=bulk.Texts)).table_valued("value")
    found = TABLE.alias()
    size = func.length(as_type(found.c.payload, LargeBinary))
    oldest = _oldest(kind, asked.c.value, bindparam("most"), TABLE.c.id).correlate(asked)
    return (
        select(found.c.subscription_id, found.c.id, size)
        .select_from(asked.join(found, found.c.id.in_(oldest)))
        .order_by(found.c.due_at)
    )


def _oldest(kind: str, subscription_id: Any, most: Any, *columns: ColumnElement[Any]) -> Select[*tuple[Any, ...]]:
    mine = TABLE.c.subscription_id == subscription_id, text(kind), TABLE.c.due_at <= bindparam("until")
    return select(*columns).where(*mine).order_by(TABLE.c.due_at).limit(most)


def _take(delivery_ids: Sequence[str], lease_until: int) -> list[Claim]:
    taken = writing_connection().execute(_TAKE, {"delivery_ids": delivery_ids, "until": lease_until})
    rows = [{**row, "payload": row["payload"].encode()} for row in taken.mappings()]
    to = _receivers(sorted({row["subscription_id"] for row in rows}))
    return [Claim(**row, **to[row["subscription_id"]]) for row in rows if row["subscription_id"] in to]


_TAKEN = (
    TABLE.c.id.label("delivery_id"),
    TABLE.c.lease_generation.label("generation"),
    *(TABLE.c[name] for name in ("round", "attempts", "subscription_id", "account_id", "event_id", "event")),
    *(TABLE.c[name] for name in ("payload", "created_at")),
)
_TAKE = (
    update(TABLE)
    .where(bulk.among(TABLE.c.id, bindparam("delivery_ids", type_=bulk.Texts)))
    .values(lease_until=bindparam("until"), lease_generation=TABLE.c.lease_generation + 1)
    .returning(*_TAKEN)
)


def _receivers(subscription_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """URL and sealed secret as they stand now: a rotation counts from the next attempt of everything (6.3)."""
    found = connection().execute(_RECEIVERS, {"ids": subscription_ids})
    return {row[0]: {"url": row[1], "sealed_secret": row[2]} for row in found}


_RECEIVERS = select(SUBSCRIPTIONS.c.id, SUBSCRIPTIONS.c.url, SUBSCRIPTIONS.c.sealed_secret).where(
    bulk.among(SUBSCRIPTIONS.c.id, bindparam("ids", type_=bulk.Texts))
)


def hold(claims: Sequence[Claim], lease_ms: int) -> None:
    """Keep what is still being sent; changes nothing for a claim that somebody else has taken over."""
    until = clock.now_ms() + lease_ms
    lock_in_order(Delivery.id.in_([each.delivery_id for each in claims]))
    rows = [{"id": each.delivery_id, "lease_generation": each.generation, "lease_until": until} for each in claims]
    bulk.update_many(TABLE, rows, by=("id", "lease_generation"))
