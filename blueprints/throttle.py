"""How often a password may be tried (in a quarter of an hour), counted before it is looked at.

One address has ten tries at one account. All strangers together have fifty at it, so that a guesser with many addresses
gets nowhere; but a browser in which the person has signed in before carries a cookie that says so and is counted by
itself. So strangers can keep out strangers, never the person from the usual browser. Whether the account exists plays
no part, so nothing can be learnt about that.
"""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
from collections.abc import Sequence

from flask import Response, current_app, request
from itsdangerous import BadSignature, URLSafeSerializer

from core.limits import windows

WINDOW_SECONDS = 15 * 60
MOST_BY_ADDRESS_AT_ACCOUNT = 10
MOST_BY_BROWSER = 10
MOST_AT_ACCOUNT = 50
MOST_BY_ADDRESS = 60

COOKIE = "assessor_browser"
A_YEAR = 365 * 24 * 3600

Limit = tuple[str, int]


def seconds_to_wait(email: str) -> int:
    """Count one try to sign in with this address; 0 where it may be made, else the seconds until the next."""
    return _count(_limits(email))


def forgive(email: str) -> None:
    """The try was right after all, so it does not count: an office behind one address may sign in all morning."""
    _uncount(_limits(email))


def seconds_to_wait_to_confirm(user_id: str) -> int:
    """Count one try of somebody who is signed in to name the present password."""
    return _count([(f"password/{user_id}", MOST_BY_BROWSER)])


def forgive_confirmation(user_id: str) -> None:
    """That password was right."""
    _uncount([(f"password/{user_id}", MOST_BY_BROWSER)])


def remember_browser(response: Response, email: str) -> None:
    """Let this browser be known as one in which the person has signed in."""
    if _browser(email) is None:
        value = _serializer().dumps([_digest(email), secrets.token_hex(12)])
        secure = current_app.config["SESSION_COOKIE_SECURE"]
        response.set_cookie(COOKIE, value, max_age=A_YEAR, path="/login", httponly=True, samesite="Lax", secure=secure)


def _count(limits: Sequence[Limit]) -> int:
    counts = [(windows().hit(key, WINDOW_SECONDS), most) for key, most in limits]
    return max((count.resets_in for count, most in counts if count.so_far > most), default=0)


def _uncount(limits: Sequence[Limit]) -> None:
    for key, _most in limits:
        windows().take_back(key, WINDOW_SECONDS)


def _limits(email: str) -> list[Limit]:
    browser = _browser(email)
    if browser is not None:
        return [(f"sign-in/browser/{browser}", MOST_BY_BROWSER)]
    account, address = _digest(email), _address()
    return [
        (f"sign-in/account/{account}/{address}", MOST_BY_ADDRESS_AT_ACCOUNT),
        (f"sign-in/account/{account}", MOST_AT_ACCOUNT),
        (f"sign-in/address/{address}", MOST_BY_ADDRESS),
    ]


def _browser(email: str) -> str | None:
    """The number of a browser in which this person has signed in."""
    try:
        account, number = _serializer().loads(request.cookies.get(COOKIE, ""))
    except (BadSignature, ValueError, TypeError):
        return None
    return str(number) if account == _digest(email) else None


def _address() -> str:
    """Who asks; of IPv6 the network, since one person has billions of addresses there."""
    try:
        address = ipaddress.ip_address(request.remote_addr or "")
    except ValueError:
        return "unknown"
    if address.version == 6 and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((address, 64), strict=False).network_address)
    return str(address)


def _digest(email: str) -> str:
    return hashlib.sha256(email.strip().lower().encode(errors="replace")).hexdigest()[:24]


def _serializer() -> URLSafeSerializer:
    return URLSafeSerializer(current_app.config["SECRET_KEY"], salt="browser that signed in")
