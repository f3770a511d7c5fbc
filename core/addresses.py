"""E-mail addresses: trimmed, lower-cased and checked for syntax only (contract 2, Upsert body)."""

from __future__ import annotations

import re

from email_validator import EmailNotValidError, validate_email

# What nearly every address looks like; anything else is judged by the library, which is forty times slower.
_PLAIN = re.compile(
    r"[a-z0-9_+-]{1,32}(?:\.[a-z0-9_+-]{1,30}){0,1}@(?:[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?\.){1,3}[a-z]{2,24}"
)
LONGEST = 254
LONGEST_LOCAL_PART = 64


def as_address(text: str) -> str | None:
    """The address trimmed and lower-cased, or None where its syntax is wrong. Special-use domains pass."""
    address = text.strip().lower()
    if _PLAIN.fullmatch(address) and "--" not in address:
        return address
    if len(address) > LONGEST or len(address.partition("@")[0]) > LONGEST_LOCAL_PART or "\0" in address:
        return None
    try:
        checked = validate_email(address, check_deliverability=False, globally_deliverable=False)
    except EmailNotValidError:
        return None
    return checked.normalized.lower()
