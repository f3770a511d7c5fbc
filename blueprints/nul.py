"""The NUL character, which no database can hold: it is taken out of what pages are sent, and the field says so."""

from __future__ import annotations

from flask import Flask, abort, g, request
from flask_babel import gettext as _
from werkzeug.datastructures import ImmutableMultiDict, MultiDict

from .api.answers import is_api

NUL = "\0"


def init_app(app: Flask) -> None:
    app.before_request(_take_out)


def problem(field: str) -> str | None:
    """What the form's field says whose text had one."""
    if field not in g.get("fields_with_nul", ()):
        return None
    return _("An invisible character that cannot be stored was taken out here. Check this field, then send it again.")


def _take_out() -> None:
    """A text that was pasted may have one, an address that leads anywhere has none; a search does without."""
    if NUL in request.path:
        abort(400)
    if is_api(request.path):  # says it in its own words
        return
    g.fields_with_nul = frozenset(name for name, value in request.form.items(multi=True) if NUL in value)
    if g.fields_with_nul:
        request.form = _without(request.form)
    if any(NUL in value for _name, value in request.args.items(multi=True)):
        request.args = _without(request.args)


def _without(sent: MultiDict[str, str]) -> ImmutableMultiDict[str, str]:
    return ImmutableMultiDict([(name, value.replace(NUL, "")) for name, value in sent.items(multi=True)])
