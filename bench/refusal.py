"""Refusing a bearer that was never minted: without the database, so as fast as an answer from memory."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from bench import load
from bench.floor_app import keep_answer
from bench.installation import Installation, Scratch, served
from bench.load import Round
from bench.table import Line, median_ratio

TURNS = 3
SECONDS = 0.7
WARM_SECONDS = 0.25
FORGED = "asr_" + "0123456789ab" * 4 + "." + "f" * 32


def run(scratch: Scratch) -> Iterator[Line]:
    """Take turns between forged tokens and an answer of the same bytes from memory."""
    installation = scratch.installation()
    with served(installation) as port:
        outcomes = load.run(_rounds(installation, port))
    refused = [outcome.expect(401).rate for outcome in outcomes[0::2]]
    memory = [outcome.expect(200).rate for outcome in outcomes[1::2]]
    floor = f"from memory {statistics.median(memory):,.0f}"
    ratio = median_ratio(refused, memory)
    yield Line("a forged bearer, 8 clients", f"{statistics.median(refused):,.0f} req/s", floor, ratio)


def _rounds(installation: Installation, port: int) -> list[Round]:
    forged = load.get(f"{installation.v2}/campaigns", {"Authorization": f"Bearer {FORGED}"})
    kept = keep_answer(installation.settings.instance_path, "refusal", load.first_answer(port, forged))
    turn = [
        Round(name, port, [request], seconds=SECONDS, warm_seconds=WARM_SECONDS)
        for name, request in (("refused", forged), ("memory", load.get(kept, {})))
    ]
    return turn * TURNS
