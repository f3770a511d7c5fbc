"""A worker of the bench: runs the product's import job for each id on its standard input, and says what it took."""

from __future__ import annotations

import json
import resource
import sys
import time

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
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    mib = peak / (1 << 20) if sys.platform == "darwin" else peak / 1024
    print(json.dumps({"seconds": seconds, "peak_mib": mib}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
