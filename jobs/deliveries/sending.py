"""The threads that make POSTs. They get plain values and touch no database."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from queue import SimpleQueue

import structlog

from core import clock
from core.settings import Settings
from domain.events.delivery import record
from domain.events.delivery.claiming import Claim
from domain.events.delivery.results import GivenBack, Outcome
from jobs import stopping
from outbound import guarded, signing

# What this machine has no thread or socket for is tried again after this.
NO_RESOURCES_WAIT_MS = 5_000

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


class Senders:
    """As many threads as there were ever POSTs at once. What comes of each goes to `results`, from any of them.

    Not an executor: that queues a task before it has a thread for it, so that one which was refused for want of a
    thread is done later all the same.
    """

    def __init__(self, settings: Settings, results: SimpleQueue[Done | None]) -> None:
        self._settings = settings
        self._results = results
        self._posts: SimpleQueue[Post | None] = SimpleQueue()
        self.count = 0

    def take(self, post: Post, under_way: int) -> bool:
        """Send this while so many others are under way; False where the machine has no thread left for it."""
        if under_way >= self.count and not self._has_one_more():
            return False
        self._posts.put(post)
        return True

    def end(self) -> None:
        """Let the threads go once they have done what they have."""
        for _ in range(self.count):
            self._posts.put(None)

    def _has_one_more(self) -> bool:
        # A daemon: at the end of the process a POST is waited for by `finish`, and a thread that idles by nobody.
        try:
            threading.Thread(target=self._work, name=f"delivery-{self.count}", daemon=True).start()
        except RuntimeError:  # "can't start new thread"
            log.warning("no_thread_left", threads=self.count)
            return False
        self.count += 1
        return True

    def _work(self) -> None:
        while (post := self._posts.get()) is not None:
            self._results.put(self._send(post))

    def _send(self, post: Post) -> Done:
        """Make one POST. Whatever happens, a result comes back."""
        try:
            return self._post(post)
        except Exception:  # a defect of ours must not leave the delivery with a sender that is gone
            log.exception("delivery_broke", delivery_id=post.claim.delivery_id)
            return Outcome(post.claim, clock.now_ms(), 0, None, "INTERNAL", b"", None)

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
