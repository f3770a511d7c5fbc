"""Sending on request: a test, and again what was given up: one delivery, a selection, or a time range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import flash, redirect, request
from flask_babel import gettext as _
from flask_babel import ngettext

from blueprints.access import allow
from blueprints.creation import id_from, once
from blueprints.page import actor, number, with_query
from blueprints.sentences import sentence
from core.db import transaction
from core.errors import Refused
from core.ids import is_id
from domain.events import event
from domain.events import subscription as subscriptions
from domain.events.delivery import Delivery, questions, refiring

from .ranges import Range
from .screen import DELIVERY, ONE, ask_first, delivery_of, delivery_url, log_url, screen, to_log

SELECTED_AT_MOST = 500


@screen.post(ONE + "/test")
@allow("webhooks:manage")
def test(account_id: str, subscription_id: str) -> Any:
    """Send a real `webhook.test` to this webhook alone; the form sent twice sends it once."""
    event_id = id_from(request.form.get("form_key", ""), "evt")
    try:
        made = once(
            lambda: _send_test(account_id, subscription_id, event_id),
            lambda: bool(_of_event(account_id, subscription_id, event_id)),
        )
    except Refused as refused:
        flash(sentence(refused), "danger")
        return to_log(account_id, subscription_id)
    sent = _of_event(account_id, subscription_id, event_id)[0]
    if made or sent.state == "queued":
        flash(_("A test is on its way."), "success")
    else:
        flash(_("The form was sent twice, and sent this test once."), "info")
    return _to_delivery(account_id, subscription_id, sent.id)


def _send_test(account_id: str, subscription_id: str, event_id: str) -> bool:
    with transaction():
        found = subscriptions.get(account_id, subscription_id, lock=True)
        event.test_send(found, actor(), event_id=event_id)
    return True


def _of_event(account_id: str, subscription_id: str, event_id: str) -> Sequence[Delivery]:
    return questions.log(account_id, subscription_id, questions.Wanted(id=event_id), limit=1).rows


@screen.post(DELIVERY + "/again")
@allow("webhooks:manage")
def refire(account_id: str, subscription_id: str, delivery_id: str) -> Any:
    """Send a delivery that was given up again, under the same id."""
    delivery_of(account_id, subscription_id, delivery_id)
    if request.form.get("confirmed") != "1":
        return _ask(question(1), delivery_url(account_id, subscription_id, delivery_id))
    try:
        with transaction():
            refiring.refire(account_id, delivery_id, actor())
        _say_begun(account_id, subscription_id, 1)
    except Refused as refused:
        if delivery_of(account_id, subscription_id, delivery_id).state == "queued":
            flash(_("This delivery is on its way again."), "info")
        else:
            flash(sentence(refused), "danger")
    return _to_delivery(account_id, subscription_id, delivery_id)


@screen.post(ONE + "/again")
@allow("webhooks:manage")
def refire_selected(account_id: str, subscription_id: str) -> Any:
    """Send again what was ticked, as far as it was given up."""
    subscriptions.get(account_id, subscription_id)
    chosen = [each for each in request.form.getlist("chosen") if is_id(each, "dlv")][:SELECTED_AT_MOST]
    if not chosen:
        flash(_("Tick the deliveries to send again first."), "danger")
        return to_log(account_id, subscription_id)
    if request.form.get("confirmed") != "1":
        return _ask(question(len(chosen)), log_url(account_id, subscription_id))
    with transaction():
        count = refiring.refire_selected(account_id, subscription_id, chosen, actor())
    _say_begun(account_id, subscription_id, count)
    return to_log(account_id, subscription_id)


@screen.post(ONE + "/again/range")
@allow("webhooks:manage")
def refire_range(account_id: str, subscription_id: str) -> Any:
    """Send again what was given up between two times; first says how many that are."""
    subscriptions.get(account_id, subscription_id)
    asked = Range.read(request.form)
    problem = asked.problem(subscription_id)
    if problem is not None or asked.first is None or asked.last is None:
        return _to_range(account_id, subscription_id, asked, problem[0] if problem else "since")
    if request.form.get("confirmed") != "1":
        return _ask(question(asked.count(subscription_id)), log_url(account_id, subscription_id))
    with transaction():
        count = refiring.refire_range(
            account_id, subscription_id, actor(), since=asked.first, until=asked.last, event=asked.event
        )
    _say_begun(account_id, subscription_id, count)
    return to_log(account_id, subscription_id)


def question(count: int, shown: str = "") -> str:
    """Whether so many are to be sent again; `shown` stands in the number's place for a script that knows it later."""
    return ngettext(
        "Send %(count)s delivery again? It keeps its id, so a receiver that has seen it can leave it out.",
        "Send %(count)s deliveries again? They keep their ids, so a receiver that has seen them can leave them out.",
        count,
        count=shown or number(count),
    )


def _say_begun(account_id: str, subscription_id: str, count: int) -> None:
    if not count:
        flash(_("None of these is given up any more: they are on their way again, or have arrived."), "info")
    elif subscriptions.get(account_id, subscription_id).is_active:
        flash(_are_sent(count), "success")
    else:
        flash(_wait(count), "warning")


def _are_sent(count: int) -> str:
    return ngettext(
        "%(count)s delivery is sent again.", "%(count)s deliveries are sent again.", count, count=number(count)
    )


def _wait(count: int) -> str:
    return ngettext(
        "%(count)s delivery waits: it is sent once this webhook is active again.",
        "%(count)s deliveries wait: they are sent once this webhook is active again.",
        count,
        count=number(count),
    )


def _ask(question: str, back: str) -> str:
    return ask_first(_("Send again"), question, _("Send again"), back, tone="calm", fields=request.form)


def _to_range(account_id: str, subscription_id: str, asked: Range, field: str) -> Any:
    """Back to the field of the range that is wrong, with what was entered; the page says again what is wrong."""
    page = with_query(log_url(account_id, subscription_id), asked.in_address())
    return redirect(f"{page}#again-{field}", 303)


def _to_delivery(account_id: str, subscription_id: str, delivery_id: str) -> Any:
    return redirect(delivery_url(account_id, subscription_id, delivery_id), 303)
