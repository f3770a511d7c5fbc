"""Submissions: one answering of an assessment (contract 2, service.md 2.3)."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from contract.scalars import AssessmentId, CampaignId, EpochMs, ParticipantId, SubmissionId

SubmissionStatus = Literal["in_progress", "completed", "reopened"]

_UNIT_KEY = Field(
    description=(
        "Whom it answers for: `participant:<participantId>`, `organisation:<organisationId>` or "
        "`group:<labelGroupId>:<labelKey>`. Absent where it stands for its respondent alone."
    )
)


class Submission(TypedDict):
    """A submission without its answers, as everyone may see it who may see submissions."""

    submissionId: SubmissionId
    campaignId: CampaignId
    assessmentId: AssessmentId
    participantId: NotRequired[ParticipantId]
    unitKey: NotRequired[Annotated[str, _UNIT_KEY]]
    status: SubmissionStatus
    templateFingerprint: Annotated[str, Field(description="Which version of the questions was answered.")]
    startedAt: NotRequired[EpochMs]
    submittedAt: NotRequired[EpochMs]
    createdAt: EpochMs
    updatedAt: EpochMs
