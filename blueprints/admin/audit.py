"""The audit log: who did what, by which way, to what; newest first, filtered by actor, action and days.

Pages go by id ("older", "newer"), so that a log of millions of entries opens as fast as one of ten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from flask import Blueprint, request, url_for
from flask_babel import gettext as _
from sqlalchemy import select

from blueprints.access import allow
from blueprints.admin import audit_words
from blueprints.page import same_page, show
from core.clock import DAY_MS
from core.db import db
from core.ids import is_id
from domain.campaigns.imports.record import Import
from domain.campaigns.roster import Participant
from domain.events import audit
from domain.events.audit import ACTIONS, AuditEntry
from domain.events.delivery import Delivery

screen = Blueprint("audit", __name__)

ROWS = 50


@dataclass
class Wanted:
    """The filters as the address says them; `problems` are sentences about what could not be read."""

    actor: str = ""
    action: str = ""
    since: str = ""
    until: str = ""
    problems: list[str] = field(default_factory=list)

    @property
    def is_filtered(self) -> bool:
        return bool(self.actor or self.action or self.since or self.until)


@dataclass(frozen=True)
class Entries:
    """One page of the log, newest first, and the addresses of its neighbours."""

    rows: list[AuditEntry]
    newer_url: str | None
    older_url: str | None


@screen.get("/accounts/<account_id>/audit")
@allow("audit:view")
def index(account_id: str) -> str:
    """What was done in this account."""
    wanted = _wanted()
    entries = _page(account_id, wanted)
    return show(
        "audit/page.html",
        "audit/_fragment.html",
        wanted=wanted,
        entries=entries,
        links=_links(account_id, entries.rows),
        words=audit_words,
        actions=[("", _("All actions")), *((code, audit_words.action(code)) for code in ACTIONS)],
        clear_url=url_for("audit.index", account_id=account_id) if wanted.is_filtered else None,
    )


def _wanted() -> Wanted:
    actor, action, since, until = (request.args.get(name, "").strip() for name in ("actor", "action", "since", "until"))
    wanted = Wanted(actor, action, since, until)
    if wanted.action and wanted.action not in ACTIONS:
        wanted.problems.append(_("There is no action “%(action)s”; all are shown.", action=wanted.action))
    for text in (wanted.since, wanted.until):
        if text and _day(text) is None:
            wanted.problems.append(_("“%(text)s” is not a date. Write it like 2026-09-17.", text=text))
    first, last = _day(wanted.since), _day(wanted.until)
    if first is not None and last is not None and last < first:
        wanted.problems.append(_("The last day is before the first, so nothing can be found."))
    return wanted


def _day(text: str) -> int | None:
    """The start of a UTC day in epoch ms."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return round(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)


def _page(account_id: str, wanted: Wanted) -> Entries:
    last = _day(wanted.until)
    query = audit.entries(
        account_id,
        actor=wanted.actor,
        action=wanted.action if wanted.action in ACTIONS else "",
        since=_day(wanted.since),
        until=last + DAY_MS - 1 if last is not None else None,
    )
    before, after = _place("before"), _place("after")
    if after is not None:
        newer = query.where(AuditEntry.id > after).order_by(None).order_by(AuditEntry.id)
        rows = list(db.session.scalars(newer.limit(ROWS + 1)))
        return _entries(rows[:ROWS][::-1], has_newer=len(rows) > ROWS, has_older=True)
    if before is not None:
        query = query.where(AuditEntry.id < before)
    rows = list(db.session.scalars(query.limit(ROWS + 1)))
    return _entries(rows[:ROWS], has_newer=before is not None, has_older=len(rows) > ROWS)


def _place(name: str) -> str | None:
    text = request.args.get(name, "")
    return text if is_id(text, "aud") else None


def _entries(rows: list[AuditEntry], *, has_newer: bool, has_older: bool) -> Entries:
    if not rows:
        return Entries([], same_page(before=None, after=None) if has_newer or has_older else None, None)
    newer = same_page(after=rows[0].id, before=None) if has_newer else None
    return Entries(rows, newer, same_page(before=rows[-1].id, after=None) if has_older else None)


def _links(account_id: str, rows: Sequence[AuditEntry]) -> dict[str, str]:
    """The page of each subject that has one, by the subject's id; three queries for the whole page at most."""
    links = {row.subject_id: url for row in rows if (url := _link(account_id, row)) is not None}
    for delivery_id, webhook_id in _found(Delivery, account_id, rows, "dlv", Delivery.subscription_id):
        links[delivery_id] = url_for(
            "webhooks.delivery", account_id=account_id, subscription_id=webhook_id, delivery_id=delivery_id
        )
    for participant_id, campaign_id, email in _found(
        Participant, account_id, rows, "par", Participant.campaign_id, Participant.email
    ):
        links[participant_id] = url_for("roster.index", account_id=account_id, campaign_id=campaign_id, q=email)
    for import_id, campaign_id in _found(Import, account_id, rows, "imp", Import.campaign_id):
        links[import_id] = url_for("imports.index", account_id=account_id, campaign_id=campaign_id)
    return links


def _link(account_id: str, row: AuditEntry) -> str | None:
    match row.subject_id[:3]:
        case "cmp":
            return url_for("campaigns.show", account_id=account_id, campaign_id=row.subject_id)
        case "usr":
            return url_for("people.index", account_id=account_id)
        case "whk":
            return url_for("webhooks.show", account_id=account_id, subscription_id=row.subject_id)
        case "con" if row.action != "contact.removed":
            return url_for("contacts.index", account_id=account_id, q=row.subject_label)
    return None


def _found(model: Any, account_id: str, rows: Sequence[AuditEntry], prefix: str, *columns: Any) -> list[Any]:
    """Id and these columns of the subjects on the page that still stand."""
    ids = {row.subject_id for row in rows if row.subject_id.startswith(prefix + "_")}
    if not ids:
        return []
    query = select(model.id, *columns).where(model.account_id == account_id, model.id.in_(ids))
    return list(db.session.execute(query))
