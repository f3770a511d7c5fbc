"""What the OpenAPI documents say of the requests that this service sends: one entry for each event of the catalogue."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter

from contract.events import PAYLOADS, is_sent
from contract.webhooks import DeliveryEnvelope, DeliveryHeaders

from .examples import PAYLOAD_EXAMPLES, envelope

HEADERS: dict[str, Any] = TypeAdapter(DeliveryHeaders).json_schema()


def webhooks(put: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """The `webhooks` of a document. `put` takes a shape among the document's schemas and returns its reference."""
    return {name: {"post": _delivery(name, put)} for name in PAYLOADS}


def parameters() -> dict[str, Any]:
    """The headers of every delivery, among the components of a document that has `webhooks`."""
    return {header: _header(header, schema) for header, schema in HEADERS["properties"].items()}


def _delivery(name: str, put: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    of_this_event = {"properties": {"event": {"const": name}, "payload": put(PAYLOADS[name])}}
    media = {
        "schema": {"allOf": [put(DeliveryEnvelope), of_this_event]},
        "example": envelope(name, PAYLOAD_EXAMPLES[name]),
    }
    still_to_come = {} if is_sent(name) else {"description": "This version does not send it yet."}
    return {
        "summary": name,
        **still_to_come,
        "tags": ["webhooks"],
        "security": [],
        "parameters": [{"$ref": f"#/components/parameters/{header}"} for header in HEADERS["properties"]],
        "requestBody": {"required": True, "content": {"application/json": media}},
        "responses": {
            "2XX": {"description": "Accepted."},
            "default": {"description": "A failed attempt; the delivery is tried again until its attempts are used up."},
        },
    }


def _header(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """A header as OpenAPI lists it."""
    return {
        "name": name,
        "in": "header",
        "required": name in HEADERS["required"],
        "description": schema["description"],
        "schema": {"type": schema["type"]},
    }
