"""Every table, imported in one place, so that the schema is whole whoever asks for it."""

from domain.accounts import account as account
from domain.accounts import credentials as credentials
from domain.accounts import people as people
from domain.authoring import label as label
from domain.campaigns import campaign as campaign
from domain.campaigns import contacts as contacts
from domain.campaigns import imports as imports
from domain.campaigns import roster as roster
from domain.events import audit as audit
from domain.events import delivery as delivery
from domain.events import event as event
from domain.events import subscription as subscription
