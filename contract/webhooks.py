"""Webhook subscriptions (contract 2, service.md 4.2)."""

from __future__ import annotations

import re
from typing import Annotated, Any, NotRequired

from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from contract.scalars import STRICT_BODY, EpochMs, SubscriptionId

LEAST_SECRET, MOST_SECRET = 16, 256
# A secret that was pasted with the end of its line, or as blanks alone, fits nowhere, and nobody finds that later.
_BLANK_AT_AN_END = re.compile(r"\A[\s\ufeff]|[\s\ufeff]\Z")


class WebhookSubscription(TypedDict):
    """A subscription to events. Its secret is in no answer; `signed` tells whether it has one."""

    subscriptionId: SubscriptionId
    url: str
    events: list[str]
    isActive: bool
    deliveryFailureCount: Annotated[int, Field(description="How often a delivery was given up. It never resets.")]
    signed: bool
    createdAt: EpochMs
    updatedAt: EpochMs


def _no_duplicates(events: list[str]) -> list[str]:
    if len(set(events)) < len(events):
        raise PydanticCustomError("duplicate_events", "names an event twice")
    return events


def _no_blank_ends(secret: str) -> str:
    if _BLANK_AT_AN_END.search(secret):
        raise PydanticCustomError("secret_blank_end", "must not begin or end with white space or a line break")
    return secret


_URL = Field(
    description="An http or https address of at most 2,000 characters that the public internet can reach.",
    examples=["https://hooks.example.com/assessor"],
)
_EVENTS = Field(
    min_length=1,
    description="Names of the event catalogue, each once.",
    examples=[["participant.joined"]],
    json_schema_extra={"uniqueItems": True},
)
_SECRET = Field(
    description=(
        "16 to 256 characters that sign every delivery, without white space or a line break at either end. "
        "It is in no answer; keep your copy."
    )
)
Secret = Annotated[str, Field(min_length=LEAST_SECRET, max_length=MOST_SECRET), AfterValidator(_no_blank_ends)]


class WebhookRegister(BaseModel):
    """Register a URL for events. Without `secret` deliveries are unsigned."""

    model_config = STRICT_BODY

    url: Annotated[str, _URL]
    events: Annotated[list[str], _EVENTS, AfterValidator(_no_duplicates)]
    secret: Annotated[Secret | None, _SECRET] = None


class WebhookPatch(BaseModel):
    """Activate or deactivate; nothing else of a subscription can be changed."""

    model_config = STRICT_BODY

    is_active: Annotated[bool, Field(description="Whether new events are delivered. What waits meanwhile is kept.")]


class RotateSecret(BaseModel):
    """Nothing can be chosen: the new secret is generated."""

    model_config = STRICT_BODY


class WebhookDeleted(TypedDict):
    subscriptionId: SubscriptionId


class RotatedSecret(TypedDict):
    """The new secret, given this once."""

    subscriptionId: SubscriptionId
    secret: str


_SIGNATURE = Field(
    description="`sha256=` and the hex HMAC-SHA256 of the raw body. Only where the webhook has a secret."
)
_SIGNATURE_V2 = Field(
    description=(
        "`t=<timestamp>,sha256=<hex>`: the HMAC-SHA256 of `<timestamp>.<raw body>`. "
        "Only where the webhook has a secret."
    )
)
# The headers of a delivery (service.md 6.1). No name of a class's property holds `-`.
DeliveryHeaders = TypedDict(
    "DeliveryHeaders",
    {
        "X-Service-Event": Annotated[str, Field(description="The event's name.")],
        "X-Service-Delivery": Annotated[str, Field(description="The delivery's id, the same as `id` in the body.")],
        "X-Service-Timestamp": Annotated[str, Field(description="Epoch milliseconds of this attempt.")],
        "X-Service-Signature": NotRequired[Annotated[str, _SIGNATURE]],
        "X-Service-Signature-V2": NotRequired[Annotated[str, _SIGNATURE_V2]],
    },
)


class DeliveryEnvelope(TypedDict):
    """The body of a delivery (service.md 2.6). `timestamp` is this attempt's; all attempts share `id`."""

    id: Annotated[str, Field(description="The delivery. All its attempts share it.")]
    eventId: Annotated[str | None, Field(description="What happened. Null in deliveries from before it existed.")]
    event: Annotated[str, Field(description="The event's name.")]
    accountId: Annotated[str, Field(description="The account where it happened.")]
    timestamp: Annotated[int, Field(description="Epoch milliseconds of this attempt.")]
    payload: Annotated[dict[str, Any], Field(description="What the catalogue says of this event.")]
