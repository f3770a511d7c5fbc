"""A webhook's page: its health and the log of its deliveries, filtered and paged by the address."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from flask import request
from flask_babel import gettext as _

from blueprints.access import allow
from blueprints.page import same_page, show
from blueprints.shortened import shortened
from core.ids import is_id, new_id
from domain.events.catalogue import CATALOGUE, EVENTS, is_sent
from domain.events.delivery import questions
from domain.events.delivery.questions import LogPage
from domain.events.subscription import Subscription

from . import words
from .ranges import PREFIX, Range
from .screen import ONE, ever, log_url, screen
from .sending import question
from .switching import rotation_question

ROWS = 50
_NO_RANGE = dict.fromkeys(PREFIX + each.name for each in fields(Range))


@dataclass(frozen=True)
class Asked(Range):
    """The filters as the address says them."""

    state: str = ""
    id: str = ""

    @property
    def is_filtered(self) -> bool:
        return self != Asked()

    @property
    def problems(self) -> list[str]:
        """Sentences about what could not be read."""
        found = []
        if self.state and self.state not in words.STATES:
            found.append(_("There is no state “%(text)s”; all are shown.", text=shortened(self.state)))
        if self.event and self.event not in EVENTS:
            found.append(_("There is no event “%(text)s”; all are shown.", text=shortened(self.event)))
        if self.id and not is_id(self._whole_id, "dlv") and not is_id(self._whole_id, "evt"):
            found.append(
                _("“%(text)s” is no id of a delivery or an event. Paste the whole id.", text=shortened(self.id))
            )
        for text, moment in ((self.since, self.first), (self.until, self.last)):
            if text and moment is None:
                found.append(_("“%(text)s” is no date and time. Write it like 2026-09-17T09:00.", text=shortened(text)))
        return found

    def wanted(self) -> questions.Wanted:
        """The same for the log; what could not be read is left out."""
        return questions.Wanted(
            state=self.state if self.state in words.STATES else "",
            event=self.event if self.event in EVENTS else "",
            since=self.first,
            until=self.last,
            id=self._whole_id,
        )

    @property
    def _whole_id(self) -> str:
        return self.id.lower()


@screen.get(ONE, endpoint="show")
@allow("webhooks:manage")
def subscription_page(account_id: str, subscription_id: str) -> str:
    """One webhook and its log, newest first."""
    subscription = ever(account_id, subscription_id)
    asked = Asked.read(request.args)
    page = _page(subscription, asked)
    again = Range.read(request.args, PREFIX)
    health = questions.health(account_id, subscription_id).get(subscription_id)
    return show(
        "webhooks/log.html",
        "webhooks/_log.html",
        subscription=subscription,
        health=health,
        asked=asked,
        page=page,
        here=same_page(**_NO_RANGE),
        newer_url=same_page(after=page.newer, before=None, **_NO_RANGE) if page.newer else None,
        older_url=same_page(before=page.older, after=None, **_NO_RANGE) if page.older else None,
        again=again,
        problem=again.problem(subscription_id) if _NO_RANGE.keys() & request.args.keys() else None,
        is_sent=is_sent,
        is_silent=not any(map(is_sent, subscription.events)),
        states=[("", _("All states")), *((code, word) for code, (word, _tone) in words.STATES.items())],
        events=event_choices(),
        clear_url=log_url(account_id, subscription_id),
        form_key=new_id("evt"),
        rotation_question=rotation_question(subscription.sealed_secret is not None),
        question_for_one=question(1, "{count}"),
        question_for_more=question(2, "{count}"),
        words=words,
    )


def event_choices() -> list[tuple[str, Any]]:
    """Choices of an event selector; the first leaves it open."""
    return [("", _("All events")), *((name, name) for names in CATALOGUE.values() for name in names)]


def _page(subscription: Subscription, asked: Asked) -> LogPage:
    return questions.log(
        subscription.account_id,
        subscription.id,
        asked.wanted(),
        older_than=_place("before"),
        newer_than=_place("after"),
        limit=ROWS,
    )


def _place(name: str) -> str | None:
    text = request.args.get(name, "")
    return text if is_id(text, "dlv") else None
