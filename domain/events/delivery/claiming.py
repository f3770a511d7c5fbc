"""Who sends what: due deliveries are taken with a lease and a generation, fairly over their subscriptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, cycle, islice
from typing import Any

from sqlalchemy import (
    ColumnElement,
    CursorResult,
    LargeBinary,
    Select,
    bindparam,
    cast,
    exists,
    func,
    literal_column,
    select,
    text,
    update,
)

from core import clock
from core.db import db, is_postgresql
from core.settings import MOST_WEBHOOK_ATTEMPTS

from ..subscription import Subscription
from .record import TABLE, Delivery

# In flight for one subscription while others wait.
MOST_WHILE_OTHERS_WAIT = 4
# Claims of every process happen one after the other on PostgreSQL, as they do on SQLite: the limits are then exact.
CLAIM_LOCK = 7_305_220_613
_RETRIES = tuple(range(1, MOST_WEBHOOK_ATTEMPTS + 1))
# A row whose subscription was deleted while its event was being written is found by looking back this far.
LOOK_BACK_MS = clock.DAY_MS

_LEASED = Delivery.lease_until > literal_column("0")


@dataclass(frozen=True)
class Claim:
    """A delivery in the hands of one sender, with what its next POST needs as it stood at the claim."""

    delivery_id: str
    generation: int
    round: int
    attempts: int
    subscription_id: str
    account_id: str
    event_id: str | None
    event: str
    payload: str
    created_at: int
    url: str
    sealed_secret: str | None


def waiting(until: int) -> list[str]:
    """The subscriptions that something is due for at `until` (epoch ms) and nobody sends it. Takes no lock."""
    due = exists().where(
        Delivery.subscription_id == Subscription.id,
        Delivery.state == "queued",
        Delivery.attempts.in_((0, *_RETRIES)),
        Delivery.due_at <= until,
        Delivery.lease_until == 0,
    )
    return list(db.session.scalars(select(Subscription.id).where(*_ACTIVE, due)))


_ACTIVE: tuple[ColumnElement[bool], ...] = (Subscription.is_active.is_(True), Subscription.deleted_at.is_(None))


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
    in_flight = _in_flight()
    picked: list[str] = []
    for each, wanted in share(subscription_ids, in_flight, idle, reserve).items():
        fits = _fitting(_pick(each, wanted, until), most_bytes // 2, one_of_any=not in_flight.get(each))
        picked += [delivery_id for delivery_id, _size in fits]
        most_bytes -= sum(size for _id, size in fits)
    return _take(picked, clock.now_ms() + lease_ms) if picked else []


def _fitting(found: Sequence[tuple[str, int]], most_bytes: int, *, one_of_any: bool) -> list[tuple[str, int]]:
    """As many of the first as fit together; with `one_of_any` the very first however long it is."""
    together = list(accumulate(size for _id, size in found))
    count = sum(size <= most_bytes for size in together)
    return list(found[: max(count, 1 if one_of_any else 0)])


def share(subscription_ids: Sequence[str], in_flight: Mapping[str, int], idle: int, reserve: int) -> dict[str, int]:
    """How many deliveries each may have: four in flight first, the least busy first, then what is left, in turns."""
    order = sorted(subscription_ids, key=lambda each: in_flight.get(each, 0))
    given: Counter[str] = Counter()
    turns = [each for rank in range(MOST_WHILE_OTHERS_WAIT) for each in order if in_flight.get(each, 0) <= rank]
    given.update(turns[:idle])
    left = idle - len(turns) - reserve
    given.update(islice(cycle(order), max(0, left)))
    return dict(given)


def _in_flight() -> dict[str, int]:
    query = select(Delivery.subscription_id, func.count()).where(_LEASED).group_by(Delivery.subscription_id)
    return {row[0]: row[1] for row in db.session.execute(query)}


def _due(attempts: ColumnElement[bool], size: ColumnElement[int]) -> Select[str, int]:
    query = select(Delivery.id, size).where(
        Delivery.subscription_id == bindparam("subscription"),
        Delivery.state == "queued",
        attempts,
        Delivery.due_at <= bindparam("until"),
        Delivery.lease_until == 0,
    )
    return query.order_by(Delivery.due_at).limit(bindparam("most")).with_for_update(skip_locked=True)


@cache
def _first_and_late(on_postgresql: bool) -> tuple[Select[str, int], Select[str, int]]:
    """What was never attempted, and what was. SQLite's `length` of text counts characters, of bytes those."""
    payload = Delivery.payload
    size = func.octet_length(payload) if on_postgresql else func.length(cast(payload, LargeBinary))
    return _due(Delivery.attempts == 0, size), _due(Delivery.attempts.in_(_RETRIES), size)


def _pick(subscription_id: str, most: int, until: int) -> list[tuple[str, int]]:
    """Ids and sizes of due deliveries, first attempts before retries: what is new does not wait behind what failed."""
    connection = db.session.connection()
    found: list[tuple[str, int]] = []
    for query in _first_and_late(is_postgresql()):
        asked = {"subscription": subscription_id, "until": until, "most": most - len(found)}
        found += [(row[0], row[1]) for row in connection.execute(query, asked)]
        if len(found) == most:
            break
    return found


def _take(delivery_ids: Sequence[str], lease_until: int) -> list[Claim]:
    taken = db.session.connection().execute(
        update(TABLE)
        .where(TABLE.c.id.in_(delivery_ids), TABLE.c.lease_until == 0, TABLE.c.state == "queued")
        .values(lease_until=lease_until, lease_generation=TABLE.c.lease_generation + 1)
        .returning(*_TAKEN)
    )
    rows = [dict(row) for row in taken.mappings()]
    to = _receivers({row["subscription_id"] for row in rows})
    return [Claim(**row, **to[row["subscription_id"]]) for row in rows if row["subscription_id"] in to]


_TAKEN = (
    TABLE.c.id.label("delivery_id"),
    TABLE.c.lease_generation.label("generation"),
    *(TABLE.c[name] for name in ("round", "attempts", "subscription_id", "account_id", "event_id", "event")),
    *(TABLE.c[name] for name in ("payload", "created_at")),
)


def _receivers(subscription_ids: set[str]) -> dict[str, dict[str, Any]]:
    """URL and sealed secret as they stand now: a rotation counts from the next attempt of everything (6.3)."""
    query = select(Subscription.id, Subscription.url, Subscription.sealed_secret)
    found = db.session.execute(query.where(Subscription.id.in_(subscription_ids)))
    return {row[0]: {"url": row[1], "sealed_secret": row[2]} for row in found}


def hold(claims: Sequence[Claim], lease_ms: int) -> None:
    """Keep what is still being sent; changes nothing for a claim that somebody else has taken over."""
    statement = update(TABLE).where(
        TABLE.c.id == bindparam("held"), TABLE.c.lease_generation == bindparam("generation"), TABLE.c.lease_until > 0
    )
    rows = [{"held": each.delivery_id, "generation": each.generation} for each in claims]
    if rows:
        db.session.connection().execute(statement.values(lease_until=clock.now_ms() + lease_ms), rows)


def needs_mending(lease_ms: int, longest_wait_ms: int, *, take_back: bool) -> bool:
    """Whether `mend` would find anything; takes no lock."""
    return any(
        db.session.scalar(select(Delivery.id).where(*wrong).limit(1))
        for wrong, _right in _wrongs(lease_ms, longest_wait_ms, take_back)
    )


def mend(lease_ms: int, longest_wait_ms: int, *, take_back: bool) -> int:
    """Put right what a dead sender, a clock that was set back or a deletion in mid-event left behind.

    `take_back`: leases that ran out are over. Not so just after the clock jumped ahead, when their senders may live.
    Returns how many deliveries were touched.
    """
    touched = 0
    for wrong, right in _wrongs(lease_ms, longest_wait_ms, take_back):
        done = db.session.execute(
            update(Delivery).where(*wrong).values(**right).execution_options(synchronize_session=False)
        )
        assert isinstance(done, CursorResult)
        touched += done.rowcount
    return touched


Wrong = tuple[tuple[ColumnElement[bool], ...], dict[str, object]]


def _wrongs(lease_ms: int, longest_wait_ms: int, take_back: bool) -> list[Wrong]:
    now = clock.now_ms()
    deleted = select(Subscription.id).where(Subscription.deleted_at > now - LOOK_BACK_MS)
    wrongs: list[Wrong] = [
        ((_LEASED, Delivery.lease_until > now + 2 * lease_ms), {"lease_until": now + lease_ms}),
        ((Delivery.state == "queued", Delivery.due_at > now + longest_wait_ms), {"due_at": now}),
        (
            (Delivery.subscription_id.in_(deleted), Delivery.state == "queued", Delivery.lease_until == 0),
            {"state": "cancelled", "settled_at": now},
        ),
    ]
    if take_back:
        wrongs.insert(0, ((_LEASED, Delivery.lease_until <= now), {"lease_until": 0}))
    return wrongs


def something_is_due(lease_ms: int, longest_wait_ms: int, *, take_back: bool = True) -> bool:
    """Whether a drain would find anything to do now; takes no lock."""
    now = clock.now_ms()
    return needs_mending(lease_ms, longest_wait_ms, take_back=take_back) or bool(waiting(now))
