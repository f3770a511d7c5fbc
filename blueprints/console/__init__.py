"""The operators' console: accounts and API credentials of the whole platform."""

from __future__ import annotations

from flask import Blueprint

console = Blueprint("console", __name__)

from . import accounts as accounts  # noqa: E402  (its routes hang on `console`)
from . import credentials as credentials  # noqa: E402  (as above)
