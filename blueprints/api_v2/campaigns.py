"""Campaigns over the public API."""

from __future__ import annotations

from flask import Response

from blueprints.api.answers import answer
from blueprints.api.operation import Call, listing
from contract.campaigns import Campaign
from contract.filters import CampaignFilters
from core.db import db
from domain.campaigns import campaign as campaigns

from . import operations

operation = operations.group("campaigns")


@operation.get("/campaigns", scope="campaigns:read", filters=CampaignFilters, answers={200: Campaign}, is_list=True)
def list_campaigns(call: Call, filters: CampaignFilters) -> Response:
    """List the account's campaigns, in the order of their creation."""
    total = campaigns.count(call.account_id, filters.status)
    query = campaigns.of_account(call.account_id, filters.status)
    page = db.session.scalars(query.limit(call.paging.limit).offset(call.paging.offset))
    return listing([campaigns.as_public(campaign) for campaign in page], call, total)


@operation.get("/campaigns/<campaign_id>", scope="campaigns:read", answers={200: Campaign})
def read_campaign(call: Call, campaign_id: str) -> Response:
    """Read one campaign."""
    return answer(campaigns.as_public(campaigns.get(call.account_id, campaign_id)))
