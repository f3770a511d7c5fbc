"""One thing done to many people of the roster: those that were ticked, or all that the filters select."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from flask import flash, g, render_template, request
from flask_babel import gettext as _
from flask_babel import ngettext
from sqlalchemy.exc import DBAPIError
from werkzeug.datastructures import MultiDict

from blueprints.access import allow
from blueprints.admin import campaign_frame
from blueprints.page import actor, language_in_sentence, number
from blueprints.words import PARTICIPANT_STATUS
from contract.participants import ParticipantPatch
from core import ids
from core.db import db, storage_trouble, transaction
from core.i18n import LANGUAGES
from domain.campaigns import roster
from domain.campaigns.campaign import Campaign

from .listing import asked_for, vocabulary
from .person import BY_HAND
from .screen import ROSTER, go, list_url, screen

# Each batch is a transaction of its own, so that other writers wait for a fraction of a second only.
BATCH = 1000
# What one request does in a few seconds; more is refused before anything is written.
MOST = 20_000

Act = Callable[[Campaign, Sequence[str]], int]


@dataclass(frozen=True)
class Step:
    """One thing to do to `count` people: the question before, what does it to a batch, and the words after."""

    title: str
    question: Callable[[int], str]
    act: Act
    done: Callable[[int], str]
    is_harmful: bool = False


@screen.post(f"{ROSTER}/bulk")
@allow("roster:edit")
def bulk(account_id: str, campaign_id: str) -> Any:
    """Say how many people it concerns and what it means for them; once that is confirmed, do it batch by batch."""
    campaign = campaign_frame.opened(campaign_id)
    step = _step(request.form.get("do", ""))
    chosen = _chosen(campaign)
    problem = _problem(step, chosen)
    if step is None or problem:
        flash(problem, "warning")
        return go(list_url())
    if request.form.get("confirmed") != "1" or request.form.get("expected") != str(len(chosen)):
        return _ask(step, len(chosen))
    changed, finished = _run(step, campaign_id, chosen)
    if not finished:
        told = ngettext(
            "The database is busy. It was done for %(count)s person; repeat it for the rest.",
            "The database is busy. It was done for %(count)s people; repeat it for the rest.",
            changed,
            count=number(changed),
        )
        flash(told, "warning")
    else:
        flash(step.done(changed), "success" if changed else "info")
    return go(list_url())


def _chosen(campaign: Campaign) -> list[str]:
    """The ids of those whom the form names and who stand on the roster now."""
    if request.form.get("all") == "1":
        asked = asked_for(vocabulary(campaign.account_id))
        return list(db.session.scalars(roster.selection(campaign, asked.filters).limit(MOST + 1)))
    named = [each for each in request.form.getlist("chosen") if ids.PATTERN.fullmatch(each)]
    return roster.standing(campaign, named[:MOST])


def _problem(step: Step | None, chosen: Sequence[str]) -> str:
    if step is None:
        return _("Choose what to do with the people that you ticked.")
    if not chosen:
        return _("Tick the people that you mean first.")
    if len(chosen) > MOST:
        return _("At most %(most)s people can be changed at once. Narrow the filters and repeat it.", most=number(MOST))
    return ""


def _run(step: Step, campaign_id: str, chosen: Sequence[str]) -> tuple[int, bool]:
    """How many were changed, and whether all batches went through."""
    changed = 0
    for batch in _batches(chosen):
        try:
            with transaction():
                done = step.act(campaign_frame.opened(campaign_id), batch)
        except DBAPIError as error:
            # What earlier batches wrote stays written; the page must not say that nothing was.
            if changed and storage_trouble(error):
                return changed, False
            raise
        changed += done
    return changed, True


def _batches(chosen: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(chosen), BATCH):
        yield chosen[start : start + BATCH]


def _step(asked: str) -> Step | None:
    """The step that the form asks for: `remove`, or a field and its value such as `language:fr`."""
    name, _colon, value = asked.partition(":")
    if name == "language" and value in (*LANGUAGES, "none"):
        return _language_step(value)
    if name == "status" and value in BY_HAND:
        return _status_step(value)
    return _removal_step() if asked == "remove" else None


def _language_step(code: str) -> Step:
    language = None if code == "none" else code
    body = ParticipantPatch.model_validate({"language": language})
    return Step(
        title=_("Change Language"),
        question=lambda count: _language_question(count, language),
        act=lambda campaign, batch: roster.change_many(campaign, batch, body, actor()),
        done=lambda count: ngettext(
            "The Language of %(count)s person was changed to %(language)s.",
            "The Language of %(count)s people was changed to %(language)s.",
            count, count=number(count), language=language_in_sentence(language),
        ),
    )  # fmt: skip


def _language_question(count: int, language: str | None) -> str:
    named, together = language_in_sentence(language), campaign_frame.languages_without_one(g.account)
    question = ngettext(
        "Change the Language of %(count)s person to %(language)s?",
        "Change the Language of %(count)s people to %(language)s?",
        count, count=number(count), language=named,
    )  # fmt: skip
    if language is None:
        follows = _("Messages to them then go out in %(languages)s.", languages=together)
    else:
        follows = _("Messages to them then go out in %(language)s alone.", language=named)
    return f"{question} {follows}"


def _status_step(status: str) -> Step:
    word = PARTICIPANT_STATUS[status][0]
    return Step(
        title=_("Change status"),
        question=lambda count: ngettext(
            "Change the status of %(count)s person to %(status)s? It replaces the present status.",
            "Change the status of %(count)s people to %(status)s? It replaces the status that each has now.",
            count, count=number(count), status=word,
        ),
        act=lambda campaign, batch: roster.set_status(campaign, batch, status, actor()),
        done=lambda count: ngettext(
            "The status of %(count)s person was changed to %(status)s.",
            "The status of %(count)s people was changed to %(status)s.",
            count, count=number(count), status=word,
        ),
        is_harmful=status == "withdrawn",
    )  # fmt: skip


def _removal_step() -> Step:
    return Step(
        title=_("Remove from the roster"),
        question=lambda count: ngettext(
            "Remove %(count)s person from the roster? Name, Language and metadata are deleted. This cannot be undone.",
            "Remove %(count)s people from the roster? Their names, Languages and metadata are deleted."
            " This cannot be undone.",
            count, count=number(count),
        ),
        act=lambda campaign, batch: roster.remove(campaign, batch, actor()),
        done=lambda count: ngettext(
            "%(count)s person was removed from the roster.",
            "%(count)s people were removed from the roster.",
            count, count=number(count),
        ),
        is_harmful=True,
    )  # fmt: skip


def _ask(step: Step, count: int) -> str:
    kept = [(name, value) for name in ("do", "all", "chosen") for value in request.form.getlist(name)]
    return render_template(
        "components/confirm_page.html",
        title=step.title,
        sentence=step.question(count),
        button=step.title,
        action=request.full_path.rstrip("?"),
        fields=MultiDict([*kept, ("expected", str(count))]),
        tone="danger" if step.is_harmful else "calm",
        cancel_url=list_url(),
    )
