"""A bundle's file, read strictly and written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from blueprints.api import reading, strict_json
from contract.bundle import Bundle
from contract.errors import ApiError

MOST_SHOWN = 20


class Unreadable(Exception):
    """The file is no bundle. The message has a line for each thing wrong, with its place."""


def read(raw: bytes) -> Bundle:
    """The bundle that a file's bytes hold, or `Unreadable`."""
    try:
        value = strict_json.parse(raw)
    except ApiError as error:
        found = error.details or [{"path": "", "message": error.error}]
        raise Unreadable("\n".join(_line(each["path"], each["message"]) for each in found)) from None
    if not isinstance(value, dict):
        raise Unreadable('The file must be a JSON object such as {"bundle": 1, "accounts": []}.')
    try:
        return Bundle.model_validate(value)
    except ValidationError as error:
        raise Unreadable(_told(error.errors(include_url=False))) from None


def write(bundle: Mapping[str, Any], path: Path) -> None:
    """Write the file beside its place and then move it there, so that a full disk leaves no half of one."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with scratch.open("w", encoding="utf-8", newline="\n") as file:
            json.dump(bundle, file, ensure_ascii=False, indent=1)
            file.write("\n")
        scratch.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        scratch.unlink(missing_ok=True)


def place(location: tuple[int | str, ...]) -> str:
    """A validator's location as people write it: `accounts[0].campaigns[1].name`."""
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path


def _told(errors: list[ErrorDetails]) -> str:
    lines = [_line(place(each["loc"]), _message(each)) for each in errors]
    shown = list(dict.fromkeys(lines))
    more = len(shown) - MOST_SHOWN
    return "\n".join(shown[:MOST_SHOWN] + ([f"... and {more} more."] if more > 0 else []))


def _line(path: str, message: str) -> str:
    if not path:
        return message.replace("The body", "The file", 1)
    return f"{path}: {message.rstrip('.')}."


def _message(each: ErrorDetails) -> str:
    if each["type"] == "extra_forbidden":
        return "is not a property that a bundle has here"
    sentence = reading.SENTENCES.get(each["type"])
    return sentence.format(**each.get("ctx", {})) if sentence else each["msg"]
