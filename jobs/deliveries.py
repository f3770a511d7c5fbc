"""Deliveries in the background: claim what is due, POST it on many threads, write what came of it, and again.

The thread that runs a drain is the only one that touches the database; the senders get plain values. Results and new
claims share one short transaction, and none is open while a POST is under way.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from queue import Empty, SimpleQueue

import structlog
from cryptography.fernet import InvalidToken
from flask import Flask, current_app
from sqlalchemy.exc import DBAPIError

from core import clock, queue, vault
from core.db import db, transaction
from core.settings import Settings
from domain.events.delivery import claiming, record
from domain.events.delivery.claiming import Claim
from domain.events.delivery.results import GivenBack, Ladder, Outcome, settle
from jobs import stopping
from outbound import guarded, signing

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
FINISH_SECONDS = 15.0
NO_RESOURCES_WAIT_MS = 5_000
CLOCK_STEP_MS = 5_000
# A due time further ahead than the ladder's longest wait and this was written by another clock.
BEYOND_THE_LADDER_MS = clock.MINUTE_MS

log = structlog.get_logger(__name__)

Done = Outcome | GivenBack


@dataclass(frozen=True)
class Post:
    """One POST, ready to be made. `secret` is None for an unsigned delivery, `usable` False where it cannot be read.

    After `good_until` (monotonic seconds) the claim may be somebody else's, so it is not made.
    """

    claim: Claim
    secret: str | None
    usable: bool
    good_until: float


class ClockWatch:
    """Notices that the system's clock jumped ahead. Leases then seem to have run out while their senders live."""

    def __init__(self) -> None:
        self._offset = self._now()
        self._distrust_until = 0.0

    def leases_can_be_trusted(self, lease_seconds: float) -> bool:
        offset = self._now()
        if offset - self._offset > CLOCK_STEP_MS:
            log.warning("clock_jumped", milliseconds=round(offset - self._offset))
            self._distrust_until = time.monotonic() + lease_seconds
        self._offset = offset
        return time.monotonic() >= self._distrust_until

    @staticmethod
    def _now() -> float:
        return clock.now_ms() - time.monotonic() * 1000


_clock_watch = ClockWatch()


class Drain:
    """One pass over everything that is due. `run` returns how many POSTs were made.

    With `once` what comes due after its first look is left alone, so that it makes at most one attempt of each.
    """

    def __init__(self, settings: Settings, *, once: bool = False, threads: int = THREADS) -> None:
        self._settings = settings
        self._once = once
        self._until = 0
        self._threads = threads
        self._ladder = ladder_of(settings)
        self._lease_ms = round(settings.webhook_lease_seconds * 1000)
        self._incoming: SimpleQueue[Done | None] = SimpleQueue()
        self._unwritten: list[Done] = []
        self._flying: dict[str, tuple[Claim, float]] = {}
        self._mend_at = 0.0
        self._unseal = lru_cache(maxsize=SECRETS)(vault.unseal)
        self.sent = 0

    def look_again(self) -> None:
        """Something new may be due. Any thread may say so."""
        self._incoming.put(None)

    def run(self) -> int:
        """Send until nothing is due or the process is told to stop; a POST under way is waited for."""
        pool = ThreadPoolExecutor(self._threads, thread_name_prefix="delivery")
        try:
            while self._step(pool):
                pass
        finally:
            pool.shutdown(wait=False)
            db.session.rollback()
        return self.sent

    def _step(self, pool: ThreadPoolExecutor) -> bool:
        """One round of collecting, writing, claiming and sending; False once there is nothing left to do."""
        self._collect()
        try:
            claims = self._write_and_claim()
        except DBAPIError as error:
            return self._after_trouble(error)
        good_until = time.monotonic() + max(0.0, self._settings.webhook_lease_seconds * 0.8)
        for claim in claims:
            self._flying[claim.delivery_id] = (claim, time.monotonic())
            pool.submit(self._send, self._ready(claim, good_until))
        return bool(claims or self._flying)

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
        idle = 0 if stopping.is_asked() else self._threads - len(self._flying)
        if idle:
            self._mend()
        self._hold_on()
        if not (self._unwritten or (idle and self._waiting())):
            db.session.rollback()
            return []
        with transaction():
            settle(self._unwritten, self._ladder)
            claims = self._claim(idle) if idle else []
        self._unwritten.clear()
        return claims

    def _claim(self, idle: int) -> list[Claim]:
        reserve = min(RESERVE, self._threads // 2)
        room = MOST_BYTES - sum(len(claim.payload) for claim, _since in self._flying.values())
        return claiming.claim(self._waiting(), idle, reserve, self._until, self._lease_ms, max(0, room))

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
        take_back = _clock_watch.leases_can_be_trusted(self._settings.webhook_lease_seconds)
        longest = longest_wait_ms(self._ladder)
        if claiming.needs_mending(self._lease_ms, longest, take_back=take_back):
            with transaction():
                claiming.mend(self._lease_ms, longest, take_back=take_back)

    def _hold_on(self) -> None:
        """Renew the claims whose POST is under way and whose lease is half over."""
        now = time.monotonic()
        half = now - self._settings.webhook_lease_seconds / 2
        fading = [claim for claim, since in self._flying.values() if since < half]
        if fading:
            with transaction():
                claiming.hold(fading, self._lease_ms)
            self._flying.update({claim.delivery_id: (claim, now) for claim in fading})

    def _after_trouble(self, error: DBAPIError) -> bool:
        """The database is away or busy: what came back is kept, and written later. True while there is such."""
        log.warning("deliveries_wait_for_the_database", error=type(error.orig).__name__)
        db.session.rollback()
        time.sleep(PAUSE_AFTER_TROUBLE_SECONDS)
        return bool(self._flying or self._unwritten)

    def _ready(self, claim: Claim, good_until: float) -> Post:
        try:
            secret = self._unseal(claim.sealed_secret) if claim.sealed_secret is not None else None
        except InvalidToken:
            log.error("webhook_secret_unreadable", subscription_id=claim.subscription_id)
            return Post(claim, None, False, good_until)
        return Post(claim, secret, True, good_until)

    def _send(self, post: Post) -> None:
        """Make one POST, on a sender's thread. Whatever happens, a result comes back."""
        try:
            done = self._post(post)
        except Exception:  # a defect of ours must not leave the delivery with a sender that is gone
            log.exception("delivery_broke", delivery_id=post.claim.delivery_id)
            done = Outcome(post.claim, clock.now_ms(), 0, None, "INTERNAL", b"", None)
        self._incoming.put(done)

    def _post(self, post: Post) -> Done:
        claim, at = post.claim, clock.now_ms()
        if stopping.is_asked() or time.monotonic() > post.good_until:
            return GivenBack(claim)
        if not post.usable:
            return Outcome(claim, at, 0, None, "SECRET_UNREADABLE", b"", None)
        body = record.body(claim.delivery_id, claim.event_id, claim.event, claim.account_id, at, claim.payload)
        sent = guarded.post(
            claim.url,
            body,
            signing.headers(claim.event, claim.delivery_id, at, body, post.secret),
            timeout_seconds=self._settings.webhook_timeout_seconds,
            allow_private=self._settings.webhook_allow_private_hosts,
        )
        if sent.error == "NO_RESOURCES":
            return GivenBack(claim, NO_RESOURCES_WAIT_MS)
        return Outcome(claim, at, sent.milliseconds, sent.status, sent.error, sent.answer, sent.address, sent.location)


def ladder_of(settings: Settings) -> Ladder:
    """How often and how long between, by the settings."""
    waits = [round(seconds * 1000) for seconds in settings.webhook_backoff_seconds]
    return Ladder(settings.webhook_max_attempts, waits)


def longest_wait_ms(ladder: Ladder) -> int:
    return max(ladder.waits_ms) + BEYOND_THE_LADDER_MS


def drain() -> int:
    """One pass in this process, at most one attempt of each delivery; returns how many POSTs were made."""
    settings: Settings = current_app.config["SETTINGS"]
    return Drain(settings, once=True).run()


class Background:
    """This process's drain on a thread of its own: one at a time, whoever wakes it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._drain: Drain | None = None
        self._thread: threading.Thread | None = None
        self._woken = False

    def wake(self) -> None:
        """Start a drain, or have the one that runs look again."""
        app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # a proxy
        with self._lock:
            if stopping.is_asked():
                return
            self._woken = True
            if self._drain is not None:
                self._drain.look_again()
                return
            self._drain = Drain(app.config["SETTINGS"])
            self._thread = threading.Thread(target=self._run, args=(app,), name="deliveries", daemon=True)
            self._thread.start()

    def is_running(self) -> bool:
        return self._drain is not None

    def finish(self, seconds: float) -> None:
        """Wait until the drain has ended, after `stopping.ask()`."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(seconds)

    def _run(self, app: Flask) -> None:
        while self._begins():
            try:
                with app.app_context():
                    assert self._drain is not None
                    self._drain.run()
            except Exception:  # the database is away at the first look, or a defect: the sweep starts another
                log.exception("drain_failed")

    def _begins(self) -> bool:
        """Whether to look (once more); else the next `wake` starts a thread."""
        with self._lock:
            if self._woken and not stopping.is_asked():
                self._woken = False
                return True
            self._drain = None
            return False


background = Background()


def wake() -> None:
    """What the queue's wake-up runs: sees to it that this process drains, and leaves its worker free at once."""
    queue.handle().begin(record.JOB)
    background.wake()


def sweep_aside() -> None:
    """Drain what is due without Redis, on a thread of its own."""
    if background.is_running():
        return
    settings: Settings = current_app.config["SETTINGS"]
    lease_ms = round(settings.webhook_lease_seconds * 1000)
    take_back = _clock_watch.leases_can_be_trusted(settings.webhook_lease_seconds)
    if claiming.something_is_due(lease_ms, longest_wait_ms(ladder_of(settings)), take_back=take_back):
        background.wake()


def finish() -> None:
    """At the end of a process: POSTs under way are waited for and written, nothing new is begun."""
    stopping.ask()
    background.finish(FINISH_SECONDS)
