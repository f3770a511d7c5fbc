"""What the reference says of the requests that this service sends: one worked out, the code that verifies it, and
every event of the catalogue."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from blueprints.admin.webhooks.receiver import sample
from blueprints.api import examples, openapi
from blueprints.api.deliveries import HEADERS
from blueprints.api_v2 import operations
from contract.events import CATALOGUE, EVENTS, is_sent
from domain.events.catalogue import AT_MOST_ONCE
from domain.events.delivery import record
from outbound import signing

from .reference import Property, properties, resolved

SHOWN_EVENT = "campaign.status.changed"
VERIFY = sample("python")  # one verifier, here and in the receiver kit


@dataclass(frozen=True)
class Told:
    """One event of the catalogue. `is_sent`: whether this version raises it by now."""

    name: str
    is_sent: bool
    is_at_most_once: bool
    payload: list[Property]
    example: str


def catalogue() -> list[tuple[str, list[Told]]]:
    """The catalogue's groups with their events, in its order."""
    document = openapi.document(operations, "webhooks")
    return [(group, [_told(name, document) for name in names]) for group, names in CATALOGUE.items()]


def objects() -> list[tuple[str, list[Property]]]:
    """The objects that payloads hold, each once, by their names in the OpenAPI document."""
    document = openapi.document(operations, "webhooks")
    schemas = document["components"]["schemas"]
    held = [part for name in EVENTS for part in resolved(_payload(name, document), schemas)["properties"].values()]
    references = {part.get("$ref") or part.get("items", {}).get("$ref") for part in held} - {None}
    names = sorted(reference.rpartition("/")[2] for reference in references)
    return [(name, properties(schemas[name], schemas)) for name in names]


def envelope() -> list[Property]:
    """The properties of a delivery's body, in their order."""
    schemas = openapi.document(operations, "webhooks")["components"]["schemas"]
    return properties(schemas["DeliveryEnvelope"], schemas)


def request() -> str:
    """A whole request as a receiver gets it, with signatures that fit it."""
    body = shown_body()
    secret = examples.EXAMPLES["registerWebhook"].body or {}
    headers = signing.headers(SHOWN_EVENT, examples.DELIVERY, examples.SENT_AT, body, secret["secret"])
    first = ["POST /assessor HTTP/1.1", "Host: hooks.example.com", "Content-Type: application/json"]
    return "\n".join([*first, *(f"{name}: {value}" for name, value in headers.items()), "", body.decode()])


def shown_body() -> bytes:
    """The exact bytes of the body in `request`."""
    payload = json.dumps(examples.PAYLOAD_EXAMPLES[SHOWN_EVENT], separators=(",", ":"))
    return record.body(examples.DELIVERY, examples.EVENT, SHOWN_EVENT, examples.ACCOUNT, examples.SENT_AT, payload)


def headers() -> list[Property]:
    """The headers of a delivery, in their order."""
    return properties(HEADERS, {})


def _told(name: str, document: dict[str, Any]) -> Told:
    shown = properties(_payload(name, document), document["components"]["schemas"])
    example = json.dumps(examples.PAYLOAD_EXAMPLES[name], indent=2, ensure_ascii=False)
    return Told(name, is_sent(name), name in AT_MOST_ONCE, shown, example)


def _payload(name: str, document: dict[str, Any]) -> dict[str, Any]:
    """The schema of an event's payload."""
    media = document["webhooks"][name]["post"]["requestBody"]["content"]["application/json"]
    schema: dict[str, Any] = media["schema"]["allOf"][1]["properties"]["payload"]
    return schema
