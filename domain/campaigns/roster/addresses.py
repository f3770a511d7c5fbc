"""Any number of addresses as one value of a statement: an array, or a JSON list.

So one statement serves every batch, and PostgreSQL does not compare a list of a thousand parameters one by one with
each row of a roster that it has not analysed yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ARRAY, Text, bindparam, func, select

from core.db import is_postgresql
from core.json_text import as_text

# For `column.in_(AMONG[is_postgresql()])`, with the parameter `emails` from `value_of`.
AMONG = {
    False: select(func.json_each(bindparam("emails", type_=Text)).table_valued("value").c.value),
    True: select(func.unnest(bindparam("emails", type_=ARRAY(Text)))),
}


def value_of(emails: Sequence[str]) -> Any:
    """The addresses as the parameter `emails` takes them."""
    return list(emails) if is_postgresql() else as_text(list(emails))
