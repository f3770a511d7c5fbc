"""What came of POSTs, written in batches: accepted, waiting for the next rung, or exhausted (contract 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import structlog
from sqlalchemy import Row, Table, bindparam, select, update

from core import bulk, clock
from core.db import connection, db, on_commit
from core.ids import new_id

from ..subscription import Subscription
from . import tally
from .claiming import Claim
from .record import TABLE, DeliveryAttempt

log = structlog.get_logger(__name__)

BLOCKED = frozenset({"URL_REFUSED", "ADDRESS_REFUSED"})


@dataclass(frozen=True)
class Outcome:
    """What one POST came to. `at` is its timestamp (epoch ms), `error` None where the receiver accepted, `location`
    where a redirect would have led."""

    claim: Claim
    at: int
    milliseconds: int
    status: int | None
    error: str | None
    answer: bytes
    address: str | None
    location: str | None = None


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
    bulk.update_many(TABLE, rows, by=_MINE)
    bulk.insert_many(_ATTEMPTS, [_attempt(each, standing) for each in outcomes])
    _count_failures(outcomes, rows)
    on_commit(lambda: _log_exhausted(outcomes, rows))
    tally.add(_counts(outcomes, rows))


_ATTEMPTS = cast(Table, DeliveryAttempt.__table__)
_STANDING = (
    select(*(TABLE.c[name] for name in ("id", "lease_generation", "state", "attempts", "round", "first_sent_at")))
    .where(bulk.among(TABLE.c.id, bindparam("ids", type_=bulk.Texts)))
    .order_by(TABLE.c.id)
    .with_for_update()
)
_MINE = ("id", "lease_generation")


def _locked(done: Sequence[Outcome | GivenBack], ladder: Ladder) -> Mapping[str, Row[Any]]:
    """The deliveries as they stand, held. A subscription whose failures will be counted is held before them, as a
    deletion does it, so that neither waits for the other for ever."""
    last = {each.claim.subscription_id for each in done if each.claim.attempts + 1 >= ladder.most_attempts}
    failing = select(Subscription.id).where(Subscription.id.in_(last)).order_by(Subscription.id)
    if last:
        connection().execute(failing.with_for_update(key_share=True)).all()
    found = connection().execute(_STANDING, {"ids": [each.claim.delivery_id for each in done]})
    return {row.id: row for row in found}


def _is_ours(claim: Claim, standing: Mapping[str, Row[Any]]) -> bool:
    """Whether the claim stands, and its result is not written yet: a commit may have been on disk whose answer was
    lost on the way."""
    row = standing.get(claim.delivery_id)
    return row is not None and (row.lease_generation, row.round, row.attempts) == (
        claim.generation,
        claim.round,
        claim.attempts,
    )


def _give_back(claims: Sequence[GivenBack]) -> None:
    now = clock.now_ms()
    rows = [_named(each.claim) | {"lease_until": 0, "due_at": now + each.wait_ms} for each in claims]
    bulk.update_many(TABLE, rows, by=_MINE)


def _named(claim: Claim) -> dict[str, Any]:
    return {"id": claim.delivery_id, "lease_generation": claim.generation}


def _after(outcome: Outcome, row: Row[Any], ladder: Ladder) -> dict[str, Any]:
    """The row after this attempt. A delivery cancelled meanwhile stays so, unless the receiver took it."""
    now, attempts = clock.now_ms(), row.attempts + 1
    if outcome.error is None:
        state = "accepted"
    elif row.state == "cancelled":
        state = "cancelled"
    else:
        state = "queued" if attempts < ladder.most_attempts else "exhausted"
    return _named(outcome.claim) | {
        "lease_until": 0,
        "state": state,
        "attempts": attempts,
        "due_at": now + ladder.wait_after(attempts) if state == "queued" else now,
        "last_status": outcome.status,
        "last_error": outcome.error,
        "first_sent_at": row.first_sent_at or outcome.at,
        "last_sent_at": outcome.at,
        "settled_at": None if state == "queued" else now,
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
        "location": outcome.location,
    }


def _count_failures(outcomes: Sequence[Outcome], rows: Sequence[Mapping[str, Any]]) -> None:
    exhausted = Counter(
        outcome.claim.subscription_id
        for outcome, row in zip(outcomes, rows, strict=True)
        if row["state"] == "exhausted"
    )
    for subscription_id, count in sorted(exhausted.items()):
        db.session.execute(
            update(Subscription)
            .where(Subscription.id == subscription_id)
            .values(failure_count=Subscription.failure_count + count)
            .execution_options(synchronize_session=False)
        )


def _log_exhausted(outcomes: Sequence[Outcome], rows: Sequence[Mapping[str, Any]]) -> None:
    """A line for operators of each delivery that was given up. URLs stay out of it: their queries may hold keys."""
    for outcome, row in zip(outcomes, rows, strict=True):
        if row["state"] == "exhausted":
            log.warning(
                "delivery_exhausted",
                delivery_id=outcome.claim.delivery_id,
                subscription_id=outcome.claim.subscription_id,
                event_name=outcome.claim.event,
                attempts=row["attempts"],
                error=outcome.error,
                status=outcome.status,
            )


def _counts(outcomes: Sequence[Outcome], rows: Sequence[Mapping[str, Any]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for outcome, row in zip(outcomes, rows, strict=True):
        counts["accepted" if outcome.error is None else "failed"] += 1
        counts["exhausted"] += row["state"] == "exhausted"
        counts["blocked"] += outcome.error in BLOCKED
        if outcome.claim.round == 1 and row["attempts"] == 1:
            counts.update(tally.latency(outcome.at - outcome.claim.created_at))
    return counts
