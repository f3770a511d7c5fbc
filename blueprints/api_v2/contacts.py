"""CRM contacts over the public API, read only."""

from __future__ import annotations

from flask import Response

from blueprints.api.operation import Call, listing
from contract.contacts import Contact
from contract.filters import ContactFilters
from core.db import db
from domain.campaigns import contacts

from . import operations

operation = operations.group("contacts")


@operation.get("/contacts", scope="contacts:read", filters=ContactFilters, answers={200: Contact}, is_list=True)
def list_contacts(call: Call, filters: ContactFilters) -> Response:
    """List the account's contacts, in the order of their creation."""
    query = contacts.of_account(call.account_id, email=filters.email, language=filters.language)
    page = db.session.scalars(query.limit(call.paging.limit).offset(call.paging.offset))
    return listing([contacts.as_public(contact) for contact in page], call, contacts.count(query))
