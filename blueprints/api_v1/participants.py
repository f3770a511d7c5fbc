"""Participants over v1: the one call that integrations may use."""

from __future__ import annotations

from flask import Response

from blueprints.api.answers import answer
from blueprints.api.operation import Call
from contract.participants import Participant, ParticipantPatch
from core.db import transaction
from domain.campaigns import campaign as campaigns
from domain.campaigns import roster

from . import operations

operation = operations.group("participants")


@operation.patch(
    "/campaigns/<campaign_id>/participants/<participant_id>",
    scope="participants:write",
    permission="roster:edit",
    body=ParticipantPatch,
    answers={200: Participant},
)
def patch_participant(call: Call, campaign_id: str, participant_id: str, body: ParticipantPatch) -> Response:
    """Change one participant. `language` null clears it; absent properties are left alone."""
    with transaction():
        campaign = campaigns.refer(call.account_id, campaign_id)
        written = roster.change(campaign, participant_id, body, call.actor)
    return answer(roster.as_public(written.row), preservedKeys=written.preserved_keys)
