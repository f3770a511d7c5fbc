"""Webhook subscriptions (contract 2, service.md 4.2)."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from contract.scalars import STRICT_BODY, EpochMs, SubscriptionId

LEAST_SECRET, MOST_SECRET = 16, 256


class WebhookSubscription(TypedDict):
    """A subscription to events. Its secret is in no answer; `signed` tells whether it has one."""

    subscriptionId: SubscriptionId
    url: str
    events: list[str]
    isActive: bool
    deliveryFailureCount: Annotated[int, Field(description="Deliveries given up after their last attempt.")]
    signed: bool
    createdAt: EpochMs
    updatedAt: EpochMs


def _no_duplicates(events: list[str]) -> list[str]:
    if len(set(events)) < len(events):
        raise PydanticCustomError("duplicate_events", "names an event twice")
    return events


class WebhookRegister(BaseModel):
    """Register a URL for events. Without `secret` deliveries are unsigned."""

    model_config = STRICT_BODY

    url: Annotated[str, Field(examples=["https://hooks.example.com/assessor"])]
    events: Annotated[list[str], Field(min_length=1, examples=[["participant.joined"]]), AfterValidator(_no_duplicates)]
    secret: Annotated[str | None, Field(min_length=LEAST_SECRET, max_length=MOST_SECRET)] = None


class WebhookPatch(BaseModel):
    """Activate or deactivate; nothing else of a subscription can be changed."""

    model_config = STRICT_BODY

    is_active: bool


class WebhookDeleted(TypedDict):
    subscriptionId: SubscriptionId


class RotatedSecret(TypedDict):
    """The new secret, given this once."""

    subscriptionId: SubscriptionId
    secret: str


class DeliveryEnvelope(TypedDict):
    """The body of a delivery (service.md 2.6). `timestamp` is this attempt's; all attempts share `id`."""

    id: str
    eventId: NotRequired[str | None]
    event: str
    accountId: str
    timestamp: EpochMs
    payload: dict[str, Any]
