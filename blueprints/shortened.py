"""What somebody else wrote, short enough to stand in a list or in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from flask_babel import format_decimal
from flask_babel import gettext as _

from blueprints.isolation import isolated

# Of a list in a sentence so many are named, the rest are counted.
NAMED = 5


def shortened(text: str, most: int = 100) -> str:
    """The text, cut in its middle where it has more than `most` characters: addresses differ at their ends."""
    if len(text) <= most:
        return text
    end = (most - 1) // 3
    return f"{text[: most - 1 - end]}…{text[-end:]}"


def enumerated(names: Sequence[str]) -> str:
    """Names in a row, each shortened; where there are many, the first few and how many more."""
    said = ", ".join(isolated(shortened(name)) for name in names[:NAMED])
    if len(names) <= NAMED:
        return said
    return _("%(names)s and %(count)s more", names=said, count=format_decimal(len(names) - NAMED))
