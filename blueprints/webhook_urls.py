"""Where a webhook may lead, asked before its registration (contract 2)."""

from __future__ import annotations

from flask import current_app

from core.db import db
from core.errors import Refused
from core.settings import Settings
from outbound import resolve
from outbound.resolve import UrlRefused


def check(url: str) -> None:
    """Refuse a URL that may not be registered, with a code of `outbound.resolve`; its name may be looked up.

    Never call it inside a transaction: the look-up takes seconds where a resolver is slow. What this request read
    before is let go first, so that no connection to the database waits with it.
    """
    settings: Settings = current_app.config["SETTINGS"]
    db.session.rollback()
    try:
        resolve.check_registration(url, allow_private=settings.webhook_allow_private_hosts)
    except UrlRefused as refused:
        raise Refused(refused.code, "url", address=refused.address, most=resolve.LONGEST_URL) from None
