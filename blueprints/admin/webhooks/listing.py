"""The account's webhooks with their health, and registering one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from flask import flash, request
from flask_babel import gettext as _
from flask_babel import lazy_gettext as lazy
from pydantic import ValidationError
from sqlalchemy import func, select
from wtforms import PasswordField, SelectMultipleField, StringField

from blueprints import webhook_urls
from blueprints.access import allow
from blueprints.creation import CreationForm, once
from blueprints.form_errors import place
from blueprints.page import PageOf, actor, is_fragment, show
from contract.paging import Paging
from contract.webhooks import LEAST_SECRET, MOST_SECRET, WebhookRegister
from core.db import db, transaction
from core.errors import Refused
from domain.events import subscription as subscriptions
from domain.events.catalogue import CATALOGUE, EVENTS, is_sent
from domain.events.delivery import questions
from domain.events.subscription import Subscription

from . import words
from .screen import BASE, screen, to_log

DELETED_AT_ONCE = 20


class RegisterForm(CreationForm):
    """A new webhook. The secret is never written back into the form."""

    prefix_of_id = "whk"

    url = StringField(lazy("URL"), filters=[lambda value: (value or "").strip()])
    events = SelectMultipleField(lazy("Events"), validate_choice=False)
    groups = SelectMultipleField(lazy("Groups"), validate_choice=False)
    secret = PasswordField(lazy("Secret"))

    def chosen(self) -> list[str]:
        """The events ticked, and all those of ticked groups, in the order of the catalogue."""
        events, groups = set(self.events.data or ()), set(self.groups.data or ())
        every = [name for group, names in CATALOGUE.items() for name in names if group in groups or name in events]
        return every + sorted(events - EVENTS)


@screen.get(BASE)
@allow("webhooks:manage")
def index(account_id: str) -> str:
    """Every webhook with how its deliveries go."""
    found = db.session.scalars(subscriptions.of_account(account_id)).all()
    health = questions.health(account_id)
    return show(
        "webhooks/page.html",
        "webhooks/_lists.html",
        subscriptions=found,
        health=health,
        standing=words.standing([health[each.id] for each in found if each.is_active]),
        twins=_twins(found),
        deleted=_deleted(account_id),
        words=words,
    )


@screen.route(BASE + "/new", methods=["GET", "POST"])
@allow("webhooks:manage")
def new(account_id: str) -> Any:
    """Register a webhook."""
    form = RegisterForm()
    if not form.validate_on_submit():
        return _form(form)
    if _is_registered(account_id, form):
        return _sent_before(account_id, form)
    try:
        body = WebhookRegister(url=form.url.data or "", events=form.chosen(), secret=form.secret.data or None)
    except ValidationError as error:
        _say(form, error)
        body = None
    _check_url(form)
    if body is None or form.errors:
        return _form(form)
    try:
        made = once(lambda: _register(account_id, form, body), lambda: _is_registered(account_id, form))
    except Refused as refused:
        place(form, refused, {"events": "events"})
        return _form(form)
    if made is None:
        return _sent_before(account_id, form)
    flash(_("The webhook is registered. Send a test to see whether it arrives."), "success")
    return to_log(account_id, made)


def _register(account_id: str, form: RegisterForm, body: WebhookRegister) -> str:
    with transaction():
        return subscriptions.register(account_id, body, actor(), subscription_id=form.id_to_be).id


def _is_registered(account_id: str, form: RegisterForm) -> bool:
    found = db.session.get(Subscription, form.form_key.data)
    return found is not None and found.account_id == account_id


def _sent_before(account_id: str, form: RegisterForm) -> Any:
    flash(_("The form was sent twice, and registered this webhook once."), "info")
    return to_log(account_id, form.id_to_be)


def _say(form: RegisterForm, error: ValidationError) -> None:
    said = {
        "events": _("Choose at least one event."),
        "secret": _("Use %(least)s to %(most)s characters.", least=LEAST_SECRET, most=MOST_SECRET),
        "secret_blank_end": _("The secret begins or ends with a space or a line break. Take it out."),
    }
    for each in error.errors(include_url=False, include_input=False):
        name = str(each["loc"][0]) if each["loc"] else ""
        if name in said:
            form[name].errors = [said.get(each["type"], said[name])]


def _check_url(form: RegisterForm) -> None:
    url = form.url.data or ""
    if not url:
        form.url.errors = [_("Enter the URL that is to be called.")]
        return
    try:
        webhook_urls.check(url)
    except Refused as refused:
        place(form, refused, {})


def _form(form: RegisterForm) -> Any:
    if form.errors and form.secret.data and not form.secret.errors:
        form.secret.errors = [_("Enter the secret again: no page ever shows one.")]
    said = show(
        "webhooks/new.html",
        form=form,
        catalogue=CATALOGUE,
        words=words,
        sent=list(filter(is_sent, EVENTS)),
        least=LEAST_SECRET,
        most=MOST_SECRET,
    )
    return said, (422 if is_fragment() else 400) if form.errors else 200


def _twins(found: Sequence[Subscription]) -> set[str]:
    """The ids of those that share their URL and their events with another one: each event reaches it twice."""
    alike = Counter((each.url, frozenset(each.events)) for each in found)
    return {each.id for each in found if alike[each.url, frozenset(each.events)] > 1}


def _deleted(account_id: str) -> PageOf:
    """Webhooks that were deleted, the latest first, by the pages of the address."""
    gone = Subscription.account_id == account_id, Subscription.deleted_at.is_not(None)
    wanted = Paging.parse(request.args.get("page"), str(DELETED_AT_ONCE))
    query = select(Subscription).where(*gone).order_by(Subscription.deleted_at.desc(), Subscription.id.desc())
    rows = db.session.scalars(query.limit(wanted.limit).offset(wanted.offset))
    total = db.session.scalar(select(func.count()).select_from(Subscription).where(*gone))
    return PageOf(list(rows), wanted, total or 0)
