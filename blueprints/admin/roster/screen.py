"""The screen's blueprint, and the addresses that its views share."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, redirect, request, url_for

from blueprints.page import is_fragment, with_query

screen = Blueprint("roster", __name__)

ROSTER = "/accounts/<account_id>/campaigns/<campaign_id>/roster"
PERSON = f"{ROSTER}/<participant_id>"


def list_url() -> str:
    """The roster with the filters, the order and the page that the address at hand carries."""
    return with_query(at("index"), request.args.to_dict(flat=False))


def at(view: str, **more: Any) -> str:
    """The address of another view of the same roster."""
    place = {name: (request.view_args or {})[name] for name in ("account_id", "campaign_id")}
    return url_for(f"roster.{view}", **{**more, **place})


def go(address: str) -> Any:
    """Send the browser to a page: htmx leaves by a header, a plain form by a redirect."""
    return ("", 200, {"HX-Redirect": address}) if is_fragment() else redirect(address, 303)
