"""What every page of one campaign shares: its header with status and next steps, and its tabs.

A page extends `campaigns/_frame.html` and is shown with `campaign=`; nothing else is needed:

    campaign = campaign_frame.opened(campaign_id)
    return show("roster/page.html", "roster/_fragment.html", campaign=campaign, ...)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from babel.lists import format_list
from flask import g, request, url_for
from flask_babel import get_locale, ngettext
from flask_babel import gettext as _

from blueprints.page import language_in_sentence, language_name, number, when
from blueprints.words import CAMPAIGN_STATUS, PARTICIPANT_STATUS, TRANSITION
from contract.campaigns import Transition
from core import clock
from core.i18n import Language
from domain.accounts.account import Account
from domain.accounts.permissions import may
from domain.campaigns import campaign as campaigns
from domain.campaigns.campaign import Campaign
from domain.messages.language import languages_of

ICONS: dict[Transition, str] = {"launch": "play", "close": "stop", "reopen": "undo", "archive": "inbox"}
# Steps that take something away from people; the others are asked about in a calm tone.
ENDING: frozenset[Transition] = frozenset({"close", "archive"})


@dataclass(frozen=True)
class Step:
    """One named transition that may run now, with the question that is asked before it."""

    name: Transition
    label: str
    question: str
    icon: str
    is_ending: bool


def opened(campaign_id: str, *, lock: bool = False) -> Campaign:
    """The campaign of the address in the account of the address, or `NotFound`; `lock` for a change of it."""
    return campaigns.get(g.account.id, campaign_id, lock=lock)


def shared() -> dict[str, Any]:
    """What `campaigns/_frame.html` asks for; also the words of statuses, for every template."""
    return {
        "campaign_tabs": tabs,
        "campaign_fact": fact,
        "campaign_steps": steps,
        "campaign_languages": language_bars,
        "campaign_status": CAMPAIGN_STATUS,
        "participant_status": PARTICIPANT_STATUS,
    }


def tabs(campaign: Campaign) -> list[tuple[str, str, bool, str | None]]:
    """Tabs of the campaign: label, address, whether it is the present one, count."""
    here = (request.endpoint or "").split(".")[0]
    address: dict[str, Any] = {"account_id": campaign.account_id, "campaign_id": campaign.id}
    pages = [
        (_("Overview"), "campaigns.show", None),
        (_("Roster"), "roster.index", number(campaign.roster_size)),
        (_("Import"), "imports.index", None),
    ]
    return [
        (label, url_for(endpoint, **address), endpoint.split(".")[0] == here, count)
        for label, endpoint, count in pages
        if endpoint != "imports.index" or may(g.role, "roster:edit")
    ]


def fact(campaign: Campaign) -> str:
    """The sentence beside the status: how many people, and what the schedule will do next."""
    return _("%(people)s %(schedule)s", people=_size(campaign), schedule=schedule(campaign))


def _size(campaign: Campaign) -> str:
    if not campaign.roster_size:
        return _("Nobody is on the roster yet.")
    return ngettext(
        "%(count)s person is on the roster.",
        "%(count)s people are on the roster.",
        campaign.roster_size,
        count=number(campaign.roster_size),
    )


def schedule(campaign: Campaign) -> str:
    """What the schedule will do next, as a sentence; times are UTC."""
    now = clock.now_ms()
    if campaign.status == "draft" and campaign.starts_at is not None:
        return _("Launches on %(time)s UTC.", time=when(max(campaign.starts_at, now)))
    if campaign.status == "active" and campaign.ends_at is not None:
        return _("Closes on %(time)s UTC.", time=when(max(campaign.ends_at, now)))
    return {
        "draft": _("Not launched yet."),
        "active": _("Open until somebody closes it."),
        "closed": _("Can be reopened."),
        "archived": _("Kept for reading only."),
    }[campaign.status]


def steps(campaign: Campaign) -> list[Step]:
    """The named transitions that may run now, in their order; the first is the next step to offer."""
    return [step(campaign, name) for name in campaign.possible_transitions]


def step(campaign: Campaign, name: Transition) -> Step:
    """One transition, with its consequence for this campaign in the question."""
    return Step(name, str(TRANSITION[name]), question(campaign, name), ICONS[name], name in ENDING)


def question(campaign: Campaign, name: Transition) -> str:
    """The question before a transition: what happens, to how many people, and whether there is a way back."""
    size = campaign.roster_size
    known = {"name": campaign.name, "count": number(size)}
    if name == "launch":
        return ngettext(
            "Launch “%(name)s”? It opens for the %(count)s person on its roster. It cannot become a draft again.",
            "Launch “%(name)s”? It opens for the %(count)s people on its roster. It cannot become a draft again.",
            size,
            **known,
        )
    if name == "close":
        return ngettext(
            "Close “%(name)s”? It ends for the %(count)s person on its roster. You can reopen it later.",
            "Close “%(name)s”? It ends for the %(count)s people on its roster. You can reopen it later.",
            size,
            **known,
        )
    if name == "reopen":
        return _reopening(campaign, known)
    return ngettext(
        "Archive “%(name)s”? It can never be opened again. Its roster of %(count)s person stays readable.",
        "Archive “%(name)s”? It can never be opened again. Its roster of %(count)s people stays readable.",
        size,
        **known,
    )


def done(campaign: Campaign, name: Transition) -> str:
    """What to say once a transition has run."""
    return {
        "launch": _("“%(name)s” is active now.", name=campaign.name),
        "close": _("“%(name)s” is closed now.", name=campaign.name),
        "reopen": _("“%(name)s” is active again.", name=campaign.name),
        "archive": _("“%(name)s” is archived now.", name=campaign.name),
    }[name]


def languages_without_one(account: Account) -> str:
    """The languages in which a person who states none is written to, such as `English and French` (B.1)."""
    return format_list(
        [language_in_sentence(code) for code in languages_of(None, account.languages)], locale=get_locale()
    )


def language_bars(people: dict[Language | None, int]) -> list[tuple[str, int, str]]:
    """Bars of a chart of people by language; languages of nobody are left out, and who states none comes last."""
    return [(language_name(code), count, "accent" if code else "neutral") for code, count in people.items() if count]


def _reopening(campaign: Campaign, known: dict[str, str]) -> str:
    sentence = ngettext(
        "Reopen “%(name)s”? It opens again for the %(count)s person on its roster.",
        "Reopen “%(name)s”? It opens again for the %(count)s people on its roster.",
        campaign.roster_size,
        **known,
    )
    if campaign.ends_at is not None and campaign.ends_at <= clock.now_ms():
        ended = _("Its end on %(time)s UTC has passed and will be removed.", time=when(campaign.ends_at))
        return f"{sentence} {ended}"
    return sentence
