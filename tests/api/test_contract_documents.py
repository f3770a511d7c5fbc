"""contract 4: the documents are served to everybody; every example fits what its operation declares."""

import pytest

from blueprints.api import docstrings, openapi
from blueprints.api.examples import EXAMPLES
from blueprints.api.operation import Declared
from blueprints.api_v1 import operations as v1
from blueprints.api_v2 import operations as v2
from contract.envelope import ErrorCode
from tests.api import documents

OPERATIONS = [*v2.declared, *v1.declared]


def _name(declared: Declared) -> str:
    return declared.name


def test_the_documents_are_listed_and_served_to_strangers(stranger):
    listed = stranger.get("/api/v2/public/contracts").get_json()["data"]
    assert [entry["group"] for entry in listed] == list(openapi.GROUPS)
    for entry in listed:
        served = stranger.get(entry["url"])
        assert served.status_code == 200
        assert served.mimetype == "application/json"
        assert served.get_json() == openapi.document(v2, entry["group"])


def test_an_unknown_group_is_not_found(stranger):
    answer = stranger.get("/api/v2/public/contracts/nothing.json")
    assert (answer.status_code, answer.get_json()["code"]) == (404, "NOT_FOUND")


def test_a_group_without_operations_has_empty_paths():
    empty = set(openapi.GROUPS) - {declared.group for declared in v2.declared}
    assert all(openapi.document(v2, group)["paths"] == {} for group in empty)


@pytest.mark.parametrize("declared", OPERATIONS, ids=_name)
def test_every_operation_has_an_example_that_fits_it(declared):
    example = EXAMPLES[declared.name]
    described = documents.operation(declared)
    schema = described["responses"][str(example.status)]["content"]["application/json"]["schema"]
    documents.hold_value(declared, schema, example.answer)
    assert (example.body is None) == (declared.body is None)
    if declared.body is not None:
        declared.body.model_validate(example.body)


@pytest.mark.parametrize("declared", OPERATIONS, ids=_name)
def test_every_operation_says_what_it_does(declared):
    summary = docstrings.paragraphs(declared.view.__doc__)[0]
    assert summary.endswith(".")
    assert documents.operation(declared)["summary"] == summary


def test_refusals_say_when_to_try_again_and_which_codes_they_carry():
    upsert = next(declared for declared in v2.declared if declared.name == "upsertParticipant")
    responses = documents.operation(upsert)["responses"]
    assert {"200", "201", "400", "401", "403", "404", "413", "415", "429", "500", "503", "507"} <= responses.keys()
    assert "Retry-After" in responses["429"]["headers"]
    assert "Retry-After" in responses["503"]["headers"]
    codes = responses["403"]["content"]["application/json"]["schema"]["allOf"][1]["properties"]["code"]["enum"]
    assert codes == ["ACCOUNT_NOT_IN_SCOPE", "SCOPE_REQUIRED"]
    register = next(declared for declared in v2.declared if declared.name == "registerWebhook")
    responses = documents.operation(register)["responses"]
    codes = responses["400"]["content"]["application/json"]["schema"]["allOf"][1]["properties"]["code"]["enum"]
    assert codes == ["INVALID_BODY", "UNKNOWN_EVENT_TYPES", "WEBHOOK_URL_REFUSED"]
    known = set(ErrorCode.__args__)
    assert all(set(codes) <= known for _, codes in openapi.FAILURES.values())
