"""The closed set of events (service.md 6.4), and which of them are fanned out after the commit."""

from __future__ import annotations

from contract.events import CATALOGUE as CATALOGUE
from contract.events import EVENTS as EVENTS
from contract.events import is_sent as is_sent

# Fanned out right after the commit, and never where the queue is away at that moment (service.md 6.3).
AT_MOST_ONCE = frozenset({"registration.accepted", "communication.created", "communication.dispatch.queued"})
