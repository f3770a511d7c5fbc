from flask import Blueprint

from blueprints.access import allow_anyone

developers = Blueprint("developers", __name__)


@developers.get("/developers")
@allow_anyone
def index() -> str:
    return "to come"
