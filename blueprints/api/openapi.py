"""OpenAPI 3.1 documents, made from the declared operations."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import TypeAdapter

from contract.envelope import Failure, ListMeta
from contract.paging import DEFAULT_LIMIT, MOST

from .operation import Declared, Operations

VERSION = "2.0.0"
GROUPS = {
    "campaigns": "Campaigns of an account, and the inventory of their assessments.",
    "participants": "Who stands on a campaign's roster.",
    "submissions": "Answered assessments.",
    "exports": "Results as files.",
    "contacts": "CRM contacts of an account.",
    "webhooks": "Subscriptions to events.",
    "authoring": "Templates, scales, labels, retrieval and Blueprints.",
}
REF = "#/components/schemas/{model}"

FAILURES = {
    400: "The body or a filter does not fit; `details` names each place.",
    401: "The bearer token is missing, malformed or not recognised.",
    403: "The token does not reach the account, or lacks the scope.",
    404: "There is no such resource, or it belongs to another account.",
    413: "The body is larger than 1 MiB.",
    415: "The body is not sent as JSON.",
    429: "The token's budget is used up; honour `Retry-After`.",
    500: "Unexpected; `requestId` finds it in the log.",
    503: "The database is busy; nothing was written. Honour `Retry-After`.",
    507: "The disk is full; nothing was written.",
}


def as_text(operations: Operations, group: str) -> str:
    """The document of a group, as it is served and kept in `docs/openapi/`."""
    return json.dumps(document(operations, group), indent=2, ensure_ascii=False) + "\n"


def document(operations: Operations, group: str) -> dict[str, Any]:
    """The OpenAPI 3.1 document of one group; a group without operations has empty `paths`."""
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    for declared in operations.declared:
        if declared.group == group:
            path = paths.setdefault(_path(declared.path), {"parameters": _path_parameters(declared.path)})
            path[declared.method.lower()] = _operation(declared, schemas)
    if paths:
        _schema(Failure, "serialization", schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": f"Assessor public API: {group}", "version": VERSION, "description": GROUPS[group]},
        "servers": [{"url": _path(operations.base), "variables": {"account_id": _ACCOUNT}}],
        "security": [{"serviceToken": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"serviceToken": {"type": "http", "scheme": "bearer"}},
            "schemas": dict(sorted(schemas.items())),
        },
    }


_ACCOUNT = {"default": "acc_00000000000000000000000000", "description": "The account, `acc_...`."}


def _operation(declared: Declared, schemas: dict[str, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": declared.name,
        "summary": declared.summary,
        "description": "\n\n".join(filter(None, [declared.description, f"Scope: {_scopes(declared)}."])),
        "tags": [declared.group],
    }
    parameters = _query_parameters(declared, schemas)
    if parameters:
        described["parameters"] = parameters
    if declared.body is not None:
        content = {"application/json": {"schema": _schema(declared.body, "validation", schemas)}}
        described["requestBody"] = {"required": not declared.may_be_empty, "content": content}
    described["responses"] = {
        **{str(status): _answer(declared, shape, schemas) for status, shape in declared.answers.items()},
        **{str(status): _failure(text) for status, text in FAILURES.items() if _can_fail(declared, status)},
    }
    return described


def _scopes(declared: Declared) -> str:
    return " and ".join(f"`{scope}`" for scope in declared.scopes)


def _can_fail(declared: Declared, status: int) -> bool:
    if status in (413, 415):
        return declared.body is not None
    if status == 400:
        return declared.body is not None or declared.filters is not None
    if status == 404:
        return "<" in declared.path
    return status != 507 or declared.method != "GET"


def _answer(declared: Declared, shape: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    data = _schema(shape, "serialization", schemas)
    meta: dict[str, Any] = (
        {"type": "object"} if declared.meta is None else _schema(declared.meta, "serialization", schemas)
    )
    if declared.is_list:
        data = {"type": "array", "items": data}
        paging = _schema(ListMeta, "serialization", schemas)
        meta = paging if declared.meta is None else {"allOf": [paging, meta]}
    schema = {
        "type": "object",
        "properties": {"success": {"const": True}, "data": data, "meta": meta},
        "required": ["success", "data", "meta"],
    }
    return {"description": "Done.", "headers": _HEADERS, "content": {"application/json": {"schema": schema}}}


_HEADERS = {
    "X-Request-Id": {"schema": {"type": "string"}},
    "RateLimit-Limit": {"schema": {"type": "integer"}, "description": "Calls a minute."},
    "RateLimit-Remaining": {"schema": {"type": "integer"}},
    "RateLimit-Reset": {"schema": {"type": "integer"}, "description": "Seconds."},
}


def _failure(text: str) -> dict[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": {"$ref": REF.format(model="Failure")}}}}


def _query_parameters(declared: Declared, schemas: dict[str, Any]) -> list[dict[str, Any]]:
    parameters: list[dict[str, Any]] = []
    if declared.is_list:
        page = {"type": "integer", "minimum": 1, "default": 1}
        limit = {"type": "integer", "minimum": 1, "maximum": MOST, "default": DEFAULT_LIMIT}
        note = "What cannot be read falls back to the default; what is out of range is clamped."
        parameters += [
            {"name": "page", "in": "query", "description": note, "schema": page},
            {"name": "limit", "in": "query", "description": note, "schema": limit},
        ]
    if declared.filters is not None:
        shape = TypeAdapter(declared.filters).json_schema(ref_template=REF)
        for name, schema in shape["properties"].items():
            parameters.append({"name": name, "in": "query", "schema": _without_null(schema)})
    return parameters


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter is there or not; null is no value of a query."""
    kept = {key: value for key, value in schema.items() if key not in ("default", "title")}
    branches = [branch for branch in kept.pop("anyOf", []) if branch != {"type": "null"}]
    return {**kept, **(branches[0] if len(branches) == 1 else {"anyOf": branches} if branches else {})}


def _schema(shape: Any, mode: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """A reference to the shape's schema, which is put among the components under its own name."""
    made = TypeAdapter(shape).json_schema(ref_template=REF, mode=mode, by_alias=True)
    schemas.update(made.pop("$defs", {}))
    name = made.get("title") or shape.__name__
    if "$ref" in made:
        return made
    schemas[name] = _without_titles(made)
    return {"$ref": REF.format(model=name)}


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    for name, part in schema.get("properties", {}).items():
        if isinstance(part, dict) and part.get("title", "").lower() == name.lower():
            part.pop("title")
    return schema


def _path(rule: str) -> str:
    return re.sub(r"<(\w+)>", r"{\1}", rule)


def _path_parameters(rule: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"<(\w+)>", rule)
    ]
