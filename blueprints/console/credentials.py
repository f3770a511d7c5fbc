"""API credentials: minting, where the plaintext is seen once, the list, and revoking."""

from __future__ import annotations

from typing import Any

from flask import current_app, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import lazy_gettext as lazy
from wtforms import SelectMultipleField, StringField

from blueprints.access import allow_operator
from blueprints.creation import CreationForm, once
from blueprints.fields import refuse
from blueprints.page import actor, is_fragment, show
from core import clock
from core.db import transaction
from core.errors import NotFound, Refused
from domain.accounts import account as accounts
from domain.accounts import credentials
from domain.accounts.credentials import DEFAULT_PER_MINUTE, ServiceToken
from domain.accounts.permissions import SCOPES, SENSITIVE_SCOPES

from . import console

SCOPE_SENTENCES = {
    "campaigns:read": lazy("Lists and reads campaigns."),
    "participants:read": lazy("Lists participants with their e-mail address and metadata."),
    "participants:write": lazy("Adds participants, brings them up to date, and sets languages."),
    "submissions:read": lazy("Lists submissions: who answered and when, without the answers."),
    "submissions:read:answers": lazy("Opens what respondents answered, in each submission that is read."),
    "results:export": lazy("Opens whole exports: every answer of a campaign in one file."),
    "contacts:read": lazy("Lists contacts with their e-mail address."),
    "webhooks:manage": lazy("Registers webhooks and reads, changes and deletes them."),
    "statements:read": lazy("Searches statements and library items."),
    "templates:read": lazy("Lists and reads questionnaire templates."),
    "templates:write": lazy("Compiles Blueprints into templates."),
    "blueprints:write": lazy("Starts, changes and validates Blueprints."),
}


class MintForm(CreationForm):
    """A new token."""

    prefix_of_id = "tok"

    label = StringField(lazy("Label"))
    accounts = SelectMultipleField(lazy("Accounts"), validate_choice=False)
    scopes = SelectMultipleField(lazy("Scopes"), validate_choice=False)
    per_minute = StringField(lazy("Requests per minute"))


@console.get("/console/api-credentials", endpoint="credentials")
@allow_operator
def index() -> str:
    """Every token with what it reaches, its last use and how long it lives."""
    tokens = credentials.all_tokens()
    now = clock.now_ms()
    return show(
        "console/credentials.html",
        tokens=tokens,
        in_force=sum(_is_in_force(token, now) for token in tokens),
        now=now,
        sensitive=SENSITIVE_SCOPES,
        revoke_question=_revoke_question,
    )


@console.get("/console/api-credentials/new")
@allow_operator
def new_credential() -> str:
    """The form that mints a token."""
    return _form(_mint_form())


@console.post("/console/api-credentials/new")
@allow_operator
def mint_credential() -> Any:
    """Mint a token. Its plaintext is on this answer alone: in no address, no cookie and no log."""
    form = _mint_form()
    if not form.validate():
        return _refused(form)
    try:
        minted = once(lambda: _mint(form), lambda: _minted_by(form) is not None)
    except Refused as refused:
        refuse(form, refused, {})
        return _refused(form)
    if minted is None:
        return render_template("console/credential_minted.html", token=_minted_by(form), plaintext=None), 409
    token, plaintext = minted
    return render_template("console/credential_minted.html", token=credentials.get(token.id), plaintext=plaintext)


@console.post("/console/api-credentials/<token_id>/revocation")
@allow_operator
def revoke_credential(token_id: str) -> Any:
    """End a token at once, once the consequence was read."""
    token = credentials.get(token_id)
    if token.revoked_at is None and request.form.get("confirmed") != "1":
        return render_template(  # noqa: S604  (the shell is the page's frame)
            "components/confirm_page.html",
            shell="_shell_console.html",
            title=_("Revoke %(label)s", label=token.label),
            sentence=_revoke_question(token),
            button=_("Revoke"),
            action=request.path,
            fields=request.form,
            cancel_url=url_for("console.credentials"),
        )
    with transaction():
        token = credentials.revoke(token_id, actor())
    flash(_("“%(label)s” is revoked: its calls are refused from now on.", label=token.label), "success")
    return redirect(url_for("console.credentials"), 303)


def _mint_form() -> MintForm:
    form = MintForm()
    form.accounts.choices = [(account.id, account.name) for account in accounts.all_accounts()]
    form.scopes.choices = [(scope, scope) for scope in SCOPES]
    return form


def _refused(form: MintForm) -> Any:
    # htmx swaps 422 and nothing else of the four hundreds.
    return _form(form), 422 if is_fragment() else 400


def _form(form: MintForm) -> str:
    return render_template(
        "console/credential_form.html",
        form=form,
        sensitive=SENSITIVE_SCOPES,
        sentences=SCOPE_SENTENCES,
        default_per_minute=DEFAULT_PER_MINUTE,
    )


def _mint(form: MintForm) -> tuple[ServiceToken, str]:
    with transaction():
        return credentials.mint(
            current_app.config["SETTINGS"].secret_key,
            accounts=form.accounts.data or [],
            scopes=form.scopes.data or [],
            by=actor(),
            label=form.label.data or "",
            per_minute=_per_minute(form.per_minute.data or ""),
            token_id=form.id_to_be,
        )


def _per_minute(text: str) -> int | None:
    """The budget; None where nothing was entered. A text that is no number is refused as out of range."""
    text = text.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise Refused("OUT_OF_RANGE", path="per_minute", least=1, most=credentials.MOST_PER_MINUTE)
    return int(text)


def _minted_by(form: MintForm) -> ServiceToken | None:
    try:
        return credentials.get(form.form_key.data or "")
    except NotFound:
        return None


def _is_in_force(token: ServiceToken, now: int) -> bool:
    return token.revoked_at is None and token.days_left(now) != 0


def _revoke_question(token: ServiceToken) -> str:
    return _("Every call with “%(label)s” is refused from now on. This cannot be taken back.", label=token.label)
