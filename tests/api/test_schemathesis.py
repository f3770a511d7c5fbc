"""Generated calls against the documents: whatever is sent, the answer is a declared one in its declared shape.

25 calls of each kind for each operation, the same ones in every run. Valid calls are made from the document; broken
ones have at least one part that does not fit it.
"""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi import checks

from blueprints.api import openapi
from blueprints.api_v2 import operations
from tests import world as worlds

# The contract is wider than a schema can say on one side (`page` and `limit` never err) and narrower on the other (a
# text has no NUL, a bag fills up), so which calls are taken and which refused is for the tests beside this one.
UNWRITTEN = [checks.negative_data_rejection, checks.positive_data_acceptance]
OPERATIONS = [pytest.param(declared, id=declared.name) for declared in operations.declared]


@pytest.fixture
def token(app, world):
    """A token whose budget this test cannot use up."""
    return worlds.token(app, world, per_minute=1_000_000)


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("declared", OPERATIONS)
def test_any_call_is_answered_as_declared(app, world, token, declared, mode):
    operation = _operation(app, world, declared)

    @settings(max_examples=25, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def call(case):
        if "campaignId" in (case.path_parameters or {}):
            case.path_parameters["campaignId"] = world.campaign_id
        case.call_and_validate(
            headers={"Authorization": f"Bearer {token}"},
            excluded_checks=UNWRITTEN,
        )

    call()


def _operation(app, world, declared) -> Any:
    document = openapi.document(operations, declared.group)
    document["servers"] = [{"url": f"http://localhost{world.v2}"}]
    schema = schemathesis.openapi.from_dict(document)
    schema.app = app
    return schema[openapi.path_of(declared.path)][declared.method]
