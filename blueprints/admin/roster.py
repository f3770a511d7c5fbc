from typing import Any

from flask import Blueprint

from blueprints.access import allow

screen = Blueprint("roster", __name__)


@screen.get("/accounts/<account_id>/campaigns/<campaign_id>/roster")
@allow("account:view")
def index(**_: Any) -> str:
    return "to come"
