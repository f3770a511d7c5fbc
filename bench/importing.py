"""An import of 100,000 people from the upload to the report, against one `executemany` of the same rows."""

from __future__ import annotations

import io
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bench import load, people
from bench.installation import Installation, Scratch, start_worker, stop
from bench.table import Line
from core import files
from core.db import transaction
from domain.campaigns import campaign as campaigns
from domain.campaigns.imports import steps
from domain.events.audit import COMMAND_LINE
from outbound import spreadsheets

ROWS = 100_000
FEW_ROWS = 10_000
AIM_SQLITE = 0.25
AIM_POSTGRESQL = 30_000
AIM_AGAIN = 1.0
AIM_GROWTH_MIB = 16


@dataclass(frozen=True)
class Imported:
    """One import: the seconds of its stages, and the worker's memory before and at its peak."""

    rows: int
    upload: float
    check: float
    apply: float
    report: float
    idle_mib: float
    peak_mib: float

    @property
    def rate(self) -> float:
        """Rows a second, from the upload to the report."""
        return self.rows / (self.upload + self.check + self.apply + self.report)

    @property
    def stages(self) -> str:
        return f"upload {self.upload:.1f}, check {self.check:.1f}, apply {self.apply:.1f}, report {self.report:.1f} s"


def run(scratch: Scratch) -> Iterator[Line]:
    """A small file, a large one, and the large one again, on each database."""
    for database in scratch.databases():
        yield from _on(database, scratch)


def _on(database: str, scratch: Scratch) -> Iterator[Line]:
    floor = _floor(scratch.installation(database))
    installation = scratch.installation(database)
    small = _import(installation, installation.new_campaign("Small"), FEW_ROWS, "created")
    yield _of_floor(f"{database}, 10,000 people", small, floor)
    campaign_id = installation.new_campaign("Large")
    first = _import(installation, campaign_id, ROWS, "created")
    yield _of_floor(f"{database}, 100,000 people", first, floor)
    yield Line("  its stages", first.stages)
    yield _memory(database, small, first)
    again = _import(installation, campaign_id, ROWS, "unchanged")
    yield _again(database, again, first)
    yield Line("  its stages", again.stages)


def _floor(installation: Installation) -> float:
    """Rows a second of one `executemany` into the same table with the same indexes."""
    campaign_id = installation.new_campaign("Floor")
    rows = people.table_rows(installation.account_id, campaign_id, people.people(ROWS))
    return ROWS / installation.insert_people(campaign_id, rows)


def _of_floor(name: str, found: Imported, floor: float) -> Line:
    ratio = found.rate / floor
    is_sqlite = name.startswith("SQLite")
    aim = f"{AIM_SQLITE} of it" if is_sqlite else f"{AIM_POSTGRESQL:,} rows/s"
    reached = ratio >= AIM_SQLITE if is_sqlite else found.rate >= AIM_POSTGRESQL
    return Line(name, f"{found.rate:,.0f} rows/s", f"executemany {floor:,.0f}", ratio, aim, reached)


def _again(database: str, again: Imported, first: Imported) -> Line:
    ratio = again.rate / first.rate
    name = f"{database}, the same file again"
    return Line(name, f"{again.rate:,.0f} rows/s", "the first import", ratio, "as fast", ratio >= AIM_AGAIN)


def _memory(database: str, small: Imported, large: Imported) -> Line:
    growth = large.peak_mib - small.peak_mib
    measured = f"{large.peak_mib:.0f} MiB (idle {large.idle_mib:.0f})"
    floor, aim = f"{small.peak_mib:.0f} MiB at 10,000", f"within {AIM_GROWTH_MIB} MiB"
    name = f"{database}, worker's peak at 100,000"
    return Line(name, measured, floor, large.peak_mib / small.peak_mib, aim, growth <= AIM_GROWTH_MIB)


def _import(installation: Installation, campaign_id: str, rows: int, outcome: str) -> Imported:
    """Take a file of so many people all the way. The worker is warm, as the product's is: its start does not count."""
    file = people.csv_file(people.people(rows))
    with _worker(installation) as worker:
        idle = _said(worker)["peak_mib"]
        began = time.perf_counter()
        import_id = _upload(installation, campaign_id, file)
        upload = time.perf_counter() - began
        check = _work(worker, import_id)["seconds"]
        _apply(installation, campaign_id, import_id)
        done = _work(worker, import_id)
    began = time.perf_counter()
    _require(installation, campaign_id, import_id, rows, outcome)
    _read_report(installation, campaign_id, import_id, rows)
    report = time.perf_counter() - began
    return Imported(rows, upload, check, done["seconds"], report, idle, done["peak_mib"])


def _upload(installation: Installation, campaign_id: str, file: bytes) -> str:
    """Keep the file, read what it is, and confirm its columns."""
    with installation.app.app_context():
        stored = files.store(io.BytesIO(file))
        layout = spreadsheets.inspect(files.path_of(stored.name), "people.csv")
        with transaction():
            campaign = campaigns.get(installation.account_id, campaign_id)
            import_id = steps.receive(campaign, "people.csv", stored, layout, COMMAND_LINE).id
        with transaction():
            campaign = campaigns.get(installation.account_id, campaign_id)
            assert steps.choose_columns(steps.get(campaign, import_id), people.MAPPING, COMMAND_LINE)
    return import_id


def _apply(installation: Installation, campaign_id: str, import_id: str) -> None:
    with installation.app.app_context(), transaction():
        import_ = steps.get(campaigns.get(installation.account_id, campaign_id), import_id)
        assert steps.apply(import_, import_.lease_generation, COMMAND_LINE), import_.state


def _require(installation: Installation, campaign_id: str, import_id: str, rows: int, outcome: str) -> None:
    """A rate counts only where every row came out as it must."""
    with installation.app.app_context():
        import_ = steps.get(campaigns.get(installation.account_id, campaign_id), import_id)
        if import_.state != "applied" or import_.counts[outcome] != rows:
            raise load.LoadFailed(f"the import ended as {import_.state} with {import_.counts}")


def _read_report(installation: Installation, campaign_id: str, import_id: str, rows: int) -> None:
    path = f"/accounts/{installation.account_id}/campaigns/{campaign_id}/import/{import_id}/report.csv"
    response = installation.app.test_client(use_cookies=False).get(path, headers={"Cookie": installation.cookie})
    lines = response.get_data().count(b"\n")
    if response.status_code != 200 or lines != rows + 1:
        raise load.LoadFailed(f"the report answered {response.status_code} with {lines} lines")


@contextmanager
def _worker(installation: Installation) -> Iterator[subprocess.Popen[str]]:
    worker = start_worker(installation)
    try:
        yield worker
    finally:
        stop(worker)


def _work(worker: subprocess.Popen[str], import_id: str) -> dict[str, float]:
    """Have the worker run the import's job."""
    assert worker.stdin is not None
    worker.stdin.write(f"{import_id}\n")
    worker.stdin.flush()
    return _said(worker)


def _said(worker: subprocess.Popen[str]) -> dict[str, float]:
    assert worker.stdout is not None
    line = worker.stdout.readline()
    if not line:
        raise load.LoadFailed("the worker of the import ended early")
    said: dict[str, float] = json.loads(line)
    return said
