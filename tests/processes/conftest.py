"""Fixtures of real processes: parts of the worker, a receiver of their POSTs, and a queue that a test may break."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask

from tests.processes.parts import Parts
from tests.servers import valkey
from tests.servers.receiver import Receiver, receiver
from tests.servers.valkey import Valkey


@pytest.fixture
def parts(app: Flask) -> Iterator[Parts]:
    """Parts of the worker on the test's installation; none outlives the test."""
    with Parts(app) as started:
        yield started


@pytest.fixture
def hook() -> Iterator[Receiver]:
    """A receiver that accepts whatever comes."""
    with receiver() as made:
        yield made


@pytest.fixture
def own_valkey() -> Iterator[Valkey]:
    """One that a test may break."""
    with valkey.server() as server:
        yield server
