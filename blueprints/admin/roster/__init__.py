"""A campaign's roster on screen: the list, one person, adding somebody, and doing one thing to many."""

from . import adding, bulk, listing, person  # noqa: F401  the views hang themselves onto the screen
from .screen import screen as screen
