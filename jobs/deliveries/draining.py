"""One pass over what is due: results and new claims share one short transaction, and none is open during a POST."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache
from queue import Empty, SimpleQueue

import structlog
from cryptography.fernet import InvalidToken
from flask import current_app
from sqlalchemy.exc import DBAPIError

from core import clock, vault
from core.db import db, transaction
from core.settings import Settings
from domain.events.delivery import claiming, mending
from domain.events.delivery.claiming import Claim
from domain.events.delivery.results import GivenBack, Ladder, Outcome, settle
from jobs import stopping

from . import trust
from .sending import NO_RESOURCES_WAIT_MS, Done, Post, Senders

THREADS = 64
# Senders that stay free for subscriptions that come while one alone has the others.
RESERVE = 24
# While POSTs are under way and senders idle, what has come due meanwhile is looked for this often.
LOOK_SECONDS = 0.1
MEND_SECONDS = 1.0
# Kept deciphered by one drain, by their sealed text: a rotation is another text.
SECRETS = 256
# Payloads in flight together, in UTF-8. A POST holds several copies of its own, and the worker must stay below
# 200 MB: it has 115 at rest, and each connection to SQLite 8 of cache.
MOST_BYTES = 4 << 20
PAUSE_AFTER_TROUBLE_SECONDS = 0.5
# A due time further ahead than the ladder's longest wait and this was written by another clock.
BEYOND_THE_LADDER_MS = clock.MINUTE_MS

log = structlog.get_logger(__name__)


class Drain:
    """One pass over everything that is due. `run` returns how many POSTs were made, and runs once.

    With `once` what comes due after its first look is left alone, so that it makes at most one attempt of each.
    """

    def __init__(self, settings: Settings, *, once: bool = False, threads: int = THREADS) -> None:
        self._settings = settings
        self._once = once
        self._until = 0
        self._threads = threads
        self._ladder = ladder_of(settings)
        self._incoming: SimpleQueue[Done | None] = SimpleQueue()
        self._senders = Senders(settings, self._incoming)
        self._unwritten: list[Done] = []
        self._flying: dict[str, tuple[Claim, float]] = {}
        self._mend_at = 0.0
        self._more_threads_at = 0.0
        self._is_landing = False
        self._unseal = lru_cache(maxsize=SECRETS)(vault.unseal)
        self.sent = 0

    def look_again(self) -> None:
        """Something new may be due. Any thread may say so."""
        self._incoming.put(None)

    def run(self) -> int:
        """Send until nothing is due or the process is told to stop; a POST under way is waited for."""
        try:
            while self._step():
                pass
        except Exception:
            self._land()
            raise
        finally:
            self._senders.end()
            db.session.rollback()
        return self.sent

    def _land(self) -> None:
        """After a defect: what is under way is waited for and written, or it would be sent again by the next."""
        self._is_landing = True
        db.session.rollback()
        while self._flying or self._unwritten:
            self._step()

    def _step(self) -> bool:
        """One round of collecting, writing, claiming and sending; False once there is nothing left to do."""
        self._collect()
        try:
            claims = self._write_and_claim()
        except DBAPIError as error:
            self._after_trouble(error)
        else:
            self._send(claims)
        return bool(self._flying or self._unwritten)

    def _collect(self) -> None:
        """Wait for a result while POSTs are under way, and take every one that is there."""
        wait = LOOK_SECONDS if self._flying else 0.0
        try:
            found = self._incoming.get(timeout=wait) if wait else self._incoming.get_nowait()
            while True:
                self._take(found)
                found = self._incoming.get_nowait()
        except Empty:
            return

    def _take(self, found: Done | None) -> None:
        if found is None:
            return
        self._flying.pop(found.claim.delivery_id, None)
        self._unwritten.append(found)
        self.sent += isinstance(found, Outcome)

    def _write_and_claim(self) -> list[Claim]:
        self._hold_on()
        idle = self._idle()
        if idle:
            self._mend()
        if not (self._unwritten or (idle and self._waiting())):
            db.session.rollback()
            return []
        with transaction():
            settle(self._unwritten, self._ladder)
            claims = self._claim(idle) if idle else []
        self._unwritten.clear()
        return claims

    def _idle(self) -> int:
        """How many more may be sent now. Where the machine had no thread left, those there are do for a while."""
        if stopping.is_asked() or self._is_landing:
            return 0
        threads = self._threads if time.monotonic() >= self._more_threads_at else self._senders.count
        return threads - len(self._flying)

    def _claim(self, idle: int) -> list[Claim]:
        reserve = min(RESERVE, self._threads // 2)
        room = MOST_BYTES - sum(len(claim.payload) for claim, _since in self._flying.values())
        return claiming.claim(
            self._waiting(), idle, reserve, self._until, self._settings.webhook_lease_ms, max(0, room)
        )

    def _waiting(self) -> list[str]:
        """Which subscriptions have something due. Takes no lock: it is asked alone where nothing is to be written."""
        if not (self._once and self._until):
            self._until = clock.now_ms()
        return claiming.waiting(self._until)

    def _mend(self) -> None:
        """Put right, once a second, what a dead sender left behind."""
        if time.monotonic() < self._mend_at:
            return
        self._mend_at = time.monotonic() + MEND_SECONDS
        take_back = trust.leases.is_given(self._settings.webhook_lease_seconds)
        longest = longest_wait_ms(self._settings)
        for wrong in mending.found_wrong(self._settings.webhook_lease_ms, longest, take_back=take_back):
            with transaction():
                mending.mend(wrong)

    def _hold_on(self) -> None:
        """Renew the claims whose POST is under way and whose lease is half over."""
        now = time.monotonic()
        half = now - self._settings.webhook_lease_seconds / 2
        fading = [claim for claim, since in self._flying.values() if since < half]
        if fading:
            with transaction():
                claiming.hold(fading, self._settings.webhook_lease_ms)
            self._flying.update({claim.delivery_id: (claim, now) for claim in fading})

    def _after_trouble(self, error: DBAPIError) -> None:
        """The database is away or busy: what came back is kept, and written later."""
        log.warning("deliveries_wait_for_the_database", error=type(error.orig).__name__)
        trust.leases.after_trouble()
        db.session.rollback()
        time.sleep(PAUSE_AFTER_TROUBLE_SECONDS)

    def _send(self, claims: Sequence[Claim]) -> None:
        good_until = time.monotonic() + self._settings.webhook_lease_seconds * 0.8
        for place, claim in enumerate(claims):
            if not self._senders.take(self._ready(claim, good_until), len(self._flying)):
                self._give_back(claims[place:])
                return
            self._flying[claim.delivery_id] = (claim, time.monotonic())

    def _give_back(self, claims: Sequence[Claim]) -> None:
        """No thread can be had for these. The ones that there are take them in turn; without any, a later drain."""
        wait_ms = 0 if self._senders.count else NO_RESOURCES_WAIT_MS
        self._unwritten += [GivenBack(claim, wait_ms) for claim in claims]
        self._more_threads_at = time.monotonic() + NO_RESOURCES_WAIT_MS / 1000

    def _ready(self, claim: Claim, good_until: float) -> Post:
        try:
            secret = self._unseal(claim.sealed_secret) if claim.sealed_secret is not None else None
        except InvalidToken:
            log.error("webhook_secret_unreadable", subscription_id=claim.subscription_id)
            return Post(claim, None, False, good_until)
        return Post(claim, secret, True, good_until)


def ladder_of(settings: Settings) -> Ladder:
    """How often and how long between, by the settings."""
    waits = [round(seconds * 1000) for seconds in settings.webhook_backoff_seconds]
    return Ladder(settings.webhook_max_attempts, waits)


def longest_wait_ms(settings: Settings) -> int:
    """How far ahead a delivery may be due."""
    return max(ladder_of(settings).waits_ms) + BEYOND_THE_LADDER_MS


def drain() -> int:
    """One pass in this process, at most one attempt of each delivery; returns how many POSTs were made."""
    settings: Settings = current_app.config["SETTINGS"]
    return Drain(settings, once=True).run()
