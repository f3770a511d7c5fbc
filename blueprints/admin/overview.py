from typing import Any

from flask import Blueprint

from blueprints.access import allow

screen = Blueprint("overview", __name__)


@screen.get("/accounts/<account_id>")
@allow("account:view")
def show(**_: Any) -> str:
    return "to come"
