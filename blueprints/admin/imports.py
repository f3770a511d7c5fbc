from typing import Any

from flask import Blueprint

from blueprints.access import allow

screen = Blueprint("imports", __name__)


@screen.get("/accounts/<account_id>/campaigns/<campaign_id>/import")
@allow("account:view")
def index(**_: Any) -> str:
    return "to come"
