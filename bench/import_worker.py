"""A worker of the bench: runs the product's import job for each id on its standard input, and says what it took."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from app import create_app
from jobs import imports


def main() -> int:
    """Answer each line, an import's id, with seconds and the peak of resident memory in MiB; the first line is idle."""
    app = create_app()
    _say(0.0)
    for line in sys.stdin:
        began = time.perf_counter()
        with app.app_context():
            imports.run(line.strip())
        _say(time.perf_counter() - began)
    return 0


def _say(seconds: float) -> None:
    print(json.dumps({"seconds": seconds, "peak_mib": _peak_mib()}), flush=True)


def _peak_mib() -> float:
    """From the kernel's own account where there is one: `ru_maxrss` also remembers what the parent had at its fork."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20) if sys.platform == "darwin" else peak / 1024


if __name__ == "__main__":
    sys.exit(main())
