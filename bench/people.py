"""The people that a bench puts on rosters: the same ones each time, as table rows, as bodies and as a csv file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from core import clock
from core.ids import new_id
from domain.campaigns.roster.participant import name_key

FIRST_NAMES = ("Ana", "Hélène", "Luc", "María", "Sam", "Zoë", "Joana", "Bruno", "Inès", "Oliver", "Camille", "Diego")
LAST_NAMES = ("Moreau", "López", "Taylor", "Lima", "Nuñez", "Okafor", "Dubois", "Silva", "Martin", "Garcia", "Roy")
LANGUAGES = ("fr", "en", "es", "pt-BR", None)
SITES = ("Lyon", "Recife", "Leeds")

HEADER = ("Email", "First name", "Last name", "Language", "crmId", "site")
MAPPING = ("email", "first_name", "last_name", "language", "metadata", "segment")
# A participant's columns, in the order of `table_rows`.
COLUMNS = (
    "id", "account_id", "campaign_id", "email", "first_name", "last_name", "name_key", "status", "language",
    "bag_language_ended", "labels", "metadata", "created_at", "updated_at",
)  # fmt: skip


class Person(NamedTuple):
    """One person, before any database or file."""

    email: str
    first_name: str
    last_name: str
    language: str | None
    crm_id: str
    site: str

    @property
    def bag(self) -> dict[str, Any]:
        """What stands in `metadata`."""
        return {"crmId": self.crm_id, "segments": {"site": self.site}}


def people(count: int, kind: str = "person") -> Iterator[Person]:
    """The first `count` people of a kind; each kind has addresses of its own."""
    for number in range(count):
        yield Person(
            f"{kind}.{number:06d}@example.com",
            FIRST_NAMES[number % len(FIRST_NAMES)],
            LAST_NAMES[number // 7 % len(LAST_NAMES)],
            LANGUAGES[number % len(LANGUAGES)],
            f"{number:06d}",
            SITES[number % len(SITES)],
        )


def table_rows(account_id: str, campaign_id: str, found: Iterator[Person]) -> list[tuple[Any, ...]]:
    """The people as rows of the participant table, in the order of `COLUMNS`."""
    now = clock.now_ms()
    return [_table_row(account_id, campaign_id, person, now) for person in found]


def _table_row(account_id: str, campaign_id: str, person: Person, now: int) -> tuple[Any, ...]:
    email, first_name, last_name, language, _, _ = person
    return (
        *(new_id("par", now), account_id, campaign_id, email, first_name, last_name),
        *(name_key(first_name, last_name, email), "added", language, False, "{}"),
        *(json.dumps(person.bag, ensure_ascii=False, separators=(",", ":")), now, now),
    )


def body(person: Person) -> dict[str, Any]:
    """The person as the body of an upsert."""
    given: dict[str, Any] = {"email": person.email, "firstName": person.first_name, "lastName": person.last_name}
    if person.language is not None:
        given["language"] = person.language
    return {**given, "metadata": {"crmId": person.crm_id}, "segments": {"site": person.site}}


def csv_file(found: Iterator[Person]) -> bytes:
    """The people as a csv file with the columns of `HEADER`."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HEADER)
    writer.writerows([cell or "" for cell in person] for person in found)
    return text.getvalue().encode()


def insert_statement(table: str, columns: Sequence[str], *, is_postgresql: bool) -> str:
    """A plain `INSERT` in the driver's own placeholders."""
    mark = "%s" if is_postgresql else "?"
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join([mark] * len(columns))})"
