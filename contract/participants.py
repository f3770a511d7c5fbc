"""Participants: a person on a campaign's roster (contract 2, service.md 4.2)."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, Self, get_args

from pydantic import MISSING, AfterValidator, BaseModel, Field, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from contract.scalars import STRICT_BODY, CampaignId, EpochMs, Language, OrganisationId, ParticipantId, PersonName
from core.addresses import as_address

ParticipantStatus = Literal["added", "invited", "started", "completed", "withdrawn"]
PARTICIPANT_STATUSES: tuple[ParticipantStatus, ...] = get_args(ParticipantStatus)

# Written by the service alone: never written, overwritten or removed by a caller (service.md 4.2).
SYSTEM_OWNED_KEYS = frozenset({"takerLink", "synthetic"})
MOST_KEYS = 50


class Participant(TypedDict):
    """A person on a campaign's roster. `metadata` is always an object, exactly as the row holds it."""

    participantId: ParticipantId
    campaignId: CampaignId
    email: str
    firstName: NotRequired[str]
    lastName: NotRequired[str]
    status: ParticipantStatus
    language: NotRequired[Language]
    organisationId: NotRequired[OrganisationId]
    labels: NotRequired[dict[str, list[str]]]
    metadata: dict[str, Any]
    createdAt: EpochMs
    updatedAt: EpochMs


class UpsertMeta(TypedDict):
    """`created` tells 201 from 200; `preservedKeys` lists the system-owned keys that the body named in vain."""

    created: bool
    preservedKeys: list[str]


def _address(text: str) -> str:
    address = as_address(text)
    if address is None:
        raise PydanticCustomError("email_syntax", "is not an e-mail address; write it like name@example.com")
    return address


def _bag(bag: dict[str, Any]) -> dict[str, Any]:
    own = sum(key not in SYSTEM_OWNED_KEYS for key in bag)
    if own > MOST_KEYS:
        raise PydanticCustomError(
            "too_many_keys", "has {own} keys; at most {most} are allowed", {"own": own, "most": MOST_KEYS}
        )
    return bag


EmailAddress = Annotated[
    str,
    AfterValidator(_address),
    Field(
        description="Decides which participant it is; trimmed and lower-cased.",
        examples=["ana@example.com"],
        json_schema_extra={"format": "email"},
    ),
]
Bag = Annotated[dict[str, Any], AfterValidator(_bag)]
Segments = Annotated[
    dict[str, str | None],
    Field(
        description="Axis to value; null drops the axis. Written to `metadata.segments`.", examples=[{"site": "Lyon"}]
    ),
]


_NAME = Field(description="At most 200 characters. Null or blank clears it.")
_LANGUAGE = Field(description="The language of messages to this person. Null puts it back to not stated.")
_METADATA = Field(description="At most 50 keys of your own, merged key by key. A key sent as null is deleted.")


class ParticipantChange(BaseModel):
    """What may be changed of a person on a roster. Absent leaves alone, null clears."""

    model_config = STRICT_BODY

    first_name: Annotated[PersonName | MISSING, _NAME] = MISSING
    last_name: Annotated[PersonName | MISSING, _NAME] = MISSING
    language: Annotated[Language | MISSING | None, _LANGUAGE] = MISSING
    metadata: Annotated[Bag | MISSING, _METADATA] = MISSING
    segments: Segments | MISSING = MISSING


class ParticipantUpsert(ParticipantChange):
    """Add a person to the roster or bring one up to date; `email`, lower-cased, decides which.

    `metadata` is merged key by key: a value replaces the whole value under its key, null deletes the key.
    """

    email: EmailAddress


class ParticipantPatch(ParticipantChange):
    """Change one person (v1). At least one property is needed."""

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set:
            raise PydanticCustomError("empty_patch", "names nothing to change")
        return self
