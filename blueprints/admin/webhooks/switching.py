"""Activating, deactivating, rotating the secret of a webhook, and deleting it."""

from __future__ import annotations

from typing import Any

from flask import flash, render_template, request
from flask_babel import gettext as _
from flask_babel import ngettext

from blueprints.access import allow
from blueprints.page import actor, number
from blueprints.shortened import shortened
from core.db import transaction
from domain.events import subscription as subscriptions
from domain.events.delivery import questions

from .screen import ONE, ask_first, log_url, screen, to_list, to_log


@screen.post(ONE + "/activity")
@allow("webhooks:manage")
def switch(account_id: str, subscription_id: str) -> Any:
    """Activate or deactivate; what waits stays queued meanwhile."""
    is_active = request.form.get("active") == "1"
    with transaction():
        subscriptions.set_active(subscriptions.get(account_id, subscription_id, lock=True), is_active, actor())
    if is_active:
        flash(_("The webhook is active again. What waited is sent now."), "success")
    else:
        flash(_("The webhook is inactive: it gets nothing new, and what waits stays queued."), "success")
    return to_log(account_id, subscription_id)


@screen.post(ONE + "/rotation")
@allow("webhooks:manage")
def rotate(account_id: str, subscription_id: str) -> Any:
    """Give it a new secret, which is on this answer alone: in no address, no cookie and no log.

    A reload of that answer sends the form again: `seen` has then passed, and it is asked anew instead of rotated.
    """
    seen = request.form.get("seen", "")
    secret, was_signed = None, False
    if request.form.get("confirmed") == "1":
        with transaction():
            found = subscriptions.get(account_id, subscription_id, lock=True)
            was_signed = found.sealed_secret is not None
            secret = subscriptions.rotate(found, actor()) if seen == str(found.updated_at) else None
    found = subscriptions.get(account_id, subscription_id)
    if secret is None:
        fields = {"seen": str(found.updated_at)}
        question = rotation_question(found.sealed_secret is not None)
        back = log_url(account_id, subscription_id)
        return ask_first(_("Rotate the secret"), question, _("Rotate"), back, tone="calm", fields=fields)
    return render_template("webhooks/rotated.html", subscription=found, secret=secret, was_signed=was_signed)


@screen.post(ONE + "/removal")
@allow("webhooks:manage")
def delete(account_id: str, subscription_id: str) -> Any:
    """Delete a webhook, once it was read what happens to what waits."""
    found = subscriptions.get(account_id, subscription_id)
    if request.form.get("confirmed") != "1":
        waiting = questions.health(account_id, subscription_id)[subscription_id].waiting
        back = log_url(account_id, subscription_id)
        return ask_first(_("Delete the webhook"), removal_question(waiting), _("Delete"), back)
    with transaction():
        found = subscriptions.get(account_id, subscription_id, lock=True)
        url = found.url
        subscriptions.delete(found, actor())
    flash(_("The webhook to %(url)s is deleted. Its log stays.", url=shortened(url)), "success")
    return to_list(account_id)


def rotation_question(is_signed: bool) -> str:
    said = _("Everything sent from now on is signed with a new secret, also what waits.")
    return f"{said} {_('Let the receiver accept the old and the new one for seven minutes.')}" if is_signed else said


def removal_question(waiting: int) -> str:
    if not waiting:
        return _("Nothing is sent to it any more. This cannot be taken back.")
    return ngettext(
        "Nothing is sent to it any more, and %(count)s delivery that waits is cancelled. This cannot be taken back.",
        "Nothing is sent to it any more, and %(count)s deliveries that wait are cancelled. This cannot be taken back.",
        waiting,
        count=number(waiting),
    )
