"""A webhook's page: its health and the log of its deliveries, filtered and paged by the address."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from flask import request, url_for
from flask_babel import gettext as _

from blueprints.access import allow
from blueprints.page import same_page, show
from core import clock
from core.ids import is_id, new_id
from domain.events.catalogue import CATALOGUE, EVENTS
from domain.events.delivery import questions
from domain.events.delivery.questions import LogPage
from domain.events.subscription import Subscription

from . import words
from .screen import ONE, ever, screen
from .switching import removal_question, rotation_question

ROWS = 50


@dataclass
class Asked:
    """The filters as the address says them; `problems` are sentences about what could not be read."""

    state: str = ""
    event: str = ""
    since: str = ""
    until: str = ""
    id: str = ""
    problems: list[str] = field(default_factory=list)

    @property
    def is_filtered(self) -> bool:
        return bool(self.state or self.event or self.since or self.until or self.id)

    def wanted(self) -> questions.Wanted:
        """The same for the log; what could not be read is left out. The last minute counts whole."""
        last = instant(self.until)
        return questions.Wanted(
            state=self.state if self.state in words.STATES else "",
            event=self.event if self.event in EVENTS else "",
            since=instant(self.since),
            until=last + clock.MINUTE_MS - 1 if last is not None else None,
            id=self.id,
        )


@screen.get(ONE, endpoint="show")
@allow("webhooks:manage")
def subscription_page(account_id: str, subscription_id: str) -> str:
    """One webhook and its log, newest first."""
    subscription = ever(account_id, subscription_id)
    asked = asked_for()
    page = _page(subscription, asked)
    health = questions.health(account_id, subscription_id).get(subscription_id)
    return show(
        "webhooks/log.html",
        "webhooks/_log.html",
        subscription=subscription,
        health=health,
        asked=asked,
        page=page,
        newer_url=same_page(after=page.newer, before=None) if page.newer else None,
        older_url=same_page(before=page.older, after=None) if page.older else None,
        states=[("", _("All states")), *((code, word) for code, (word, _tone) in words.STATES.items())],
        events=event_choices(),
        clear_url=url_for("webhooks.show", account_id=account_id, subscription_id=subscription_id),
        form_key=new_id("evt"),
        rotation_question=rotation_question(subscription.sealed_secret is not None),
        removal_question=removal_question(health.waiting if health else 0),
        words=words,
    )


def asked_for() -> Asked:
    """What the address asks for."""
    state, event, since, until, one = (
        request.args.get(name, "").strip() for name in ("state", "event", "since", "until", "id")
    )
    asked = Asked(state, event, since, until, one)
    if asked.state and asked.state not in words.STATES:
        asked.problems.append(_("There is no state “%(text)s”; all are shown.", text=asked.state))
    if asked.event and asked.event not in EVENTS:
        asked.problems.append(_("There is no event “%(text)s”; all are shown.", text=asked.event))
    for text in (asked.since, asked.until):
        if text and instant(text) is None:
            asked.problems.append(_("“%(text)s” is no date and time. Write it like 2026-09-17T09:00.", text=text))
    return asked


def event_choices() -> list[tuple[str, Any]]:
    """Choices of an event selector; the first leaves it open."""
    return [("", _("All events")), *((name, name) for names in CATALOGUE.values() for name in names)]


def instant(text: str) -> int | None:
    """Epoch ms of a date and time in UTC, as a browser's field writes it; None where it is none."""
    try:
        read = datetime.fromisoformat(text)
        return round((read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


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
