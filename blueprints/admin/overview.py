"""An account at a glance: where its campaigns and the people on their rosters stand."""

from __future__ import annotations

from flask import Blueprint, g

from blueprints.access import allow
from blueprints.admin import campaign_frame
from blueprints.admin.webhooks import words as webhook_words
from blueprints.page import show
from core.db import db
from domain.accounts.permissions import may
from domain.campaigns import campaign as campaigns
from domain.campaigns.campaign import Campaign
from domain.campaigns.roster import counts
from domain.events.delivery import counting

screen = Blueprint("overview", __name__)

MOST_SHOWN = 10


@screen.get("/accounts/<account_id>", endpoint="show")
@allow("account:view")
def overview(account_id: str) -> str:
    """Campaigns by status, people by status and by language, and how far the active campaigns are."""
    everybody = counts.of_account(account_id)
    statuses = counts.by_status(everybody)
    active = _newest_active(account_id)
    return show(
        "overview/page.html",
        by_status=campaigns.count_by_status(account_id),
        statuses=statuses,
        people=sum(statuses.values()),
        stated=counts.by_language(everybody),
        default_languages=campaign_frame.languages_without_one(g.account),
        active=active,
        completed=counts.completed_by_campaign([campaign.id for campaign in active]),
        deliveries=counting.lately(account_id) if may(g.role, "webhooks:manage") else None,
        grade=webhook_words.grade,
    )


def _newest_active(account_id: str) -> list[Campaign]:
    query = campaigns.of_account(account_id, "active").order_by(None).order_by(Campaign.id.desc())
    return list(db.session.scalars(query.limit(MOST_SHOWN)))
