"""The `'` before text that a spreadsheet would run as a formula (contract, Export and Import)."""

from __future__ import annotations

import re

RISKY_FIRST = frozenset("=+-@\t\r'")
"""The only first characters that the guard has to look further into."""

_FORMULA_FIRST = ("=", "+", "-", "@", "\t", "\r")
_plain_number = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?").fullmatch


def guard_formula(cell: str) -> str:
    """`cell` as csv may carry it: a formula gets `'` in front, a plain number such as `-5` or `+3.2e7` does not.

    Text that is already `'=...` gets a second `'`: without it, taking the guard off again would eat the person's own.
    So `strip_formula_guard(guard_formula(text)) == text` for every text.
    """
    return "'" + cell if _is_formula(cell) else cell


def strip_formula_guard(cell: str) -> str:
    """`cell` without the `'` that `guard_formula` put there; any other `'` stays."""
    return cell[1:] if cell[:1] == "'" and _is_formula(cell) else cell


def _is_formula(cell: str) -> bool:
    """Whether a spreadsheet would run the cell, were the `'`s before it taken off."""
    bare = cell.lstrip("'")
    return bare.startswith(_FORMULA_FIRST) and _plain_number(bare) is None
