"""The language of a message (rule B.1) and the reading of languages that people write (contract 3, Import)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from core.i18n import LANGUAGES, Language, known

# Every name that one of the four languages has in any of the four, folded: lower case, no accents.
_NAMES: dict[str, Language] = {
    **dict.fromkeys(("english", "anglais", "ingles"), "en"),
    **dict.fromkeys(("french", "francais", "frances"), "fr"),
    **dict.fromkeys(("spanish", "espagnol", "espanol", "espanhol", "castellano"), "es"),
    **dict.fromkeys(
        (
            "portuguese",
            "portugais",
            "portugues",
            "brazilian portuguese",
            "portuguese (brazil)",
            "portugais bresilien",
            "portugais du bresil",
            "portugais (bresil)",
            "portugues brasileno",
            "portugues de brasil",
            "portugues (brasil)",
            "portugues brasileiro",
            "portugues do brasil",
        ),
        "pt-BR",
    ),
}
_CODE = re.compile(r"([a-z]{2})(?:[-_]([a-z]{2}|[0-9]{3}))?")


def languages_of(recipient: Language | None, published: Sequence[str]) -> tuple[str, ...]:
    """The languages of one message, in the order of its sections (rule B.1)."""
    if recipient is not None:
        return (recipient,)
    primary = published[0] if published else "en"
    return ("en",) if primary == "en" else ("en", primary)


def stated(field: str | None, bag: Mapping[str, Any], cleared: bool, preference: str | None = None) -> Language | None:
    """What a recipient states: the roster row's field, else a recognised `metadata.lang` that no clearing has ended,
    else the stored preference of the linked identity (2.7; contract 3, Language resolution)."""
    if field is not None:
        return known(field)
    legacy = bag.get("lang")
    recognised = from_cell(legacy) if isinstance(legacy, str) and not cleared else None
    return recognised or known(preference)


def from_cell(text: str) -> Language | None:
    """The language that a person wrote: a code with any region, or a name in any of the four languages.

    `fr-CA` is `fr`, `pt` is `pt-BR`, `pt-PT` is not recognised. None where nothing is recognised.
    """
    folded = _fold(text)
    return _from_code(folded) or _NAMES.get(folded)


def _from_code(folded: str) -> Language | None:
    match = _CODE.fullmatch(folded)
    if match is None:
        return None
    primary, region = match.groups()
    if primary == "pt":
        return "pt-BR" if region in (None, "br") else None
    return next((language for language in LANGUAGES if language == primary), None)


def _fold(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.strip().lower())
    return " ".join("".join(char for char in decomposed if not unicodedata.combining(char)).split())
