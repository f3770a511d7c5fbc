"""What came of POSTs, written in batches: accepted, waiting for the next rung, or exhausted (contract 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import Row, Table, bindparam, insert, select, update

from core import clock
from core.db import db
from core.ids import new_id

from ..subscription import Subscription
from . import tally
from .claiming import Claim
from .record import TABLE, DeliveryAttempt

BLOCKED = frozenset({"URL_REFUSED", "ADDRESS_REFUSED"})


@dataclass(frozen=True)
class Outcome:
    """What one POST came to. `at` is its timestamp (epoch ms), `error` None where the receiver accepted."""

    claim: Claim
    at: int
    milliseconds: int
    status: int | None
    error: str | None
    answer: bytes
    address: str | None


@dataclass(frozen=True)
class GivenBack:
    """A claim that was not sent; it burns no attempt. It is due again after `wait_ms`."""

    claim: Claim
    wait_ms: int = 0


@dataclass(frozen=True)
class Ladder:
    """How often, and how long between (ms). Where it has fewer rungs than waits, the last one serves again."""

    most_attempts: int
    waits_ms: Sequence[int]

    def wait_after(self, failures: int) -> int:
        return self.waits_ms[min(failures, len(self.waits_ms)) - 1]


def settle(done: Sequence[Outcome | GivenBack], ladder: Ladder) -> None:
    """Write what came of claims, inside the caller's transaction.

    A result whose claim was taken over by another sender changes nothing.
    """
    if not done:
        return
    standing = _locked(done, ladder)
    ours = [each for each in done if _is_ours(each.claim, standing)]
    outcomes = [each for each in ours if isinstance(each, Outcome)]
    _give_back([each for each in ours if isinstance(each, GivenBack)])
    rows = [_after(each, standing[each.claim.delivery_id], ladder) for each in outcomes]
    if rows:
        connection = db.session.connection()
        connection.execute(_SETTLE, rows)
        connection.execute(insert(_ATTEMPTS), [_attempt(each, standing) for each in outcomes])
        _count_failures(outcomes, rows)
        tally.add(_counts(outcomes, rows))


_ATTEMPTS = cast(Table, DeliveryAttempt.__table__)
_STANDING = ("id", "lease_generation", "lease_until", "state", "attempts", "round", "first_sent_at")
_CHANGED = ("state", "attempts", "due_at", "last_status", "last_error", "first_sent_at", "last_sent_at", "settled_at")
_MINE = (TABLE.c.id == bindparam("settled"), TABLE.c.lease_generation == bindparam("generation"))
_SETTLE = update(TABLE).where(*_MINE).values(lease_until=0, **{name: bindparam(f"new_{name}") for name in _CHANGED})
_GIVE_BACK = update(TABLE).where(*_MINE).values(lease_until=0, due_at=bindparam("new_due_at"))


def _locked(done: Sequence[Outcome | GivenBack], ladder: Ladder) -> Mapping[str, Row[Any]]:
    """The deliveries as they stand, held. A subscription whose failures will be counted is held before them, as a
    deletion does it, so that neither waits for the other for ever."""
    last = {each.claim.subscription_id for each in done if each.claim.attempts + 1 >= ladder.most_attempts}
    failing = select(Subscription.id).where(Subscription.id.in_(last)).order_by(Subscription.id)
    connection = db.session.connection()
    if last:
        connection.execute(failing.with_for_update(key_share=True)).all()
    query = select(*(TABLE.c[name] for name in _STANDING)).where(TABLE.c.id.in_([e.claim.delivery_id for e in done]))
    found = connection.execute(query.order_by(TABLE.c.id).with_for_update())
    return {row.id: row for row in found}


def _is_ours(claim: Claim, standing: Mapping[str, Row[Any]]) -> bool:
    row = standing.get(claim.delivery_id)
    return row is not None and row.lease_generation == claim.generation


def _give_back(claims: Sequence[GivenBack]) -> None:
    now = clock.now_ms()
    rows = [
        {"settled": each.claim.delivery_id, "generation": each.claim.generation, "new_due_at": now + each.wait_ms}
        for each in claims
    ]
    if rows:
        db.session.connection().execute(_GIVE_BACK, rows)


def _after(outcome: Outcome, row: Row[Any], ladder: Ladder) -> dict[str, Any]:
    """The row after this attempt. A delivery cancelled meanwhile stays so, unless the receiver took it."""
    now, attempts = clock.now_ms(), row.attempts + 1
    if outcome.error is None:
        state = "accepted"
    elif row.state == "cancelled":
        state = "cancelled"
    else:
        state = "queued" if attempts < ladder.most_attempts else "exhausted"
    return {
        "settled": outcome.claim.delivery_id,
        "generation": outcome.claim.generation,
        "new_state": state,
        "new_attempts": attempts,
        "new_due_at": now + ladder.wait_after(attempts) if state == "queued" else now,
        "new_last_status": outcome.status,
        "new_last_error": outcome.error,
        "new_first_sent_at": row.first_sent_at or outcome.at,
        "new_last_sent_at": outcome.at,
        "new_settled_at": None if state == "queued" else now,
    }


def _attempt(outcome: Outcome, standing: Mapping[str, Row[Any]]) -> dict[str, Any]:
    row = standing[outcome.claim.delivery_id]
    return {
        "id": new_id("att", outcome.at),
        "delivery_id": row.id,
        "round": row.round,
        "number": row.attempts + 1,
        "at": outcome.at,
        "milliseconds": outcome.milliseconds,
        "status": outcome.status,
        "error": outcome.error,
        "answer": outcome.answer,
        "address": outcome.address,
    }


def _count_failures(outcomes: Sequence[Outcome], rows: Sequence[Mapping[str, Any]]) -> None:
    exhausted = Counter(
        outcome.claim.subscription_id
        for outcome, row in zip(outcomes, rows, strict=True)
        if row["new_state"] == "exhausted"
    )
    for subscription_id, count in sorted(exhausted.items()):
        db.session.execute(
            update(Subscription)
            .where(Subscription.id == subscription_id)
            .values(failure_count=Subscription.failure_count + count)
            .execution_options(synchronize_session=False)
        )


def _counts(outcomes: Sequence[Outcome], rows: Sequence[Mapping[str, Any]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for outcome, row in zip(outcomes, rows, strict=True):
        counts["accepted" if outcome.error is None else "failed"] += 1
        counts["exhausted"] += row["new_state"] == "exhausted"
        counts["blocked"] += outcome.error in BLOCKED
        if outcome.claim.round == 1 and row["new_attempts"] == 1:
            counts.update(tally.latency(outcome.at - outcome.claim.created_at))
    return counts
