"""What people write of a participant. A form becomes the same contract model as a body of the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask_babel import lazy_gettext as lazy
from wtforms import EmailField, HiddenField, SelectField, StringField

from blueprints.fields import Form
from blueprints.page import language_choices
from contract.participants import ParticipantPatch, ParticipantUpsert
from domain.campaigns.roster import Participant

from .words import KEEP, chosen_language, language_options

# Public name -> field of the forms.
NAMES = {"firstName": "first_name", "lastName": "last_name"}
FIELDS = {"email": "email", **NAMES, "language": "language"}


def _text(value: str | None) -> str:
    return (value or "").strip()


class _Form(Form):
    class Meta:
        csrf = False  # checked for every view by `access`


class PersonForm(_Form):
    """One person on the roster. The `was_` fields say what the page showed, so that an old page only changes what
    was touched on it."""

    first_name = StringField(lazy("First name"), filters=[_text])
    last_name = StringField(lazy("Last name"), filters=[_text])
    language = SelectField(lazy("Language"))
    was_first_name = HiddenField()
    was_last_name = HiddenField()
    was_language = HiddenField()

    @classmethod
    def of(cls, person: Participant) -> PersonForm:
        """The form as the row stands, or as it was sent."""
        shown = {"first_name": person.first_name, "last_name": person.last_name, "language": chosen_language(person)}
        form = cls(data={**shown, **{f"was_{name}": value or "" for name, value in shown.items()}})
        form.language.choices = language_options(person, language_choices())
        if form.language.data == KEEP and not any(value == KEEP for value, _name in form.language.choices):
            form.language.data = chosen_language(person)
        return form

    def changes(self) -> dict[str, Any]:
        """What was touched, by public name; blank is null."""
        touched = {
            public: self[name].data or None
            for public, name in {**NAMES, "language": "language"}.items()
            if self[name].data != self[f"was_{name}"].data
        }
        if touched.get("language") == KEEP:
            del touched["language"]
        return touched

    def body(self) -> ParticipantPatch:
        """The change; refused by the model where nothing was touched."""
        return ParticipantPatch.model_validate(self.changes())


class AddingForm(_Form):
    """What every tab of the dialog asks for: the language of the e-mails."""

    language = SelectField(lazy("Email language"))

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.language.choices = language_choices()

    def upsert(self, email: str, first_name: str | None, last_name: str | None) -> ParticipantUpsert:
        """The body; a language that is not stated is left out, for nothing is cleared by adding somebody."""
        named = {"firstName": first_name, "lastName": last_name, "language": self.language.data or None}
        given = {name: value for name, value in named.items() if value}
        return ParticipantUpsert.model_validate({"email": email, **given})


class NewUserForm(AddingForm):
    email = EmailField(lazy("E-mail"), filters=[_text])
    first_name = StringField(lazy("First name"), filters=[_text])
    last_name = StringField(lazy("Last name"), filters=[_text])


class ExistingUserForm(AddingForm):
    user_id = SelectField(lazy("Person"), validate_choice=False)


class ContactForm(AddingForm):
    contact_id = HiddenField()


def language_of(text: str) -> Mapping[str, Any]:
    """The change that one choice of a Language selector asks for; `KEEP` asks for none."""
    return {} if text == KEEP else {"language": text or None}
