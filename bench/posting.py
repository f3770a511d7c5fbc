"""The floor of deliveries, in a process of its own: bare signed POSTs with the product's client on as many threads.

Reads `{"url", "count", "threads", "payload", "secret"}` on its standard input, says the seconds it took.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from core import clock
from core.ids import new_id
from domain.events.delivery import record
from outbound import guarded, signing


def main() -> int:
    given: dict[str, Any] = json.load(sys.stdin)
    began = time.perf_counter()
    with ThreadPoolExecutor(given["threads"]) as pool:
        errors = {error for error in pool.map(lambda _: _post(given), range(given["count"])) if error}
    if errors:
        sys.stderr.write(f"bare POSTs failed: {errors}\n")
        return 1
    print(time.perf_counter() - began)
    return 0


def _post(given: dict[str, Any]) -> str | None:
    """One POST like a delivery's, made and signed at this moment."""
    at, delivery_id = clock.now_ms(), new_id("dlv")
    body = record.body(delivery_id, "evt_bench", "campaign.updated", "acc_bench", at, given["payload"])
    headers = signing.headers("campaign.updated", delivery_id, at, body, given["secret"])
    return guarded.post(given["url"], body, headers, timeout_seconds=10, allow_private=True).error


if __name__ == "__main__":
    sys.exit(main())
