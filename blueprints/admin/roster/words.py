"""The language of a person's messages in words: what is chosen, and why (B.1, 2.7)."""

from __future__ import annotations

from flask_babel import gettext as _

from blueprints.admin.campaign_frame import languages_without_one
from blueprints.page import language_in_sentence
from domain.accounts import people
from domain.accounts.account import Account
from domain.campaigns import roster
from domain.campaigns.roster import Participant

# The choice of a row whose metadata speaks in the field's place: it leaves both alone, while `Not stated` ends that.
KEEP = "keep"


def language_options(person: Participant, usual: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Choices of the person's Language selector: the usual ones, before them the present one where the metadata speaks.

    The usual ones are `language_choices()`, asked for once however many people are listed.
    """
    if not bag_speaks(person):
        return usual
    told = _("Not stated (metadata: %(language)s)", language=language_in_sentence(roster.stated_language(person)))
    return [(KEEP, told), *usual]


def chosen_language(person: Participant) -> str:
    """The present choice of the person's Language selector."""
    return KEEP if bag_speaks(person) else person.language or ""


def bag_speaks(person: Participant) -> bool:
    """Whether `metadata.lang` decides, since the field says nothing and was never cleared."""
    return person.language is None and roster.stated_language(person) is not None


def why_language(person: Participant, account: Account) -> str:
    """In which languages messages to this person go out, and for what reason."""
    if person.language is not None:
        named = language_in_sentence(person.language)
        return _("Messages go out in %(language)s, because their Language is %(language)s.", language=named)
    if bag_speaks(person):
        return _(
            "Messages go out in %(language)s, because no Language is stated and their metadata says lang: %(value)s.",
            language=language_in_sentence(roster.stated_language(person)),
            value=person.bag["lang"],
        )
    preference = people.preference_of(account.id, person.email)
    if preference is not None:
        preferred = language_in_sentence(preference)
        return _(
            "Messages go out in %(language)s, because no Language is stated and the person's own profile says"
            " %(language)s.",
            language=preferred,
        )
    if not account.languages:
        return _("Messages go out in English, because no Language is stated and the account publishes no languages.")
    return _(
        "Messages go out in %(languages)s, because no Language is stated and the account's primary language is"
        " %(primary)s.",
        languages=languages_without_one(account),
        primary=language_in_sentence(account.primary_language),
    )
