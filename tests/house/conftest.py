from __future__ import annotations

import pytest
from flask import Flask

from tests.house import test_sizes, visits
from tests.house.visits import Walk
from tests.world import World


@pytest.fixture
def walk(app: Flask, world: World) -> Walk:
    """Everybody's browser, and something behind every address."""
    return visits.begin(app, world)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what is longer than the habit; it fails nothing."""
    long_ones = test_sizes.report()
    if long_ones:
        terminalreporter.write_sep("-", "longer than the habit (files over 400 lines, functions over 30)")
        terminalreporter.write_line("\n".join(long_ones))
