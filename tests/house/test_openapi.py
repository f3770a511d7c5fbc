"""service.md 9, contract 4: the OpenAPI documents are valid, and those kept in `docs/openapi/` are fresh."""

import json

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from blueprints.api import openapi
from blueprints.api_v2 import operations


@pytest.mark.parametrize("group", openapi.GROUPS)
def test_every_group_has_a_valid_document(group):
    OpenAPIV31SpecValidator(openapi.document(operations, group)).validate()


@pytest.mark.parametrize("group", openapi.GROUPS)
def test_the_kept_documents_are_fresh(group):
    kept = openapi.KEPT / f"{group}.json"
    assert kept.read_text() == openapi.as_text(operations, group), "run `make openapi`"


def test_every_public_operation_stands_in_exactly_one_document():
    names = [
        operation["operationId"]
        for group in openapi.GROUPS
        for path in openapi.document(operations, group)["paths"].values()
        for operation in path.values()
        if isinstance(operation, dict)
    ]
    assert sorted(names) == sorted({declared.name for declared in operations.declared})


def test_no_v1_call_stands_in_a_public_document():
    texts = [json.dumps(openapi.document(operations, group)) for group in openapi.GROUPS]
    assert not [text for text in texts if "api/v1" in text or "patchParticipant" in text]
