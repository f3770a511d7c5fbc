"""The few v1 calls that integrations may use (service.md 4.4). They take a service token, or the session of somebody
whose role allows it together with the CSRF token of that session (contract 3, "v1 calls")."""

from flask import Blueprint

from blueprints.api.operation import Operations, with_budget

v1 = Blueprint("api_v1", __name__)
v1.after_request(with_budget)

operations = Operations(v1, "/api/v1/accounts/<account_id>", "v1_api")

from . import participants, webhooks  # noqa: E402  (they declare their operations on `operations`)

__all__ = ["operations", "participants", "v1", "webhooks"]
