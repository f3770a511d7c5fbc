"""The machine-readable contracts: one OpenAPI 3.1 document for each resource group (service.md 9)."""

from __future__ import annotations

from flask import Response, url_for

from blueprints.access import allow_anyone
from blueprints.api import openapi
from blueprints.api.answers import answer
from core.errors import NotFound

from . import operations, v2


@v2.get("/api/v2/public/contracts")
@allow_anyone
def contracts() -> Response:
    """The groups and the address of each one's document."""
    return answer(
        [{"group": group, "url": url_for("api_v2.contract", group=group, _external=False)} for group in openapi.GROUPS]
    )


@v2.get("/api/v2/public/contracts/<group>.json")
@allow_anyone
def contract(group: str) -> Response:
    """One group's OpenAPI document."""
    if group not in openapi.GROUPS:
        raise NotFound("contract")
    return Response(openapi.as_text(operations, group), mimetype="application/json")
