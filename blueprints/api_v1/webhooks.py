"""Webhooks over v1: the rotation of a secret."""

from __future__ import annotations

from flask import Response

from blueprints.api.answers import answer
from blueprints.api.operation import Call
from contract.webhooks import RotatedSecret, RotateSecret
from core.db import transaction
from domain.events import subscription as subscriptions

from . import operations

operation = operations.group("webhooks")


@operation.post(
    "/webhooks/<subscription_id>/rotate-secret",
    scope="webhooks:manage",
    permission="webhooks:manage",
    body=RotateSecret,
    may_be_empty=True,
    answers={200: RotatedSecret},
)
def rotate_secret(call: Call, subscription_id: str, body: RotateSecret) -> Response:
    """Rotate a webhook's secret in place, and get the new one this once.

    The webhook and everything queued for it stay. The next attempt of each delivery is signed with the new secret, in
    both headers, so accept the old and the new one for at least seven minutes. A webhook without a secret gets one.
    """
    with transaction():
        found = subscriptions.get(call.account_id, subscription_id, lock=True)
        secret = subscriptions.rotate(found, call.actor)
    return answer({"subscriptionId": subscription_id, "secret": secret})
