"""Making a thing once, however often its form is sent: by a double press, a reload, or the way back and on again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

from sqlalchemy.exc import IntegrityError
from wtforms import HiddenField

from blueprints.fields import Form
from core.ids import is_id, new_id

Made = TypeVar("Made")


class CreationForm(Form):
    """A form that makes one thing. `form_key` comes with the form and becomes the id of what it makes."""

    prefix_of_id: ClassVar[str]

    form_key = HiddenField()

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data={"form_key": new_id(self.prefix_of_id), **(data or {})})

    @property
    def id_to_be(self) -> str:
        """The id of what is made; where the key is none, a fresh one."""
        return id_from(self.form_key.data or "", self.prefix_of_id)


def id_from(form_key: str, prefix: str) -> str:
    """The id that a form brought along; where it is none, a fresh one."""
    return form_key if is_id(form_key, prefix) else new_id(prefix)


def once(make: Callable[[], Made], is_made: Callable[[], bool]) -> Made | None:
    """What `make` made; None where the same form made it before, or makes it at this moment."""
    if is_made():
        return None
    try:
        return make()
    except IntegrityError:
        if not is_made():
            raise
        return None
