"""The table of a run: what was measured, the floor beside it, their ratio, and the aim."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

HEADER = ("work", "measured", "floor", "ratio", "aim", "")


@dataclass(frozen=True)
class Line:
    """One figure. `reached` says whether it meets its aim; None where it has none."""

    work: str
    measured: str
    floor: str = ""
    ratio: float | None = None
    aim: str = ""
    reached: bool | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        """As the table shows it."""
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        verdict = {None: "", True: "reached", False: "missed"}[self.reached]
        return self.work, self.measured, self.floor, ratio, self.aim, verdict


def show(title: str, lines: Sequence[Line]) -> None:
    """Print one part of the table."""
    rows = [HEADER, *(line.cells for line in lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    print(f"\n{title}")
    for row in rows:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def median_ratio(measured: Sequence[float], floor: Sequence[float]) -> float:
    """The median of the ratios of neighbouring rounds, which a busy moment of the machine spoils for both."""
    return statistics.median(one / other for one, other in zip(measured, floor, strict=True))
