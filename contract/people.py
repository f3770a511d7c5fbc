"""People who sign in (contract 3, "Payloads")."""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from contract.scalars import EpochMs, Language, UserId


class User(TypedDict):
    """A person as every account that they belong to may know them: no password, no session, no other account."""

    userId: UserId
    email: str
    name: str
    language: NotRequired[
        Annotated[Language, Field(description="The language that the person prefers. Absent where none is chosen.")]
    ]
    updatedAt: EpochMs
