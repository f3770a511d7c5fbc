"""CRM contacts (contract 2)."""

from __future__ import annotations

from typing import NotRequired

from pydantic import BaseModel
from typing_extensions import TypedDict

from contract.scalars import STRICT_BODY, ContactId, EpochMs, Language, PersonName


class Contact(TypedDict):
    """A contact of the account, as its CRM knows the person."""

    contactId: ContactId
    email: str
    firstName: NotRequired[str]
    lastName: NotRequired[str]
    company: NotRequired[str]
    language: NotRequired[Language]
    createdAt: EpochMs
    updatedAt: EpochMs


class ContactWrite(BaseModel):
    """What a page or a bundle writes of a contact."""

    model_config = STRICT_BODY

    email: str
    first_name: PersonName = None
    last_name: PersonName = None
    company: PersonName = None
    language: Language | None = None
