"""The operations as the reference shows them, read from the OpenAPI documents and the examples."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from flask import url_for
from flask_babel import gettext as _

from blueprints.api import openapi
from blueprints.api.docstrings import paragraphs
from blueprints.api.examples import EXAMPLES, Example
from blueprints.api.operation import Declared, Operations
from blueprints.api_v1 import operations as v1
from blueprints.api_v2 import operations as v2

# What an id in a path is called in the shell of the examples.
_IN_PATH = re.compile(r"\{(\w+)Id\}")


@dataclass(frozen=True)
class Property:
    """One row of a table: a property of a body or an answer, or a parameter of the query."""

    name: str
    kind: str
    is_required: bool
    description: str


@dataclass(frozen=True)
class Described:
    """One operation in the reader's language."""

    name: str
    method: str
    path: str
    scopes: tuple[str, ...]
    summary: str
    further: list[str]
    query: list[Property]
    body: list[Property]
    answer: list[Property]
    meta: list[Property]
    statuses: list[int]
    codes: list[str]
    is_list: bool
    curl: str
    example: str
    example_status: int


def groups() -> list[tuple[str, list[Described]]]:
    """The groups that have operations, v1's few calls after the public ones."""
    found = [(group, [*_of_group(v2, group), *_of_group(v1, group)]) for group in openapi.GROUPS]
    return [(group, described) for group, described in found if described]


def documents() -> list[tuple[str, str]]:
    """Every group and the address of its OpenAPI document."""
    return [(group, url_for("api_v2.contract", group=group)) for group in openapi.GROUPS]


def _of_group(operations: Operations, group: str) -> Iterator[Described]:
    document = openapi.document(operations, group)
    for declared in operations.declared:
        if declared.group == group:
            yield _described(operations, declared, document)


def _described(operations: Operations, declared: Declared, document: dict[str, Any]) -> Described:
    said = document["paths"][openapi.path_of(declared.path)][declared.method.lower()]
    schemas = document["components"]["schemas"]
    path = openapi.path_of(operations.base + declared.path)
    summary, *further = [_(each) for each in paragraphs(declared.view.__doc__)]
    example = EXAMPLES[declared.name]
    data, meta = _answer(said, example.status)
    return Described(
        name=declared.name,
        method=declared.method,
        path=path,
        scopes=declared.scopes,
        summary=summary,
        further=further,
        query=[_parameter(each, schemas) for each in said.get("parameters", [])],
        body=properties(_content(said["requestBody"]), schemas) if "requestBody" in said else [],
        answer=properties(data, schemas),
        meta=properties(meta, schemas),
        statuses=sorted(declared.answers),
        codes=list(_codes(said)),
        is_list=declared.is_list,
        curl=_curl(declared.method, path, example),
        example=json.dumps(example.answer, indent=2, ensure_ascii=False),
        example_status=example.status,
    )


def _content(said: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = said["content"]["application/json"]["schema"]
    return schema


def _answer(said: dict[str, Any], status: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schemas of one row of `data`, and of `meta`."""
    parts = _content(said["responses"][str(status)])["properties"]
    return parts["data"].get("items", parts["data"]), parts["meta"]


def _codes(said: dict[str, Any]) -> Iterator[str]:
    """The codes of this operation's own refusals, by status."""
    for status, response in said["responses"].items():
        if status >= "400":
            yield from _content(response)["allOf"][1]["properties"]["code"]["enum"]


def properties(schema: dict[str, Any], schemas: dict[str, Any]) -> list[Property]:
    """The rows of an object's schema, the required ones first."""
    schema = resolved(schema, schemas)
    required = schema.get("required", [])
    rows = [_property(name, part, name in required, schemas) for name, part in schema.get("properties", {}).items()]
    return sorted(rows, key=lambda row: not row.is_required)


def _parameter(said: dict[str, Any], schemas: dict[str, Any]) -> Property:
    described = {**said["schema"], "description": said.get("description", "")}
    return _property(said["name"], described, said.get("required", False), schemas)


def _property(name: str, schema: dict[str, Any], is_required: bool, schemas: dict[str, Any]) -> Property:
    description = schema.get("description") or next(
        (part["description"] for part in schema.get("anyOf", []) if "description" in part), ""
    )
    return Property(name, _kind(schema, schemas), is_required, _(description) if description else "")


def resolved(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    return schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _kind(schema: dict[str, Any], schemas: dict[str, Any]) -> str:
    """A schema in a few words: `text`, or `one of fr, es`, or `list of text`. An object has the name of its shape."""
    if "$ref" in schema:
        return f"`{schema['$ref'].rpartition('/')[2]}`"
    if "enum" in schema:
        return _("one of %(values)s", values=", ".join(f"`{value}`" for value in schema["enum"]))
    if "anyOf" in schema:
        return _(" or ").join(_kind(branch, schemas) for branch in schema["anyOf"])
    if schema.get("type") == "array":
        return _("list of %(kind)s", kind=_kind(schema.get("items", {}), schemas))
    kinds = {
        "string": _("text"),
        "integer": _("whole number"),
        "number": _("number"),
        "boolean": _("true or false"),
        "object": _("object"),
        "null": "`null`",
    }
    return kinds.get(schema.get("type", ""), _("any value"))


def _curl(method: str, path: str, example: Example) -> str:
    """The example's call, ready to be pasted once the shell's variables are set."""
    address = "$ASSESSOR" + _IN_PATH.sub(lambda found: f"${found[1].upper()}", path)
    query = f"?{example.query}" if example.query else ""
    lines = [f'curl "{address}{query}"', '-H "Authorization: Bearer $TOKEN"']
    if method != "GET":
        lines[0] = f'curl -X {method} "{address}{query}"'
    if example.body is not None:
        body = json.dumps(example.body, indent=2, ensure_ascii=False).replace("'", "'\\''")
        lines += ['-H "Content-Type: application/json"', f"-d '{body}'"]
    return " \\\n  ".join(lines)
