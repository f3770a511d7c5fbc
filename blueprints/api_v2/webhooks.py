"""Webhook subscriptions over the public API (service.md 4.2, contract 2)."""

from __future__ import annotations

from flask import Response
from flask_babel import force_locale

from blueprints import webhook_urls
from blueprints.api.answers import answer
from blueprints.api.operation import Call
from blueprints.sentences import sentence
from contract.errors import unknown_event_types, webhook_url_refused
from contract.webhooks import WebhookDeleted, WebhookPatch, WebhookRegister, WebhookSubscription
from core.db import db, transaction
from core.errors import Refused
from domain.events import subscription as subscriptions

from . import operations

operation = operations.group("webhooks")


@operation.get("/webhooks", scope="webhooks:manage", answers={200: list[WebhookSubscription]})
def list_webhooks(call: Call) -> Response:
    """List every webhook of the account, in the order of registration.

    The list has no pages.
    """
    found = db.session.scalars(subscriptions.of_account(call.account_id))
    return answer([subscriptions.as_public(subscription) for subscription in found])


@operation.post(
    "/webhooks",
    scope="webhooks:manage",
    body=WebhookRegister,
    answers={201: WebhookSubscription},
    refusals=("UNKNOWN_EVENT_TYPES", "WEBHOOK_URL_REFUSED"),
)
def register_webhook(call: Call, body: WebhookRegister) -> Response:
    """Register a URL for events.

    A host that is or resolves to an address outside the public internet is refused, now and at each delivery. A name
    that does not resolve yet is accepted. The URL, the events and the secret cannot be changed here: to change the
    first two, delete the webhook and register another; for the secret there is a call that rotates it.
    """
    _check(body.url)
    try:
        with transaction():
            made = subscriptions.register(call.account_id, body, call.actor)
    except Refused as refused:
        if refused.code != "UNKNOWN_EVENT_TYPES":
            raise
        raise unknown_event_types(refused.params["unknown"], _in_english(refused)) from None
    return answer(subscriptions.as_public(made), status=201)


@operation.patch(
    "/webhooks/<subscription_id>", scope="webhooks:manage", body=WebhookPatch, answers={200: WebhookSubscription}
)
def switch_webhook(call: Call, subscription_id: str, body: WebhookPatch) -> Response:
    """Activate or deactivate a webhook.

    An inactive webhook gets no new deliveries. Those that wait stay queued and go when it is active again.
    """
    with transaction():
        found = subscriptions.get(call.account_id, subscription_id, lock=True)
        subscriptions.set_active(found, body.is_active, call.actor)
    return answer(subscriptions.as_public(found))


@operation.delete("/webhooks/<subscription_id>", scope="webhooks:manage", answers={200: WebhookDeleted})
def delete_webhook(call: Call, subscription_id: str) -> Response:
    """Remove a webhook. What waits for it is cancelled."""
    with transaction():
        subscriptions.delete(subscriptions.get(call.account_id, subscription_id, lock=True), call.actor)
    return answer({"subscriptionId": subscription_id})


def _check(url: str) -> None:
    try:
        webhook_urls.check(url)
    except Refused as refused:
        raise webhook_url_refused(_in_english(refused)) from None


def _in_english(refused: Refused) -> str:
    with force_locale("en"):
        return sentence(refused)
