"""The bundle: whole accounts in one JSON file (contract 6). A property that the contract does not name is refused.

Throughout, an absent property leaves what is stored alone, and null clears where null is allowed. People are known by
their address, everything else by its key, each unique in its list.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import MISSING, BaseModel, Field, StringConstraints

from contract.campaigns import CampaignStatus
from contract.participants import Bag, EmailAddress, ParticipantStatus, ParticipantUpsert
from contract.scalars import STRICT_BODY, EpochMs, Language, PersonName

Key = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
LocalisedText = dict[Language, str]
Role = Literal["account_admin", "campaign_manager", "auditor", "participant"]


Entry = TypeVar("Entry")


def listed(entries: list[Entry] | MISSING) -> list[Entry]:
    """The entries of a list that may be absent."""
    return [] if entries is MISSING else entries


class Part(BaseModel):
    """Anything that stands in a bundle."""

    model_config = STRICT_BODY


class ReviewLevel(Part):
    id: Key
    label: str


class Organisation(Part):
    key: Key
    name: Name


class Label(Part):
    key: Key
    name: Name


class LabelGroup(Part):
    key: Key
    name: Name
    labels: list[Label] | MISSING = MISSING


class User(Part):
    """A person who may sign in, and the role in this account. `role` may be absent for an operator alone.

    `password` is read where the person is new. It may be shorter than the screens would take, since who holds a
    bundle holds the database; without one, none fits until it is set.
    """

    email: EmailAddress
    name: Name
    password: Annotated[str, StringConstraints(min_length=1, max_length=200)] | MISSING = MISSING
    role: Role | MISSING = MISSING
    operator: bool | MISSING = MISSING
    language: Language | MISSING | None = MISSING


class Contact(Part):
    email: EmailAddress
    first_name: PersonName | MISSING = MISSING
    last_name: PersonName | MISSING = MISSING
    company: PersonName | MISSING = MISSING
    language: Language | MISSING | None = MISSING


class ScalePoint(Part):
    value: int | float | str
    label: LocalisedText


class Scale(Part):
    key: Key
    name: Name
    points: list[ScalePoint]


class Statement(Part):
    key: Key
    text: LocalisedText
    coding: dict[str, Any] | MISSING = MISSING


class LibraryItem(Part):
    key: Key
    text: LocalisedText
    question_type: Key
    coding: dict[str, Any] | MISSING = MISSING


class Template(Part):
    key: Key
    title: LocalisedText
    status: Literal["Draft", "Active"] | MISSING = MISSING
    body: dict[str, Any]


class Assessment(Part):
    key: Key
    title: Name
    template: Key
    unit: Annotated[str, Field(pattern="^(participant|organisation|group:.+)$")] | MISSING = MISSING


class Participant(Part):
    """A person on a roster. `labels` replaces all of the person's labels: group key to label keys.

    `language: null` says that the person's language was cleared, so that `metadata.lang` has no say any more.
    """

    email: EmailAddress
    first_name: PersonName | MISSING = MISSING
    last_name: PersonName | MISSING = MISSING
    language: Language | MISSING | None = MISSING
    status: ParticipantStatus | MISSING = MISSING
    organisation: Key | MISSING | None = MISSING
    labels: dict[str, list[str]] | MISSING = MISSING
    metadata: Bag | MISSING = MISSING

    def as_upsert(self) -> ParticipantUpsert:
        """The part of it that any upsert may write."""
        written = {"email", "first_name", "last_name", "language", "metadata"}
        return ParticipantUpsert.model_validate(self.model_dump(by_alias=True, include=written, exclude_unset=True))


class Synthetic(Part):
    run_id: str
    generator: str
    seed: str


class Review(Part):
    question: Key
    status: Literal["verified", "modified"]
    value: Any = MISSING
    locked: bool | MISSING = MISSING
    reviewer: EmailAddress | MISSING = MISSING
    level: Key | MISSING = MISSING
    note: str | MISSING | None = MISSING
    include_in_export: bool | MISSING = MISSING
    reviewed_at: EpochMs | MISSING = MISSING


class Submission(Part):
    key: Key
    assessment: Key
    participant: EmailAddress | MISSING = MISSING
    status: Literal["in_progress", "completed", "reopened"]
    started_at: EpochMs | MISSING | None = MISSING
    submitted_at: EpochMs | MISSING | None = MISSING
    answers: dict[str, Any] | MISSING = MISSING
    synthetic: Synthetic | MISSING = MISSING
    reviews: list[Review] | MISSING = MISSING


class Campaign(Part):
    key: Key
    name: Name
    status: CampaignStatus | MISSING = MISSING
    enable_passcode: bool | MISSING = MISSING
    assessments: list[Assessment] | MISSING = MISSING
    participants: list[Participant] | MISSING = MISSING
    submissions: list[Submission] | MISSING = MISSING


class Account(Part):
    key: Key
    name: Name
    languages: list[Language] | MISSING = MISSING
    review_levels: list[ReviewLevel] | MISSING = MISSING
    organisations: list[Organisation] | MISSING = MISSING
    label_groups: list[LabelGroup] | MISSING = MISSING
    users: list[User] | MISSING = MISSING
    contacts: list[Contact] | MISSING = MISSING
    scales: list[Scale] | MISSING = MISSING
    statements: list[Statement] | MISSING = MISSING
    library_items: list[LibraryItem] | MISSING = MISSING
    templates: list[Template] | MISSING = MISSING
    campaigns: list[Campaign] | MISSING = MISSING


class Bundle(Part):
    """The whole file. `bundle` is the version of its format."""

    bundle: Literal[1]
    accounts: list[Account] | MISSING = MISSING
