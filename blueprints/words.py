"""The field's closed sets in the reader's words, each with the tone of its badge."""

from __future__ import annotations

from flask_babel import lazy_gettext as lazy

# Status -> (word, tone of the badge).
CAMPAIGN_STATUS = {
    "draft": (lazy("Draft"), "neutral"),
    "active": (lazy("Active"), "success"),
    "closed": (lazy("Closed"), "info"),
    "archived": (lazy("Archived"), "neutral"),
}
PARTICIPANT_STATUS = {
    "added": (lazy("Added"), "neutral"),
    "invited": (lazy("Invited"), "info"),
    "started": (lazy("Started"), "warning"),
    "completed": (lazy("Completed"), "success"),
    "withdrawn": (lazy("Withdrawn"), "danger"),
}
TRANSITION = {
    "launch": lazy("Launch"),
    "close": lazy("Close"),
    "reopen": lazy("Reopen"),
    "archive": lazy("Archive"),
}
