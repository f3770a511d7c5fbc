"""The personal pages: what is mine, in whatever account."""

from __future__ import annotations

from flask import Blueprint

me = Blueprint("me", __name__)

from . import profile as profile  # noqa: E402  (its routes hang on `me`)
