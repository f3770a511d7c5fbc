"""`python -m bench [list | upsert | import | page | refusal | deliveries ...]`: measure what is named, or all."""

from __future__ import annotations

import os
import platform
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType

from bench import deliveries, importing, listing, refusal, roster_page, upserting
from bench.installation import Scratch
from bench.load import LoadFailed
from bench.table import Line, show

# Some five times what a quiet machine needs.
PART_SECONDS = 240
PARTS: dict[str, tuple[str, Callable[[Scratch], Iterator[Line]]]] = {
    "list": ("List of 50 participants over v2, 8 clients", listing.run),
    "upsert": ("Upsert over v2, committed and audited", upserting.run),
    "import": ("Import, from the upload to the report", importing.run),
    "page": ("Roster page of 50 people, one browser", roster_page.run),
    "refusal": ("Refusal of a forged token", refusal.run),
    "deliveries": (f"Deliveries of webhooks, {deliveries.SUBSCRIPTIONS} subscriptions", deliveries.run),
}


def main(arguments: Sequence[str]) -> int:
    """The exit code: 1 where a part could not be measured. A missed aim is shown, and fails nothing."""
    unknown = [name for name in arguments if name not in PARTS]
    if unknown:
        sys.stderr.write(f"No part is called {', '.join(unknown)}. The parts: {', '.join(PARTS)}.\n")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is ended too
    load_before = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load before: {load_before}.")
    print("Medians. The ratio says how near the figure comes to the floor of the same run: 1.00 is as good.")
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="assessor-bench-") as folder, ExitStack() as stack:
        scratch = Scratch(Path(folder), stack)
        done = [_measure(name, scratch) for name in arguments or PARTS]
    print(f"\n{time.monotonic() - began:.0f} s")
    return 0 if all(done) else 1


def _measure(name: str, scratch: Scratch) -> bool:
    """Show one part; what was measured before it broke off is shown too."""
    title, run = PARTS[name]
    lines: list[Line] = []
    trouble = None
    try:
        with _at_most(PART_SECONDS):
            lines.extend(run(scratch))
    except (LoadFailed, TimeoutError) as reason:
        trouble = reason
    show(title, lines)
    if trouble:
        print(f"  broke off: {trouble}")
    sys.stdout.flush()
    return trouble is None


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    """Give up on what takes longer, and end what it started."""

    def give_up(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"it took longer than {seconds} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
