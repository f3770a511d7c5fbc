"""What webhooks say to people: states, why a POST failed and what to check, and what is wrong with a URL."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from babel.numbers import format_percent
from flask_babel import get_locale
from flask_babel import gettext as _
from flask_babel import lazy_gettext as lazy
from markupsafe import Markup

from blueprints.isolation import filled
from blueprints.page import number
from domain.events.delivery.questions import Health
from outbound.signing import Finding

# State -> (word, tone of the badge).
STATES = {
    "queued": (lazy("Waiting"), "info"),
    "accepted": (lazy("Accepted"), "success"),
    "exhausted": (lazy("Given up"), "danger"),
    "cancelled": (lazy("Cancelled"), "neutral"),
}
GROUPS = {
    "Participants": lazy("Participants"),
    "Submissions": lazy("Submissions"),
    "Campaigns": lazy("Campaigns"),
    "Assessments": lazy("Assessments"),
    "Availability": lazy("Availability"),
    "Registration forms": lazy("Registration forms"),
    "Registrations": lazy("Registrations"),
    "Communications": lazy("Communications"),
    "Files": lazy("Files"),
    "Account and identity": lazy("Account and identity"),
    "Diagnostics": lazy("Diagnostics"),
}
_TLS = lazy("Renew or replace the receiver's certificate, with its whole chain, for exactly this host name.")
_SLOW = lazy("Answer with a 2xx first and do the work afterwards. See whether a firewall drops the connection.")
# What the statuses of a receiver's "no" ask for.
_STATUS_CHECKS = {
    401: lazy("The receiver asks for a login. Let it take this URL without one, and verify the signature instead."),
    403: lazy("The receiver lets nobody in. See whether a firewall or its own rules refuse this installation."),
    404: lazy("The receiver knows nothing at this address. Compare the path of the URL with the receiver's."),
    405: lazy("This address takes no POST. Compare the path of the URL with the receiver's."),
    410: lazy("The receiver says that this address is gone for good. Register the new one, and delete this webhook."),
    413: lazy("The body is too large for the receiver. Raise the limit of the receiver and of proxies before it."),
    429: lazy("The receiver is called too often. Raise its limit for this installation, then send again."),
}
_STATUS_5XX = lazy("The receiver failed while it handled the delivery. Its own log says why.")
_OURS = lazy("Tell whoever runs this installation; their log says more.")
# Code of an attempt -> (what happened, what to check).
ERRORS = {
    "ADDRESS_REFUSED": (
        lazy("The host leads to an address that is not public, so nothing was sent"),
        lazy("Let the name of the host lead to a public address, or register another URL."),
    ),
    "BAD_STATUS": (
        lazy("The receiver answered with an error"),
        lazy("Read its answer below and the receiver's own log. Anything but a 2xx counts as a failure."),
    ),
    "CONNECT_FAILED": (
        lazy("No connection could be made"),
        lazy("See whether the host is up and can be reached from the internet."),
    ),
    "CONNECT_REFUSED": (
        lazy("The connection was refused"),
        lazy("See whether the receiver runs and listens at this port."),
    ),
    "CONNECT_TIMEOUT": (
        lazy("The host did not take the connection in time"),
        lazy("See whether a firewall lets this installation through."),
    ),
    "CUT": (
        lazy("The connection ended before the answer did"),
        lazy("See whether the receiver, or a proxy before it, crashes or restarts while it answers."),
    ),
    "DNS_FAILED": (
        lazy("The name of the host leads nowhere"),
        lazy("Check the spelling of the URL and its DNS entry."),
    ),
    "DNS_TIMEOUT": (
        lazy("The name of the host was not answered in time"),
        lazy("See whether the name servers of the domain answer."),
    ),
    "GARBAGE": (
        lazy("The answer is not HTTP"),
        lazy("See whether the port is right, and whether the URL should begin with https."),
    ),
    "HEADERS_TOO_LARGE": (
        lazy("The headers of the answer are too large"),
        lazy("Let the receiver answer with fewer headers and no cookies."),
    ),
    "INTERNAL": (lazy("This installation failed while sending"), _OURS),
    "NO_RESOURCES": (lazy("This installation was out of connections"), _OURS),
    "REDIRECT": (
        lazy("The receiver answered with a redirect, and redirects are not followed"),
        lazy("Register the address that it leads to, if you trust it. It stands with the attempt."),
    ),
    "SECRET_UNREADABLE": (
        lazy("The stored secret cannot be read"),
        lazy("Rotate the secret and give the new one to the receiver."),
    ),
    "TIMEOUT": (lazy("No answer came in time"), _SLOW),
    "TLS_EXPIRED": (lazy("The certificate has expired"), _TLS),
    "TLS_FAILED": (
        lazy("No secure connection could be agreed on"),
        lazy("See whether the port speaks TLS 1.2 or newer, and whether the URL should begin with http."),
    ),
    "TLS_NOT_YET_VALID": (lazy("The certificate is not valid yet"), _TLS),
    "TLS_UNTRUSTED": (lazy("The certificate comes from nobody known"), _TLS),
    "TLS_WRONG_HOST": (lazy("The certificate belongs to another host"), _TLS),
    "URL_REFUSED": (lazy("The URL may not be used, so nothing was sent"), lazy("Register another URL.")),
}
FINDINGS = {
    "ATTEMPTS_MIXED": lazy(
        "Headers and body come from two attempts, and each attempt is signed anew. Paste both from one."
    ),
    "BODY_AS_SENT": lazy("The body is the one that was sent, byte for byte."),
    "BODY_CHANGED": lazy("This is not the body that was sent: something in it was changed, added or cut off."),
    "BODY_NOT_JSON": lazy("The body is not JSON. Copy it whole, as it came."),
    "BODY_RESERIALISED": lazy(
        "%(version)s fits the same JSON written another way: verify the bytes as they came, before parsing."
    ),
    "BODY_REWRITTEN": lazy(
        "This is not the body that was sent: it was parsed and written again, with other space, order of keys, numbers"
        " or escapes. Verify the bytes as they came."
    ),
    "BODY_SPACED": lazy("The body is the one that was sent, but for the space at its ends."),
    "BODY_WHITESPACE": lazy("%(version)s fits the body with other space at its ends or other line breaks."),
    "DELIVERY_DIFFERS_FROM_BODY": lazy("The header names the delivery %(header)s, the body says %(body)s."),
    "EVENT_DIFFERS_FROM_BODY": lazy("The header names the event %(header)s, the body says %(body)s."),
    "HEADERS_GONE": lazy(
        "No X-Service- header with a value was read: something on the way took them off, or they were not pasted."
    ),
    "SECRET_DIFFERS": lazy(
        "The signature does not fit what was sent: the secret is another one, or it was rotated in the meantime."
    ),
    "SECRET_NEEDED": lazy("The request is signed. Enter the secret to check it."),
    "SECRET_WHITESPACE": lazy("%(version)s fits the secret without the space around it."),
    "SIGNED_AS_SENT": lazy("The signature fits the body that was sent, and so the secret is right."),
    "TIMESTAMP_AHEAD": lazy("It was signed %(age_seconds)s seconds in the future: a clock is wrong."),
    "TIMESTAMP_ALTERED": lazy("The timestamp header says %(header)s, but %(signed)s was signed."),
    "TIMESTAMP_DIFFERS_FROM_BODY": lazy("The timestamp header says %(header)s, the body says %(body)s."),
    "TIMESTAMP_MISSING": lazy("The timestamp header is missing."),
    "TIMESTAMP_OLD": lazy(
        "It was signed %(age_seconds)s seconds ago. A receiver that allows %(tolerance_seconds)s refuses it."
    ),
    "TIMESTAMP_SCHEME": lazy("The timestamp header is not a number of milliseconds."),
    "UNSIGNED": lazy("The request has no signature: the webhook has no secret, or something took the headers off."),
    "V1_MISMATCH": lazy("Signature V1 does not fit: the secret is another one, or the body was changed."),
    "V1_MISSING": lazy("The header of signature V1 is missing."),
    "V1_OK": lazy("Signature V1 fits."),
    "V1_SCHEME": lazy("Signature V1 is written wrongly: expected is sha256= and 64 hexadecimal digits."),
    "V2_MISMATCH": lazy("Signature V2 does not fit: the secret is another one, or body or time were changed."),
    "V2_MISSING": lazy("The header of signature V2 is missing."),
    "V2_OK": lazy("Signature V2 fits, and so the time can be trusted."),
    "V2_SCHEME": lazy("Signature V2 is written wrongly: expected is t=, the time, a comma, sha256= and 64 digits."),
}
# Findings that a receiver can live with.
MILD = frozenset({"BODY_SPACED", "TIMESTAMP_OLD", "SECRET_NEEDED", "V1_MISSING", "TIMESTAMP_MISSING"})


def state(code: str) -> tuple[Any, str]:
    """The word of a delivery's state and the tone of its badge."""
    return STATES.get(code, (code, "neutral"))


def error(code: str | None, status: int | None = None) -> str:
    """What happened, in words; empty where nothing did."""
    if code is None:
        return ""
    said = str(ERRORS[code][0]) if code in ERRORS else _("It failed (%(code)s)", code=code)
    return _("%(said)s: %(status)s", said=said, status=status) if status is not None else said


def check(code: str | None, status: int | None = None) -> str:
    """What to check after this error; where the receiver said no, after its status."""
    if code == "BAD_STATUS" and status is not None:
        known = _STATUS_5XX if 500 <= status < 600 else _STATUS_CHECKS.get(status)
        if known is not None:
            return str(known)
    return str(ERRORS[code][1]) if code in ERRORS else ""


def finding(found: Finding) -> tuple[str, str]:
    """What a check found, and the tone of its badge."""
    tone = "success" if found.is_good else "warning" if found.code in MILD else "danger"
    counts = {name: number(value) for name, value in found.params.items() if name.endswith("_seconds")}
    return filled(FINDINGS[found.code], {**found.params, **counts}), tone


def share(rate: float | None) -> str:
    """A share of 0 to 1 as a percentage; never 100 where something failed."""
    if rate is None:
        return "—"
    in_thousandths = int(rate * 1000) / 1000
    return format_percent(in_thousandths, locale=get_locale(), decimal_quantization=False)


def broken(name: str) -> Markup:
    """A name or an address that may go on in the next line after each of its signs."""
    return Markup("<wbr>").join(re.findall(r"[^._/?&=-]*[._/?&=-]+|[^._/?&=-]+", name))


def standing(health: Collection[Health]) -> tuple[str, str]:
    """How the webhooks that are switched on stand, in a sentence with its tone: what was sent last decides."""
    if not health:
        return _("Every webhook is switched off, so nothing is sent."), "info"
    failing = sum(each.is_failing for each in health)
    if failing:
        said = _(
            "Failing now: %(count)s of %(total)s. What was sent there last did not arrive.",
            count=number(failing),
            total=number(len(health)),
        )
        return said, "danger"
    if any(each.last_sent_at is not None for each in health):
        return _("All is well: whatever was sent last to each webhook arrived."), "success"
    return _("Nothing was sent yet. A test shows whether a webhook can be reached."), "info"


def grade(rate: float | None, last_error: str | None = None) -> tuple[str, str]:
    """A success rate as a word, and its tone; before the first delivery is settled its last error speaks."""
    if rate is None and last_error is not None:
        return _("Failing"), "danger"
    if rate is None:
        return _("Nothing sent yet"), "neutral"
    if rate == 1:
        return _("Healthy"), "success"
    return (_("Some failures"), "warning") if rate >= 0.9 else (_("Failing"), "danger")
