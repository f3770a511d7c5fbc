"""Answers against the OpenAPI documents, more strictly than the documents ask: a property they do not name fails."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator
from werkzeug.test import TestResponse

from blueprints.api import openapi
from blueprints.api.operation import Declared
from blueprints.api_v1 import operations as v1
from blueprints.api_v2 import operations as v2


def hold(declared: Declared, answer: TestResponse) -> None:
    """Fail where the answer's status, headers or body is not what the operation's document says."""
    responses = operation(declared)["responses"]
    assert str(answer.status_code) in responses, f"{declared.name} does not declare {answer.status_code}"
    described = responses[str(answer.status_code)]
    assert answer.mimetype in described["content"]
    missing = [name for name in described["headers"] if name not in answer.headers]
    # The budget is a token's: a person who calls v1 by session has none.
    if "Authorization" in answer.request.headers:
        assert not missing, f"{declared.name} answered {answer.status_code} without {missing}"
    schema = described["content"][answer.mimetype]["schema"]
    hold_value(declared, schema, answer.get_json())


def hold_value(declared: Declared, schema: dict[str, Any], value: Any) -> None:
    """Fail where a value does not have this shape of the operation's document."""
    whole = {**_strict(schema), "components": _strict(document(declared)["components"])}
    problems = [f"{error.json_path}: {error.message}" for error in Draft202012Validator(whole).iter_errors(value)]
    assert not problems, f"{declared.name}: {problems}"


def hold_payload(name: str, payload: Any) -> None:
    """Fail where an event's payload does not have the shape that the webhooks' document tells."""
    whole = _document(True, "webhooks")
    body = whole["webhooks"][name]["post"]["requestBody"]["content"]["application/json"]["schema"]
    schema = {**_strict(body["allOf"][1]["properties"]["payload"]), "components": _strict(whole["components"])}
    problems = [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(payload)]
    assert not problems, f"{name}: {problems}"


def operation(declared: Declared) -> dict[str, Any]:
    """What the document says of an operation."""
    found: dict[str, Any] = document(declared)["paths"][openapi.path_of(declared.path)][declared.method.lower()]
    return found


def document(declared: Declared) -> dict[str, Any]:
    """The document of the operation's group."""
    return _document(declared in v2.declared, declared.group)


@lru_cache
def _document(is_public: bool, group: str) -> dict[str, Any]:
    return openapi.document(v2 if is_public else v1, group)


def _strict(schema: Any) -> Any:
    """The same schema, in which an object has no other properties than those named."""
    if isinstance(schema, list):
        return [_strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if schema.get("type") == "object" and "properties" in schema else {}
    return {**closed, **{name: _strict(part) for name, part in schema.items()}}
