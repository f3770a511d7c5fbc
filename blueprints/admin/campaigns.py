"""Campaigns: the list, one campaign's page, writing it, and its named transitions."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, flash, g, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import lazy_gettext as lazy
from wtforms import BooleanField, StringField, TextAreaField
from wtforms.validators import Optional

from blueprints.access import allow
from blueprints.admin import campaign_frame
from blueprints.creation import CreationForm, once
from blueprints.fields import Form, UtcTimeField, refuse
from blueprints.page import PageOf, actor, paging, show
from blueprints.sentences import sentence
from blueprints.words import CAMPAIGN_STATUS
from core.clock import MINUTE_MS
from core.db import db, transaction
from core.errors import Refused
from domain.campaigns import campaign as campaigns
from domain.campaigns.campaign import EDITABLE, TRANSITIONS, Campaign
from domain.campaigns.roster import counts

screen = Blueprint("campaigns", __name__)
screen.app_context_processor(campaign_frame.shared)


class CampaignForm(Form):
    """What a person writes of a campaign; fields are named as the table's columns."""

    name = StringField(lazy("Name"))
    description = TextAreaField(lazy("Description"))
    enable_passcode = BooleanField(lazy("Ask respondents for a passcode"))
    passcode = StringField(lazy("Passcode"))
    starts_at = UtcTimeField(lazy("Starts (UTC)"), [Optional()])
    ends_at = UtcTimeField(lazy("Ends (UTC)"), [Optional()])

    def values(self, campaign: Campaign | None = None) -> dict[str, Any]:
        """By public name, as the domain takes them."""
        return {name: self._value(column, campaign) for name, column in EDITABLE.items()}

    def _value(self, column: str, campaign: Campaign | None) -> Any:
        # The browser's field knows minutes only: a time that nobody touched keeps its seconds.
        value, stored = self[column].data, getattr(campaign, column, None)
        is_time = isinstance(self[column], UtcTimeField)
        if is_time and value is not None and stored is not None and value == stored - stored % MINUTE_MS:
            return stored
        return value


class NewCampaignForm(CampaignForm, CreationForm):
    """A campaign that is to be."""

    prefix_of_id = "cmp"


@screen.get("/accounts/<account_id>/campaigns")
@allow("campaigns:view")
def index(account_id: str) -> str:
    """The account's campaigns, newest first, by status and by name."""
    status = request.args.get("status", "")
    status = status if status in CAMPAIGN_STATUS else ""
    search = request.args.get("q", "").strip()
    wanted = paging()
    query = campaigns.of_account(account_id, status or None, search).order_by(None).order_by(Campaign.id.desc())
    rows = list(db.session.scalars(query.limit(wanted.limit).offset(wanted.offset)))
    return show(
        "campaigns/page.html",
        "campaigns/_fragment.html",
        listed=PageOf(rows, wanted, campaigns.count(account_id, status or None, search)),
        by_status=campaigns.count_by_status(account_id),
        status=status,
        search=search,
        is_filtered=bool(status or search),
        clear_url=url_for("campaigns.index", account_id=account_id),
    )


@screen.route("/accounts/<account_id>/campaigns/new", methods=["GET", "POST"])
@allow("campaigns:edit")
def new(account_id: str) -> Any:
    """Start a campaign as a draft."""
    form = NewCampaignForm()
    if not form.validate_on_submit():
        return _form(form, None)
    try:
        campaign = once(lambda: _create(account_id, form), lambda: _made(account_id, form) is not None)
    except Refused as refused:
        refuse(form, refused, EDITABLE)
        return _form(form, None)
    if campaign is not None:
        flash(_("“%(name)s” stands as a draft. Put people on its roster next.", name=campaign.name), "success")
        return _to(campaign)
    flash(_("The form was sent twice, and made this campaign once."), "info")
    return _to(campaigns.get(account_id, form.id_to_be))


def _create(account_id: str, form: NewCampaignForm) -> Campaign:
    with transaction():
        return campaigns.create(account_id, form.values(), actor(), campaign_id=form.id_to_be)


def _made(account_id: str, form: NewCampaignForm) -> Campaign | None:
    found = db.session.get(Campaign, form.form_key.data)
    return found if found is not None and found.account_id == account_id else None


@screen.get("/accounts/<account_id>/campaigns/<campaign_id>", endpoint="show")
@allow("campaigns:view")
def show_one(account_id: str, campaign_id: str) -> str:
    """One campaign: where it stands and what comes next."""
    campaign = campaign_frame.opened(campaign_id)
    return show(
        "campaigns/campaign.html",
        campaign=campaign,
        statuses=counts.by_status(counts.of_campaign(campaign)),
        stated=counts.by_language(counts.of_campaign(campaign)),
        default_languages=campaign_frame.languages_without_one(g.account),
    )


@screen.route("/accounts/<account_id>/campaigns/<campaign_id>/edit", methods=["GET", "POST"])
@allow("campaigns:edit")
def edit(account_id: str, campaign_id: str) -> Any:
    """Change what a person may write of a campaign."""
    campaign = campaign_frame.opened(campaign_id)
    form = CampaignForm(obj=campaign)
    if not form.validate_on_submit():
        return _form(form, campaign)
    try:
        with transaction():
            campaign = campaign_frame.opened(campaign_id, lock=True)
            changed = campaigns.edit(campaign, form.values(campaign), actor())
    except Refused as refused:
        refuse(form, refused, EDITABLE)
        return _form(form, campaign_frame.opened(campaign_id))
    flash(_("The campaign is up to date.") if changed else _("Nothing was changed."), "success" if changed else "info")
    return _to(campaign)


@screen.post("/accounts/<account_id>/campaigns/<campaign_id>/transitions")
@allow("campaigns:edit")
def move(account_id: str, campaign_id: str) -> Any:
    """Run a named transition, once the person has seen its consequence."""
    name = request.form.get("transition", "")
    campaign = campaign_frame.opened(campaign_id)
    if name in campaign.possible_transitions and request.form.get("confirmed") != "1":
        return _ask(campaign, campaign_frame.step(campaign, name))
    try:
        with transaction():
            campaign = campaign_frame.opened(campaign_id, lock=True)
            if name not in TRANSITIONS:
                raise Refused("TRANSITION_NOT_POSSIBLE")
            campaigns.move(campaign, name, actor())
    except Refused as refused:
        flash(sentence(refused), "warning")
        return _to(campaign)
    flash(campaign_frame.done(campaign, name), "success")
    return _to(campaign)


def _ask(campaign: Campaign, step: campaign_frame.Step) -> str:
    return render_template(
        "components/confirm_page.html",
        title=_("%(step)s %(name)s", step=step.label, name=campaign.name),
        sentence=step.question,
        button=step.label,
        action=request.path,
        fields=request.form,
        tone="danger" if step.is_ending else "calm",
        cancel_url=url_for("campaigns.show", account_id=campaign.account_id, campaign_id=campaign.id),
    )


def _form(form: CampaignForm, campaign: Campaign | None) -> Any:
    return show("campaigns/form.html", form=form, campaign=campaign), 400 if form.errors else 200


def _to(campaign: Campaign) -> Any:
    return redirect(url_for("campaigns.show", account_id=campaign.account_id, campaign_id=campaign.id), 303)
