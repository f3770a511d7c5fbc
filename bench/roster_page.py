"""The roster on screen: one page of 50 people, or of the 200 that are the most, as one browser waits for it."""

from __future__ import annotations

from collections.abc import Iterator

from bench import load
from bench.installation import Installation, Scratch, served
from bench.load import Round
from bench.table import Line
from contract.paging import DEFAULT_LIMIT

# People on the roster, and the milliseconds that the page may take.
AIMS_MS = {300: 50, 100_000: 150}
VIEWS = {
    "sorted by name": "sort=name",
    "search, many found": "sort=name&q=martin",
    "search, one found": "sort=name&q=person.000123",
    "last page": "sort=name&page={last}",
    "200 a page": "sort=name&limit=200",
}
COUNT = 40
SECONDS = 4.0


def run(scratch: Scratch) -> Iterator[Line]:
    """Each view of a small and of a large roster."""
    installation = scratch.installation()
    views = [view for size in AIMS_MS for view in _views(installation, size)]
    with served(installation) as port:
        rounds = [_round(installation, name, path, port) for name, path, _ in views]
        found = [outcome.expect(200) for outcome in load.run(rounds)]
    for (name, _, aim), outcome in zip(views, found, strict=True):
        yield Line(name, f"{outcome.median_ms:.1f} ms", aim=f"under {aim} ms", reached=outcome.median_ms < aim)


def _views(installation: Installation, size: int) -> list[tuple[str, str, int]]:
    """Name, path and aim of each view."""
    base = f"/accounts/{installation.account_id}/campaigns/{installation.new_roster(size)}/roster"
    last = size // DEFAULT_LIMIT
    return [
        (f"roster of {size:,}, {name}", f"{base}?{query.format(last=last)}", AIMS_MS[size])
        for name, query in VIEWS.items()
    ]


def _round(installation: Installation, name: str, path: str, port: int) -> Round:
    headers = {"Cookie": installation.cookie, "Accept-Encoding": "gzip", "Accept-Language": "en"}
    return Round(name, port, [load.get(path, headers)], 1, COUNT, SECONDS, warm_seconds=0.5)
