"""Bodies and filters against their declared shapes; what does not fit is told at its place, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from contract.envelope import Detail
from contract.errors import ApiError, invalid_body, invalid_filter

Shape = TypeVar("Shape", bound=BaseModel)

SENTENCES = {
    "missing": "is required",
    "string_type": "must be a text",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "dict_type": "must be an object",
    "list_type": "must be a list",
    "model_type": "must be an object",
    "none_required": "must be null",
    "too_long": "must have at most {max_length} entries; it has {actual_length}",
    "too_short": "must have {min_length} or more entries; it has {actual_length}",
    "string_too_long": "must have at most {max_length} characters",
    "string_too_short": "must have at least {min_length} characters",
    "literal_error": "must be one of {expected}",
    "int_parsing": "must be a whole number",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
}


def body(shape: type[Shape], value: Any) -> Shape:
    """The body as its model, or 400 `INVALID_BODY` naming each place."""
    if not isinstance(value, dict):
        raise invalid_body({"path": "", "message": "The body must be a JSON object."})
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        raise invalid_body(*details(error, shape, value)) from None


def filters(shape: type[Shape], given: Mapping[str, str]) -> Shape:
    """The query's filters as their model; unknown parameters are ignored, unknown values are 400 `INVALID_FILTER`."""
    names = {info.alias or name for name, info in shape.model_fields.items()}
    wanted = {name: value for name, value in given.items() if name in names}
    for name, value in wanted.items():
        if "\0" in value:
            raise invalid_filter(name, "has a NUL character")
    try:
        return shape.model_validate(wanted)
    except ValidationError as error:
        raise _filter_refused(details(error, shape, wanted)) from None


def details(error: ValidationError, shape: type[BaseModel], value: Any) -> list[Detail]:
    """Each thing wrong once, with its place in the body and a sentence."""
    found: dict[str, Detail] = {}
    for each in error.errors(include_url=False):
        path = _path(each["loc"], value)
        found.setdefault(path, {"path": path, "message": _message(each, shape)})
    return list(found.values())


def _filter_refused(problems: list[Detail]) -> ApiError:
    first = problems[0]
    refusal = invalid_filter(first["path"], first["message"])
    refusal.details = problems
    return refusal


def _message(each: ErrorDetails, shape: type[BaseModel]) -> str:
    if each["type"] == "extra_forbidden":
        accepted = ", ".join(info.alias or name for name, info in shape.model_fields.items())
        return f"is not a property of this body; {f'accepted are {accepted}' if accepted else 'it takes no properties'}"
    sentence = SENTENCES.get(each["type"])
    return sentence.format(**each.get("ctx", {})) if sentence else each["msg"]


def _path(location: tuple[int | str, ...], value: Any) -> str:
    """The place in the value, without the validator's own marks (such as the branch of a union)."""
    path = ""
    here = value
    for step in location:
        if isinstance(step, int) and isinstance(here, list):
            path, here = f"{path}[{step}]", here[step] if step < len(here) else None
        elif isinstance(step, str) and (isinstance(here, dict) and (step in here or not path)):
            path, here = f"{path}.{step}" if path else step, here.get(step)
    return path
