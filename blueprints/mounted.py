"""Which blueprints the application mounts."""

from __future__ import annotations

from flask import Blueprint

from . import ops, sessions
from .admin import audit, campaigns, contacts, imports, overview, people, roster, webhooks
from .api_v1 import v1
from .api_v2 import v2
from .console import console
from .developers import developers
from .me import me

MOUNTED: tuple[Blueprint, ...] = (
    sessions.screen,
    overview.screen,
    campaigns.screen,
    roster.screen,
    imports.screen,
    contacts.screen,
    webhooks.screen,
    people.screen,
    audit.screen,
    me,
    console,
    v2,
    v1,
    developers,
    ops.screen,
)
