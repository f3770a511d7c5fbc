"""What a dead sender, a clock that was set back or a deletion in mid-event left behind, and how it is put right."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, CursorResult, Select, TextClause, select, text, update

from core import clock
from core.db import db

from ..subscription import Subscription
from .claiming import waiting
from .record import FIRST_ATTEMPT, LEASED, QUEUED, Delivery, lock_in_order

# A row whose subscription was deleted while its event was being written is found by looking back this far.
LOOK_BACK_MS = clock.DAY_MS
# A first attempt is due at once, or a few seconds after it was given back: further ahead, another clock wrote it.
FIRST_ATTEMPT_AHEAD_MS = 10_000


@dataclass(frozen=True)
class Wrong:
    """Deliveries that stand as they should not, and what to write there.

    `glance` finds something where there are any, for those whose conditions take long to ask when there are none.
    """

    conditions: tuple[ColumnElement[bool] | TextClause, ...]
    right: dict[str, object]
    glance: Select[str] | None = None

    def is_there(self) -> bool:
        look = select(Delivery.id).where(*self.conditions).limit(1) if self.glance is None else self.glance
        return db.session.scalar(look) is not None


def something_is_due(lease_ms: int, longest_wait_ms: int, *, take_back: bool = True) -> bool:
    """Whether a drain would find anything to do now; takes no lock."""
    return bool(found_wrong(lease_ms, longest_wait_ms, take_back=take_back) or waiting(clock.now_ms()))


def found_wrong(lease_ms: int, longest_wait_ms: int, *, take_back: bool) -> list[Wrong]:
    """What there is to `mend`; takes no lock.

    `take_back`: leases that ran out are over. Not so just after the clock jumped ahead, when their senders may live.
    """
    return [each for each in wrongs(lease_ms, longest_wait_ms, take_back=take_back) if each.is_there()]


def mend(wrong: Wrong) -> int:
    """Put this right inside the caller's transaction; returns how many deliveries it were.

    One kind in each transaction: of a kind they are locked by id, as results are, but two kinds one after the other
    would not be, and who writes results could then wait for this for ever.
    """
    lock_in_order(*wrong.conditions)
    statement = update(Delivery).where(*wrong.conditions).values(**wrong.right)
    done = db.session.execute(statement.execution_options(synchronize_session=False))
    assert isinstance(done, CursorResult)
    return done.rowcount


def wrongs(lease_ms: int, longest_wait_ms: int, *, take_back: bool) -> list[Wrong]:
    """Every kind, whether or not there is any of it."""
    now = clock.now_ms()
    kinds = [
        Wrong((text(LEASED), Delivery.lease_until > now + 2 * lease_ms), {"lease_until": now + lease_ms}),
        Wrong((text(QUEUED), Delivery.due_at > now + longest_wait_ms), {"due_at": now}),
        _first_attempts_far_ahead(now),
        Wrong(_of_the_deleted(now - LOOK_BACK_MS), {"state": "cancelled", "settled_at": now}),
    ]
    if take_back:
        kinds.insert(0, Wrong((text(LEASED), Delivery.lease_until <= now), {"lease_until": 0}))
    return kinds


def _first_attempts_far_ahead(now: int) -> Wrong:
    """Each subscription's last one tells: by time alone every retry that waits for its rung would be looked at."""
    at, mine = now + FIRST_ATTEMPT_AHEAD_MS, Delivery.subscription_id == Subscription.id
    last = select(Delivery.due_at).where(mine, text(FIRST_ATTEMPT)).order_by(Delivery.due_at.desc()).limit(1)
    whose = select(Subscription.id).where(last.correlate(Subscription).scalar_subquery() > at)
    conditions = Delivery.subscription_id.in_(whose), text(FIRST_ATTEMPT), Delivery.due_at > at
    return Wrong(conditions, {"due_at": now}, whose.limit(1))


def _of_the_deleted(since: int) -> tuple[ColumnElement[bool] | TextClause, ...]:
    deleted = Delivery.subscription_id.in_(select(Subscription.id).where(Subscription.deleted_at > since))
    return deleted, Delivery.state == "queued", Delivery.lease_until == 0
