"""What the tests of the webhook screens share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask

from tests.jobs import hooks
from tests.servers.receiver import Receiver, receiver


@pytest.fixture
def listener(app: Flask) -> Iterator[Receiver]:
    """A receiver that may be reached although it is private."""
    with hooks.settings(app), receiver() as made:
        yield made
