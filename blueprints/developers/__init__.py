"""The API reference for people: `/developers`."""

from __future__ import annotations

from flask import Blueprint, current_app

from blueprints.access import allow_anyone
from blueprints.admin.webhooks.words import GROUPS
from blueprints.page import show
from contract.participants import MOST_KEYS
from domain.accounts.permissions import SENSITIVE_SCOPES

from . import event_words, receiving, reference, words

developers = Blueprint("developers", __name__)
developers.add_app_template_filter(words.coded, "coded")


@developers.get("/developers")
@allow_anyone
def index() -> str:
    """Everything a caller of the API needs, on one page."""
    return show(
        "developers/page.html",
        base_url=current_app.config["SETTINGS"].base_url,
        groups=reference.groups(),
        documents=reference.documents(),
        titles=words.TITLES,
        scopes=words.SCOPES,
        sensitive=SENSITIVE_SCOPES,
        errors=words.ERRORS,
        most_keys=MOST_KEYS,
        receiving=receiving,
        catalogue=receiving.catalogue(),
        event_groups=GROUPS,
        raised_by=event_words.RAISED_BY,
    )
