"""A refusal's code as a sentence in the reader's language. The domain knows codes; the words stand here alone."""

from __future__ import annotations

from flask_babel import gettext as _
from flask_babel import lazy_gettext as lazy

from blueprints.isolation import filled
from blueprints.shortened import enumerated
from core.errors import Refused

SENTENCES = {
    "ACCOUNT_UNKNOWN": lazy("There is no account %(accounts)s."),
    "ADDRESS_REFUSED": lazy(
        "The host is or leads to %(address)s, which the public internet cannot reach. Use a public address."
    ),
    "ALREADY_A_MEMBER": lazy("This person is a member already. Change the role in the list instead."),
    "ALREADY_ON_ROSTER": lazy("This address is on the roster already. Nothing was changed."),
    "CONFLICT": lazy("Somebody else changed this at the same moment. Look at it again, then repeat your change."),
    "CONTACT_REQUIRED": lazy("Choose a contact of the account."),
    "CSRF": lazy("This page was open for too long or came from elsewhere. Go back, reload it and send it again."),
    "DELIVERY_NOT_EXHAUSTED": lazy("Only a delivery that was given up can be sent again."),
    "EMAIL_INVALID": lazy("This is not an e-mail address. Write it like name@example.com."),
    "EMAIL_TAKEN": lazy("This address is in use already."),
    "ENDS_BEFORE_IT_STARTS": lazy("The end must come after the start."),
    "LANGUAGE_REPEATED": lazy("This language stands in the list already."),
    "LANGUAGE_UNKNOWN": lazy("Choose one of the four languages."),
    "LAST_ADMINISTRATOR": lazy("An account needs an administrator. Give somebody else that role first."),
    "MEMBER_REQUIRED": lazy("Choose a person of the account."),
    "NAME_NEEDED_FOR_NEW_PERSON": lazy("Nobody signs in with this address yet. Give the new person a name."),
    "NAME_REQUIRED": lazy("Give it a name."),
    "OUT_OF_RANGE": lazy("Choose a number from %(least)s to %(most)s."),
    "PASSWORDS_DIFFER": lazy("The two new passwords differ. Enter the same one twice."),
    "PASSWORD_TOO_SHORT": lazy("Choose a password of at least %(least)s characters."),
    "PASSWORD_WRONG": lazy("This is not your current password."),
    "ROLE_UNKNOWN": lazy("Choose one of the roles in the list."),
    "SCOPE_NOT_YET_ISSUABLE": lazy("The scope %(scope)s cannot be given to a token yet."),
    "SCOPE_UNKNOWN": lazy("There is no scope %(scopes)s."),
    "STORAGE_BUSY": lazy("The database is busy. Nothing was written; try again in a few seconds."),
    "STORAGE_FULL": lazy("The disk is full. Nothing was written; tell whoever runs this installation."),
    "SUBSCRIPTION_DELETED": lazy("The webhook is deleted, so nothing is sent to it any more."),
    "SUBSCRIPTION_INACTIVE": lazy("The webhook is inactive. Activate it first."),
    "TOKEN_REACHES_NO_ACCOUNT": lazy("Choose at least one account: a token that reaches none can do nothing."),
    "TOKEN_WITHOUT_SCOPE": lazy("Choose at least one scope: a token that holds none can do nothing."),
    "TOO_LONG": lazy("Use at most %(most)s characters."),
    "TOO_MANY_METADATA_KEYS": lazy("The metadata would have %(own)s keys; at most %(most)s are allowed."),
    "TRANSITION_NOT_POSSIBLE": lazy("The campaign has moved on meanwhile, so this step is not possible any more."),
    "UNKNOWN_EVENT_TYPES": lazy("The event catalogue has no %(unknown)s."),
    "URL_CHARACTERS": lazy(
        "The address has a space, a backslash or a character that cannot be seen. Take it out, or percent-encode it."
    ),
    "URL_HOST": lazy("The address has no host that could be reached. Write it like https://hooks.example.com/path."),
    "URL_LOCALHOST": lazy("The address leads to this machine itself. Use one that the public internet can reach."),
    "URL_PORT": lazy("The port must be a number from 1 to 65535."),
    "URL_SCHEME": lazy("The address must start with https:// or http://."),
    "URL_TOO_LONG": lazy("Use at most %(most)s characters."),
    "URL_USER_INFO": lazy("The address holds a user name or a password. Take them out, and use a secret instead."),
}


def sentence(refused: Refused) -> str:
    """What the refusal says to a person."""
    text = SENTENCES.get(refused.code)
    if text is None:
        return _("This is not possible (%(code)s).", code=refused.code)
    params = {name: enumerated(value) if isinstance(value, list) else value for name, value in refused.params.items()}
    return filled(text, {"most": "", "least": "", **params})
