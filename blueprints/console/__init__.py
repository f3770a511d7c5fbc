from flask import Blueprint

from blueprints.access import allow_operator

console = Blueprint("console", __name__)


@console.get("/console/accounts")
@allow_operator
def accounts() -> str:
    return "to come"


@console.get("/console/api-credentials")
@allow_operator
def credentials() -> str:
    return "to come"
