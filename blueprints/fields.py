"""Form fields of our own, and the way from a refusal of the domain to the field that it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

from flask import request
from flask_babel import lazy_gettext as lazy
from flask_wtf import FlaskForm
from werkzeug.datastructures import MultiDict
from wtforms import DateTimeLocalField, HiddenField

from blueprints import nul
from blueprints.sentences import sentence
from core import clock
from core.errors import Refused


class Form(FlaskForm):
    """A form of a screen. It reads what a form's fields send, never a file or a JSON body in their place."""

    class Meta(FlaskForm.Meta):
        def wrap_formdata(self, form: FlaskForm, formdata: Any) -> Any:
            if formdata is None or isinstance(formdata, MultiDict):
                return formdata
            return request.form if form.is_submitted() else None

    def validate(self, extra_validators: Mapping[str, Sequence[Any]] | None = None) -> bool:
        """Whether the form may go on; a NUL that somebody pasted is said where it stood, whatever else is wrong."""
        is_valid = bool(super().validate(extra_validators))
        told = [(field, nul.problem(field.name)) for field in self if not isinstance(field, HiddenField)]
        for field, problem in told:
            if problem is not None:
                field.errors = [problem]
                is_valid = False
        return is_valid


class UtcTimeField(DateTimeLocalField):
    """A date and time in UTC; its data is epoch milliseconds, whole minutes."""

    data: Any

    def process_formdata(self, valuelist: list[str]) -> None:
        if not valuelist:  # a body without the field leaves the time as it is
            return
        try:
            super().process_formdata(valuelist)
        except ValueError as error:
            raise ValueError(lazy("Enter a date and a time, such as 2026-09-17 09:00.")) from error
        if self.data is not None:
            self.data = round(self.data.replace(tzinfo=UTC).timestamp() * 1000)

    def _value(self) -> str:
        if self.raw_data:
            return " ".join(self.raw_data)
        return clock.to_datetime(self.data).strftime("%Y-%m-%dT%H:%M") if self.data is not None else ""


def refuse(form: FlaskForm, refused: Refused, fields: Mapping[str, str]) -> None:
    """Put a refusal's sentence at the field that its path means; `fields` maps public names to the form's.

    A refusal that is about no field of the form stands at its top.
    """
    name = fields.get(refused.path, refused.path)
    errors: Any = form[name].errors if name in form else form.form_errors
    if name in form:
        form[name].errors = [*errors, sentence(refused)]
    else:
        errors.append(sentence(refused))
