"""The blueprint, how its pages find a subscription or a delivery, where they lead, and how they ask first."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, redirect, render_template, request, url_for
from sqlalchemy import select

from core.db import db
from core.errors import NotFound
from domain.events.delivery import Delivery, questions
from domain.events.subscription import Subscription

from . import words

screen = Blueprint("webhooks", __name__)
screen.app_template_filter("share")(words.share)
screen.app_template_filter("broken")(words.broken)

BASE = "/accounts/<account_id>/webhooks"
ONE = BASE + "/<subscription_id>"
DELIVERY = ONE + "/deliveries/<delivery_id>"


def ever(account_id: str, subscription_id: str) -> Subscription:
    """The account's subscription, deleted or not: its log stays."""
    query = select(Subscription).where(Subscription.id == subscription_id, Subscription.account_id == account_id)
    found = db.session.scalar(query)
    if found is None:
        raise NotFound("webhook")
    return found


def delivery_of(account_id: str, subscription_id: str, delivery_id: str) -> Delivery:
    """A delivery to this subscription."""
    found = questions.get(account_id, delivery_id)
    if found.subscription_id != subscription_id:
        raise NotFound("delivery")
    return found


def log_url(account_id: str, subscription_id: str) -> str:
    return url_for("webhooks.show", account_id=account_id, subscription_id=subscription_id)


def delivery_url(account_id: str, subscription_id: str, delivery_id: str) -> str:
    return url_for("webhooks.delivery", account_id=account_id, subscription_id=subscription_id, delivery_id=delivery_id)


def to_list(account_id: str) -> Any:
    return redirect(url_for("webhooks.index", account_id=account_id), 303)


def to_log(account_id: str, subscription_id: str) -> Any:
    return redirect(log_url(account_id, subscription_id), 303)


def ask_first(title: str, sentence: str, button: str, back: str, **more: Any) -> str:
    """The page that asks before what was pressed is done; `more` goes to it as it stands there."""
    return render_template(
        "components/confirm_page.html",
        title=title,
        sentence=sentence,
        button=button,
        action=request.path,
        cancel_url=back,
        **more,
    )
