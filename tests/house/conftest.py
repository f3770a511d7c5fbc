from __future__ import annotations

import pytest
from flask import Flask

from tests.house import visits
from tests.house.visits import Walk
from tests.world import World


@pytest.fixture
def walk(app: Flask, world: World) -> Walk:
    """Everybody's browser, and something behind every address."""
    return visits.begin(app, world)
