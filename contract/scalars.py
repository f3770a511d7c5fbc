"""The small shapes that many resources share."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from core.i18n import Language as Language

EpochMs = Annotated[int, Field(description="Epoch milliseconds.", examples=[1789000000000])]


CampaignId = Annotated[str, Field(pattern="^cmp_[0-9a-z]{26}$", description="An opaque id, `cmp_...`.")]
ParticipantId = Annotated[str, Field(pattern="^par_[0-9a-z]{26}$", description="An opaque id, `par_...`.")]
OrganisationId = Annotated[str, Field(pattern="^org_[0-9a-z]{26}$", description="An opaque id, `org_...`.")]
ContactId = Annotated[str, Field(pattern="^con_[0-9a-z]{26}$", description="An opaque id, `con_...`.")]
UserId = Annotated[str, Field(pattern="^usr_[0-9a-z]{26}$", description="An opaque id, `usr_...`.")]
SubscriptionId = Annotated[str, Field(pattern="^whk_[0-9a-z]{26}$", description="An opaque id, `whk_...`.")]
AssessmentId = Annotated[str, Field(pattern="^asm_[0-9a-z]{26}$", description="An opaque id, `asm_...`.")]
SubmissionId = Annotated[str, Field(pattern="^sub_[0-9a-z]{26}$", description="An opaque id, `sub_...`.")]
ExportId = Annotated[str, Field(pattern="^exp_[0-9a-z]{26}$", description="An opaque id, `exp_...`.")]
CommunicationId = Annotated[str, Field(pattern="^com_[0-9a-z]{26}$", description="An opaque id, `com_...`.")]
MessageTemplateId = Annotated[str, Field(pattern="^mtp_[0-9a-z]{26}$", description="An opaque id, `mtp_...`.")]
RegistrationFormId = Annotated[str, Field(pattern="^frm_[0-9a-z]{26}$", description="An opaque id, `frm_...`.")]
RegistrationId = Annotated[str, Field(pattern="^reg_[0-9a-z]{26}$", description="An opaque id, `reg_...`.")]
FileId = Annotated[str, Field(pattern="^fil_[0-9a-z]{26}$", description="An opaque id, `fil_...`.")]


def _blank_is_null(value: Any) -> Any:
    return (value.strip() or None) if isinstance(value, str) else value


# A name of a person: trimmed, and blank is the same as null.
PersonName = Annotated[Annotated[str, StringConstraints(max_length=200)] | None, BeforeValidator(_blank_is_null)]

# Bodies refuse properties that the contract does not name, and never guess a type.
STRICT_BODY = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel, validate_by_name=False)
