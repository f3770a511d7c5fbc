"""Participants over the public API."""

from __future__ import annotations

from flask import Response

from blueprints.api.answers import answer
from blueprints.api.operation import Call, listing
from contract.filters import ParticipantFilters
from contract.participants import Participant, ParticipantUpsert, UpsertMeta
from core.db import transaction
from domain.campaigns import campaign as campaigns
from domain.campaigns import roster

from . import operations

operation = operations.group("participants")


@operation.get(
    "/campaigns/<campaign_id>/participants",
    scope="participants:read",
    filters=ParticipantFilters,
    answers={200: Participant},
    is_list=True,
)
def list_participants(call: Call, campaign_id: str, filters: ParticipantFilters) -> Response:
    """List who stands on a campaign's roster, in the order of creation."""
    campaign = campaigns.refer(call.account_id, campaign_id)
    wanted = roster.Filters(**filters.model_dump())
    total = roster.count(campaign, wanted)
    return listing(roster.public_page(campaign, wanted, call.paging, total), call, total)


@operation.post(
    "/campaigns/<campaign_id>/participants",
    scope="participants:write",
    body=ParticipantUpsert,
    answers={200: Participant, 201: Participant},
    meta=UpsertMeta,
)
def upsert_participant(call: Call, campaign_id: str, body: ParticipantUpsert) -> Response:
    """Add a participant to the roster, or bring one up to date; `email` decides which.

    Answers 201 for a new participant and 200 for one that stood there. Absent properties are left alone; null clears
    `firstName`, `lastName` and `language`. `metadata` is merged key by key, and a key sent as null is deleted. The keys
    `takerLink` and `synthetic` belong to the service: they stay as they are, and `meta.preservedKeys` lists them.
    """
    with transaction():
        campaign = campaigns.refer(call.account_id, campaign_id)
        written = roster.upsert(campaign, body, call.actor)
    return answer(
        roster.as_public(written.row),
        status=201 if written.created else 200,
        created=written.created,
        preservedKeys=written.preserved_keys,
    )
