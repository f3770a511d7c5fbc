"""The upsert over HTTP, durable and audited, against the same statements on the bare driver."""

from __future__ import annotations

import json
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import psycopg
from sqlalchemy import make_url

from bench import load, people
from bench.installation import Installation, Scratch, served
from bench.load import Outcome, Round
from bench.people import Person, insert_statement
from bench.table import Line
from core import clock
from core.ids import new_id

ALONE = 400
TOGETHER = 8_000
ALONE_SECONDS = 4.0
TOGETHER_SECONDS = 4.0
AIM_MS = 1.2
AIM_RATE = 1_000
PRAGMAS = ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "busy_timeout=5000", "cache_size=-32000")
AUDIT = (
    "id", "account_id", "at", "actor_kind", "actor_id", "actor_label", "via", "action", "subject_id", "subject_label",
    "changes",
)  # fmt: skip
EVENT = ("id", "account_id", "name", "payload", "occurred_at")


def run(scratch: Scratch) -> Iterator[Line]:
    """New people and known people, one client and eight, on each database."""
    for database in scratch.databases():
        yield from _on(database, scratch.installation(database))


def _on(database: str, installation: Installation) -> list[Line]:
    campaign_id = installation.new_roster(10_000)
    url = f"{installation.v2}/campaigns/{campaign_id}/participants"
    with served(installation) as port:
        warm, new, known, together = load.run(_rounds(installation, url, port))
    warm.expect(201)
    new.expect(201)
    known.expect(200)
    together.expect(201)
    floor_new, floor_known = _floors(installation, campaign_id)
    return [
        _alone(f"{database}, a new person, one client", new, floor_new),
        _alone(f"{database}, a known person, one client", known, floor_known),
        _together(f"{database}, new people, 8 clients", together, floor_new),
    ]


def _rounds(installation: Installation, url: str, port: int) -> list[Round]:
    def round_(name: str, found: Iterator[Person], clients: int, seconds: float, **more: Any) -> Round:
        requests = [load.post(url, {**people.body(each), **more}, installation.api_headers) for each in found]
        return Round(name, port, requests, clients, len(requests), seconds, repeats=False)

    return [
        round_("warm-up", people.people(200, "warm"), 8, 2.0),
        round_("new", people.people(ALONE, "alone"), 1, ALONE_SECONDS),
        # The first half alone, in case time ran out on the others when they were new.
        round_("known", people.people(ALONE // 2, "alone"), 1, ALONE_SECONDS, firstName="Renamed"),
        round_("together", people.people(TOGETHER, "together"), 8, TOGETHER_SECONDS),
    ]


def _alone(work: str, found: Outcome, floor_ms: float) -> Line:
    measured, floor = f"{found.median_ms:.2f} ms", f"bare driver {floor_ms:.2f} ms"
    return Line(work, measured, floor, floor_ms / found.median_ms, f"{AIM_MS} ms", found.median_ms <= AIM_MS)


def _together(work: str, found: Outcome, floor_ms: float) -> Line:
    floor = 1000 / floor_ms
    measured = f"{found.rate:,.0f} req/s, p95 {found.p95_ms:.1f} ms"
    return Line(
        work, measured, f"one bare driver {floor:,.0f}/s", found.rate / floor, f"{AIM_RATE:,}/s", found.rate >= AIM_RATE
    )


def _floors(installation: Installation, campaign_id: str) -> tuple[float, float]:
    """Milliseconds of one write on the bare driver, its commit included: of a new person, and of a known one."""
    with _bare_driver(installation) as (execute, begin):
        floor = _Floor(installation, campaign_id, execute, begin)
        found = list(people.people(ALONE, "floor"))
        return _median_ms(floor.new, found), _median_ms(floor.known, found)


def _median_ms(write: Callable[[Person], None], found: Sequence[Person]) -> float:
    times = []
    for person in found:
        began = time.perf_counter()
        write(person)
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


class _Floor:
    """The statements of an upsert and nothing else. `execute` is the driver's."""

    def __init__(self, installation: Installation, campaign_id: str, execute: Any, begin: str) -> None:
        self._account_id, self._campaign_id = installation.account_id, campaign_id
        self._execute, self._begin = execute, begin
        self._mark = "%s" if installation.is_postgresql else "?"
        self._lock = " FOR UPDATE" if installation.is_postgresql else ""
        self._insert = {
            table: insert_statement(table, columns, is_postgresql=installation.is_postgresql)
            for table, columns in (("participant", people.COLUMNS), ("event", EVENT), ("audit_entry", AUDIT))
        }

    def new(self, person: Person) -> None:
        """Look, insert the person, count them, the event and the audit entry."""
        row = people.table_rows(self._account_id, self._campaign_id, iter([person]))[0]
        now = clock.now_ms()
        self._execute(self._begin)
        assert self._look(person) is None
        self._execute(self._insert["participant"], row)
        payload = json.dumps({"participant": people.body(person)})
        event = (new_id("evt"), self._account_id, "participant.joined", payload, now)
        self._execute(self._insert["event"], event)
        counted = f"UPDATE campaign SET roster_size = roster_size + 1 WHERE id = {self._mark}"
        self._execute(counted, (self._campaign_id,))
        self._audit(row[0], person, now)
        self._execute("COMMIT")

    def known(self, person: Person) -> None:
        """Look, update the person, the audit entry."""
        now = clock.now_ms()
        self._execute(self._begin)
        found = self._look(person)
        changed = "UPDATE participant SET first_name = ?, name_key = ?, updated_at = ? WHERE id = ?"
        self._execute(changed.replace("?", self._mark), ("Renamed", f"renamed {person.email}", now, found[0]))
        self._audit(found[0], person, now)
        self._execute("COMMIT")

    def _look(self, person: Person) -> Any:
        query = f"SELECT * FROM participant WHERE campaign_id = {self._mark} AND email = {self._mark}{self._lock}"
        return self._execute(query, (self._campaign_id, person.email)).fetchone()

    def _audit(self, participant_id: str, person: Person, now: int) -> None:
        changes = json.dumps({"first_name": [None, person.first_name]})
        action = ("token", "tok_floor", "floor", "v2_public_api", "participant.upserted")
        entry = (new_id("aud"), self._account_id, now, *action, participant_id, person.email, changes)
        self._execute(self._insert["audit_entry"], entry)


@contextmanager
def _bare_driver(installation: Installation) -> Iterator[tuple[Any, str]]:
    """The driver's `execute`, without transactions of its own, and how a writing one begins."""
    url = make_url(installation.settings.database_url)
    if installation.is_postgresql:
        plain = url.set(drivername="postgresql").render_as_string(hide_password=False)
        with psycopg.connect(plain, autocommit=True) as connection:
            yield connection.execute, "BEGIN"
        return
    with closing(sqlite3.connect(url.database or "", isolation_level=None)) as file:
        for pragma in PRAGMAS:
            file.execute(f"PRAGMA {pragma}")
        yield file.execute, "BEGIN IMMEDIATE"
