"""Webhooks on screen: subscriptions with their health, the log of deliveries, sending again, and the receiver kit."""

from . import delivery, listing, log, receiver, sending, switching  # noqa: F401  the views hang onto the screen
from .screen import screen as screen
