"""OpenAPI 3.1 documents, made from the declared operations.

`make openapi` writes them to `docs/openapi/` too.
"""

from __future__ import annotations

import json
import re
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from contract.envelope import ErrorCode, Failure, ListMeta
from contract.paging import PagingQuery

from . import deliveries
from .docstrings import paragraphs
from .examples import ACCOUNT, EXAMPLES
from .operation import Declared, Operations

KEPT = Path(__file__).parents[2] / "docs" / "openapi"
# The public contract of v2: its second documented change (service.md 9).
VERSION = "1.2.0"
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

# What each status of a refusal means, and the codes it comes with (service.md 7, contract 1).
FAILURES: dict[int, tuple[str, tuple[ErrorCode, ...]]] = {
    400: ("The body or a filter does not fit; `details` names each place.", ("INVALID_BODY", "INVALID_FILTER")),
    401: ("The bearer token is missing, malformed or not recognised.", ("TOKEN_INVALID", "TOKEN_EXPIRED_PREFIX")),
    403: ("The token does not reach the account, or lacks the scope.", ("ACCOUNT_NOT_IN_SCOPE", "SCOPE_REQUIRED")),
    404: ("There is no such resource, or it belongs to another account.", ("NOT_FOUND",)),
    409: ("The change met another one; nothing was written.", ("CONFLICT",)),
    413: ("The body is larger than 1 MiB.", ("PAYLOAD_TOO_LARGE",)),
    415: ("The body is not sent as JSON.", ("UNSUPPORTED_MEDIA_TYPE",)),
    429: ("The token's budget is used up; honour `Retry-After`.", ("RATE_LIMITED",)),
    500: ("Unexpected; `requestId` finds it in the log.", ("INTERNAL",)),
    503: ("The database is busy; nothing was written. Honour `Retry-After`.", ("STORAGE_BUSY",)),
    507: ("The disk is full; nothing was written.", ("STORAGE_FULL",)),
}
REQUEST_ID = {"X-Request-Id": {"schema": {"type": "string"}, "description": "Finds the call in the log."}}
BUDGET = {
    "RateLimit-Limit": {"schema": {"type": "integer"}, "description": "Calls a minute."},
    "RateLimit-Remaining": {"schema": {"type": "integer"}, "description": "Calls left in this minute."},
    "RateLimit-Reset": {"schema": {"type": "integer"}, "description": "Seconds until the next minute begins."},
}
RETRY_AFTER = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds to wait."}}
CHALLENGE = {"WWW-Authenticate": {"schema": {"type": "string"}}}
# Refusals that come before the token's budget was counted carry no budget.
HEADERS = {
    401: REQUEST_ID | CHALLENGE,
    403: REQUEST_ID,
    429: REQUEST_ID | BUDGET | RETRY_AFTER,
    500: REQUEST_ID,
    503: REQUEST_ID | RETRY_AFTER,
    507: REQUEST_ID,
}
_ID_PREFIXES = {"campaign": "cmp", "participant": "par", "subscription": "whk", "template": "tpl", "blueprint": "bpr"}


def as_text(operations: Operations, group: str) -> str:
    """The document of a group, as it is served and kept in `docs/openapi/`."""
    return json.dumps(document(operations, group), indent=2, ensure_ascii=False) + "\n"


def document(operations: Operations, group: str) -> dict[str, Any]:
    """The OpenAPI 3.1 document of one group; a group without operations has empty `paths`."""
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    for declared in operations.declared:
        if declared.group == group:
            path = paths.setdefault(path_of(declared.path), _path_parameters(declared.path))
            path[declared.method.lower()] = _operation(declared, schemas)
    further: dict[str, Any] = {}
    shared: dict[str, Any] = {}
    if group == "webhooks" and paths:
        further["webhooks"] = deliveries.webhooks(lambda shape: _schema(shape, "serialization", schemas))
        shared["parameters"] = deliveries.parameters()
    if paths:
        _schema(Failure, "serialization", schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": f"Assessor public API: {group}", "version": VERSION, "description": GROUPS[group]},
        "servers": [{"url": path_of(operations.base), "variables": {"accountId": _ACCOUNT}}],
        "security": [{"serviceToken": []}],
        "paths": paths,
        **further,
        "components": {
            "securitySchemes": {"serviceToken": {"type": "http", "scheme": "bearer"}},
            **shared,
            "schemas": dict(sorted(schemas.items())),
        },
    }


_ACCOUNT = {"default": ACCOUNT, "description": "The account, `acc_...`."}


def _operation(declared: Declared, schemas: dict[str, Any]) -> dict[str, Any]:
    summary, *further = paragraphs(declared.view.__doc__)
    described: dict[str, Any] = {
        "operationId": declared.name,
        "summary": summary,
        "description": "\n\n".join([*further, f"Scope: {_scopes(declared)}."]),
        "tags": [declared.group],
    }
    parameters = _query_parameters(declared)
    if parameters:
        described["parameters"] = parameters
    if declared.body is not None:
        media: dict[str, Any] = {"schema": _schema(declared.body, "validation", schemas)}
        if declared.name in EXAMPLES:
            media["example"] = EXAMPLES[declared.name].body
        content = {"application/json": media}
        described["requestBody"] = {"required": not declared.may_be_empty, "content": content}
    described["responses"] = {
        **{str(status): _answer(declared, shape, status, schemas) for status, shape in declared.answers.items()},
        **{str(status): _failure(declared, status) for status in FAILURES if _can_fail(declared, status)},
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
    return status not in (409, 507) or declared.method != "GET"


def _answer(declared: Declared, shape: Any, status: int, schemas: dict[str, Any]) -> dict[str, Any]:
    data = _schema(shape, "serialization", schemas)
    if declared.is_list:
        data = {"type": "array", "items": data}
    schema = {
        "type": "object",
        "properties": {"success": {"const": True}, "data": data, "meta": _meta(declared, schemas)},
        "required": ["success", "data", "meta"],
    }
    media: dict[str, Any] = {"schema": schema}
    example = EXAMPLES.get(declared.name)
    if example is not None and example.status == status:
        media["example"] = example.answer
    text = "Created." if status == 201 else "Done."
    return {"description": text, "headers": REQUEST_ID | BUDGET, "content": {"application/json": media}}


def _meta(declared: Declared, schemas: dict[str, Any]) -> dict[str, Any]:
    """The schema of `meta`: paging for a list, then what the operation declares, in one object."""
    shapes = [*([ListMeta] if declared.is_list else []), *([declared.meta] if declared.meta else [])]
    if not shapes:
        return {"type": "object", "description": "Nothing to say: `{}`."}
    if len(shapes) == 1:
        return _schema(shapes[0], "serialization", schemas)
    made = [_without_titles(TypeAdapter(each).json_schema(ref_template=REF)) for each in shapes]
    return {
        "type": "object",
        "properties": {name: part for each in made for name, part in each["properties"].items()},
        "required": [name for each in made for name in each.get("required", [])],
    }


def codes_of(declared: Declared, status: int) -> tuple[ErrorCode, ...]:
    """The codes of a status that this operation can answer with."""
    unlikely = {
        "INVALID_BODY": declared.body is None,
        "INVALID_FILTER": declared.filters is None,
        "SCOPE_REQUIRED": len(declared.scopes) > 1,
    }
    codes = tuple(code for code in FAILURES[status][1] if not unlikely.get(code))
    if status == 400:
        codes = (*codes, *declared.refusals)
    if status == 403 and len(declared.scopes) > 1:
        codes = (*codes, "COMPILE_SCOPES_REQUIRED")
    if status == 403 and declared.permission is not None:
        codes = (*codes, "FORBIDDEN")
    return codes


def _failure(declared: Declared, status: int) -> dict[str, Any]:
    codes = codes_of(declared, status)
    schema = {"allOf": [{"$ref": REF.format(model="Failure")}, {"properties": {"code": {"enum": list(codes)}}}]}
    return {
        "description": FAILURES[status][0],
        "headers": HEADERS.get(status, REQUEST_ID | BUDGET),
        "content": {"application/json": {"schema": schema}},
    }


def _query_parameters(declared: Declared) -> list[dict[str, Any]]:
    paging: type[BaseModel] | None = PagingQuery if declared.is_list else None
    shapes = [shape for shape in (paging, declared.filters) if shape is not None]
    return [
        _query_parameter(name, _without_null(schema))
        for shape in shapes
        for name, schema in TypeAdapter(shape).json_schema(ref_template=REF)["properties"].items()
    ]


def _query_parameter(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    description = schema.pop("description", None)
    described = {"description": description} if description else {}
    return {"name": name, "in": "query", **described, "schema": schema}


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter is there or not; null is no value of a query."""
    kept = {key: value for key, value in schema.items() if key != "title" and value is not None}
    branches = [branch for branch in kept.pop("anyOf", []) if branch != {"type": "null"}]
    return {**kept, **(branches[0] if len(branches) == 1 else {"anyOf": branches} if branches else {})}


def _schema(shape: Any, mode: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """A reference to the shape's schema, which is put among the components under its own name."""
    made = deepcopy(_made(shape, mode))
    schemas.update({name: _without_titles(part) for name, part in made.pop("$defs", {}).items()})
    if "$ref" in made or made.get("type") == "array":
        return made
    name = made.get("title") or shape.__name__
    schemas[name] = _without_titles(made)
    return {"$ref": REF.format(model=name)}


@cache
def _made(shape: Any, mode: Any) -> dict[str, Any]:
    """The schema as pydantic makes it: slow, and asked for by every reader of the reference."""
    return TypeAdapter(shape).json_schema(ref_template=REF, mode=mode, by_alias=True)


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    for name, part in schema.get("properties", {}).items():
        if isinstance(part, dict) and part.get("title", "").lower() == name.lower():
            part.pop("title")
    return schema


def path_of(rule: str) -> str:
    """A route's rule as the documents write it: `<campaign_id>` is `{campaignId}`."""
    return re.sub(r"<(\w+)>", lambda found: f"{{{_camel(found[1])}}}", rule)


def _path_parameters(rule: str) -> dict[str, Any]:
    parameters = [_path_parameter(name) for name in re.findall(r"<(\w+)>", rule)]
    return {"parameters": parameters} if parameters else {}


def _path_parameter(name: str) -> dict[str, Any]:
    prefix = _ID_PREFIXES.get(name.removesuffix("_id"), "[a-z]{3}")
    schema = {"type": "string", "pattern": f"^{prefix}_[0-9a-z]{{26}}$"}
    return {"name": _camel(name), "in": "path", "required": True, "schema": schema}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def keep(operations: Operations) -> None:
    """Write every group's document to `docs/openapi/`."""
    KEPT.mkdir(parents=True, exist_ok=True)
    for group in GROUPS:
        (KEPT / f"{group}.json").write_text(as_text(operations, group))
