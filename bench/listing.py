"""The list of 50 participants over the v2 API, with 8 clients and with one."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench import load
from bench.floor_app import keep_answer
from bench.installation import PLAIN, Installation, Scratch, served
from bench.load import Outcome, Round
from bench.table import Line, median_ratio

SIZES = (10_000, 200_000)
LIMIT = 50
TURNS = 3
SECONDS = 0.5
WARM_SECONDS = 0.2
AIM_OF_PLAIN = 0.55
AIM_OF_FIRST_PAGE = 0.8
AIM_ONE_MS = 1.2


@dataclass(frozen=True)
class Case:
    """One page of one roster."""

    campaign_id: str
    size: int
    what: str
    page: int

    @property
    def name(self) -> str:
        return f"roster of {self.size:,}, {self.what}"

    @property
    def path(self) -> str:
        """The path below an account, and of the plain app."""
        return f"/campaigns/{self.campaign_id}/participants?page={self.page}&limit={LIMIT}"


def run(scratch: Scratch) -> Iterator[Line]:
    """Take turns between the product, the same bytes from memory, and the plain app, case by case."""
    installation = scratch.installation()
    cases = [case for size in SIZES for case in _cases(installation.new_roster(size), size)]
    with served(installation) as port, served(installation, PLAIN) as plain_port:
        rounds = [each for case in cases for _ in range(TURNS) for each in _turn(installation, case, port, plain_port)]
        rounds += [_alone(installation, case, port) for case in cases]
        found = _by_name(load.run(rounds))
    for case in cases:
        yield from _lines(case, found)
    yield from _depths(cases, found)


def _cases(campaign_id: str, size: int) -> list[Case]:
    return [
        Case(campaign_id, size, "first page", 1),
        Case(campaign_id, size, "row 5,000", 5_000 // LIMIT + 1),
        Case(campaign_id, size, "last page", size // LIMIT),
    ]


def _turn(installation: Installation, case: Case, port: int, plain_port: int) -> list[Round]:
    asked = load.get(installation.v2 + case.path, installation.api_headers)
    name = f"{case.size}-{case.page}"
    kept = keep_answer(installation.settings.instance_path, name, load.first_answer(port, asked))
    return [
        _round(f"{case.name}/product", port, asked),
        _round(f"{case.name}/memory", port, load.get(kept, installation.api_headers)),
        _round(f"{case.name}/plain", plain_port, load.get(case.path, {})),
    ]


def _round(name: str, port: int, request: str) -> Round:
    return Round(name, port, [request], seconds=SECONDS, warm_seconds=WARM_SECONDS)


def _alone(installation: Installation, case: Case, port: int) -> Round:
    asked = load.get(installation.v2 + case.path, installation.api_headers)
    return Round(f"{case.name}/alone", port, [asked], clients=1, seconds=0.5, warm_seconds=0.1)


def _by_name(outcomes: Sequence[Outcome]) -> Mapping[str, list[Outcome]]:
    found: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        found[outcome.name].append(outcome.expect(200))
    return found


def _rates(case: Case, kind: str, found: Mapping[str, list[Outcome]]) -> list[float]:
    return [outcome.rate for outcome in found[f"{case.name}/{kind}"]]


def _lines(case: Case, found: Mapping[str, list[Outcome]]) -> list[Line]:
    ours, memory, plain = (_rates(case, kind, found) for kind in ("product", "memory", "plain"))
    rate = f"{statistics.median(ours):,.0f} req/s"
    of_plain = median_ratio(ours, plain)
    alone = found[f"{case.name}/alone"][0].median_ms
    return [
        Line(
            case.name,
            rate,
            f"Flask + SQLite {statistics.median(plain):,.0f}",
            of_plain,
            f"{AIM_OF_PLAIN} of it",
            of_plain >= AIM_OF_PLAIN,
        ),
        Line("", rate, f"from memory {statistics.median(memory):,.0f}", median_ratio(ours, memory)),
        Line("  one client", f"{alone:.2f} ms", aim=f"{AIM_ONE_MS} ms", reached=alone <= AIM_ONE_MS),
    ]


def _depths(cases: Sequence[Case], found: Mapping[str, list[Outcome]]) -> list[Line]:
    """Deep pages against the first of the same roster."""
    firsts = {case.size: _rates(case, "product", found) for case in cases if case.page == 1}
    lines = []
    for case in cases:
        if case.page > 1:
            ratio = median_ratio(_rates(case, "product", found), firsts[case.size])
            aim = f"{AIM_OF_FIRST_PAGE} of it"
            lines.append(Line(case.name, "", "its first page", ratio, aim, ratio >= AIM_OF_FIRST_PAGE))
    return lines
