"""The v2 public API: the narrow, stable surface for other systems (service.md 4.1)."""

from flask import Blueprint

from blueprints.api.operation import Operations, with_budget

v2 = Blueprint("api_v2", __name__)
v2.after_request(with_budget)

operations = Operations(v2, "/api/v2/public/accounts/<account_id>", "v2_public_api")

from . import campaigns, contacts, contracts, participants, webhooks  # noqa: E402  (they declare their operations on `operations`)

__all__ = ["campaigns", "contacts", "contracts", "operations", "participants", "v2", "webhooks"]
