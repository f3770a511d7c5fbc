"""From a body that a contract model refused to sentences at the fields of a form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flask_babel import gettext as _
from flask_wtf import FlaskForm
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from blueprints.fields import refuse
from blueprints.sentences import sentence
from core.errors import Refused


def invalid(form: FlaskForm, error: ValidationError, fields: Mapping[str, str]) -> None:
    """Put each thing wrong at the field that it is about, else at the top; `fields` maps public names to the form's."""
    for each in error.errors(include_url=False):
        name = fields.get(str(each["loc"][0]) if each["loc"] else "")
        errors: Any = form[name].errors if name is not None else form.form_errors
        said = [*errors, _sentence(each)]
        if name is not None:
            form[name].errors = said
        else:
            form.form_errors = said


def place(form: FlaskForm, error: ValidationError | Refused, fields: Mapping[str, str]) -> None:
    """The same for whatever says no: the shape of the body, or a rule of the domain."""
    if isinstance(error, Refused):
        refuse(form, error, fields)
    else:
        invalid(form, error, fields)


def _sentence(error: ErrorDetails) -> str:
    said = _SENTENCES.get(error["type"])
    return said(error.get("ctx", {})) if said is not None else _("This value does not fit here.")


# Types of pydantic and of the contract's own checks.
_SENTENCES: dict[str, Callable[[dict[str, Any]], str]] = {
    "email_syntax": lambda _ctx: sentence(Refused("EMAIL_INVALID")),
    "literal_error": lambda _ctx: _("Choose one of the list."),
    "missing": lambda _ctx: _("Fill in this field."),
    "string_too_long": lambda ctx: sentence(Refused("TOO_LONG", most=ctx["max_length"])),
}
