from typing import Any

from flask import Blueprint

from blueprints.access import allow

screen = Blueprint("campaigns", __name__)


@screen.get("/accounts/<account_id>/campaigns")
@allow("account:view")
def index(**_: Any) -> str:
    return "to come"
