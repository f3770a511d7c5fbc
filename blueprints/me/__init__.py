from flask import Blueprint

from blueprints.access import allow_signed_in

me = Blueprint("me", __name__)


@me.get("/me/profile")
@allow_signed_in
def profile() -> str:
    return "to come"
