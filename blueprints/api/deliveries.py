"""What the OpenAPI documents say of the requests that this service sends: one entry for each event it raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contract.events import PAYLOADS
from contract.webhooks import DeliveryEnvelope
from outbound import signing

from .examples import PAYLOAD_EXAMPLES, envelope

HEADERS = {
    signing.EVENT: "The event's name.",
    signing.DELIVERY: "The delivery's id, the same as `id` in the body.",
    signing.TIMESTAMP: "Epoch milliseconds of this attempt.",
    signing.SIGNATURE: "`sha256=` and the hex HMAC-SHA256 of the raw body. Only where the webhook has a secret.",
    signing.SIGNATURE_V2: "`t=<timestamp>,sha256=<hex>`: the HMAC-SHA256 of `<timestamp>.<raw body>`. Preferred.",
}
ALWAYS_SENT = (signing.EVENT, signing.DELIVERY, signing.TIMESTAMP)


def webhooks(put: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """The `webhooks` of a document. `put` takes a shape among the document's schemas and returns its reference."""
    return {name: {"post": _delivery(name, put)} for name in PAYLOADS}


def _delivery(name: str, put: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    of_this_event = {"properties": {"event": {"const": name}, "payload": put(PAYLOADS[name])}}
    media = {
        "schema": {"allOf": [put(DeliveryEnvelope), of_this_event]},
        "example": envelope(name, PAYLOAD_EXAMPLES[name]),
    }
    return {
        "summary": name,
        "tags": ["webhooks"],
        "security": [],
        "parameters": [_header(header, text) for header, text in HEADERS.items()],
        "requestBody": {"required": True, "content": {"application/json": media}},
        "responses": {
            "2XX": {"description": "Accepted."},
            "default": {"description": "A failed attempt; the delivery is tried again until its attempts are used up."},
        },
    }


def _header(name: str, text: str) -> dict[str, Any]:
    required = name in ALWAYS_SENT
    return {"name": name, "in": "header", "required": required, "description": text, "schema": {"type": "string"}}
