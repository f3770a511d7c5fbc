import pytest
from flask import Flask

from tests import world as worlds
from tests.api.client import Caller
from tests.world import World


@pytest.fixture
def caller(app: Flask, world: World) -> Caller:
    """A caller whose token reaches the account with every scope."""
    return Caller(app, world.v2, worlds.token(app, world))


@pytest.fixture
def roster_path(world: World) -> str:
    return f"/campaigns/{world.campaign_id}/participants"
