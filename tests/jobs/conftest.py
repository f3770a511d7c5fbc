"""What every test of the background starts with."""

from __future__ import annotations

import pytest

from jobs.deliveries import trust


@pytest.fixture(autouse=True)
def _trust_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test did to the clock or the database must not make the next one distrust leases."""
    monkeypatch.setattr(trust, "leases", trust.LeaseTrust())
