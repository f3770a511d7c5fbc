"""One delivery: every attempt, what to check, and the request exactly as it is sent."""

from __future__ import annotations

from collections.abc import Mapping

from flask import Response, request
from flask_babel import gettext as _

from blueprints.access import allow
from blueprints.page import is_fragment, show
from core import clock
from domain.events.delivery import Delivery, DeliveryAttempt, questions, record
from domain.events.subscription import Subscription
from outbound import guarded, signing
from outbound.resolve import UrlRefused, check_url

from . import words
from .screen import DELIVERY, delivery_of, ever, screen

# A page shows this much of a body; the whole is a download.
BODY_SHOWN = 16 << 10


@screen.get(DELIVERY)
@allow("webhooks:manage")
def delivery(account_id: str, subscription_id: str, delivery_id: str) -> str:
    """Where a delivery stands. A page that asks again gets the request only where it was sent since."""
    subscription = ever(account_id, subscription_id)
    found = delivery_of(account_id, subscription_id, delivery_id)
    at = _at(found)
    body = _body(found, at)
    return show(
        "webhooks/delivery.html",
        "webhooks/_delivery.html",
        subscription=subscription,
        delivery=found,
        attempts=[(each, _answer(each)) for each in questions.attempts(found)],
        headers=_headers(subscription, found, at, body),
        body=body[:BODY_SHOWN].decode(errors="ignore"),
        is_whole=len(body) <= BODY_SHOWN,
        shows_request=not is_fragment() or request.args.get("seen") != str(found.last_sent_at or 0),
        words=words,
    )


@screen.get(DELIVERY + "/body.json")
@allow("webhooks:manage")
def delivery_body(account_id: str, subscription_id: str, delivery_id: str) -> Response:
    """The exact bytes of the body, as a file."""
    found = delivery_of(account_id, subscription_id, delivery_id)
    body = _body(found, _at(found))
    answer = Response(body, mimetype="application/json")
    answer.headers.set("Content-Disposition", "attachment", filename=f"{delivery_id}.json")
    return answer


def _at(found: Delivery) -> int:
    """The timestamp of the last attempt; of one made now where there was none. Ask once for all that is shown of it."""
    return found.last_sent_at or clock.now_ms()


def _body(found: Delivery, at: int) -> bytes:
    return record.body(found.id, found.event_id, found.event, found.account_id, at, found.payload)


def _headers(subscription: Subscription, found: Delivery, at: int, body: bytes) -> list[tuple[str, str]]:
    """Name and value of every header; of the signatures, how they are made."""
    named: Mapping[str, str] = signing.headers(found.event, found.id, at, body, None)
    try:
        target = check_url(subscription.url, allow_private=True)
        named = guarded.headers_sent(target, body, named)
    except UrlRefused:  # registered under other rules: it is not sent at all
        pass
    return [*named.items(), *(_signatures(at) if subscription.sealed_secret else [])]


def _signatures(at: int) -> list[tuple[str, str]]:
    return [
        (signing.SIGNATURE, _("sha256= and the HMAC-SHA256 of the body with the secret, in hexadecimal")),
        (
            signing.SIGNATURE_V2,
            _(
                "t=%(time)s,sha256= and the HMAC-SHA256 of “%(time)s.” and the body with the secret, in hexadecimal",
                time=at,
            ),
        ),
    ]


def _answer(attempt: DeliveryAttempt) -> str:
    """The first KiB of the answer as text; control characters stand as their pictures."""
    return guarded.visible(bytes(attempt.answer).decode("utf-8", "replace"), but="\t\n\r")
