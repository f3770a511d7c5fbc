"""The receiver kit: code that verifies a delivery, a vector to try it with, and a checker of captured requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from flask import request
from flask_babel import gettext as _

from blueprints import nul
from blueprints.access import allow
from blueprints.page import show
from core import clock, ids
from core.errors import NotFound
from domain.events.catalogue import EVENTS
from domain.events.delivery import questions, record
from outbound import signing

from . import pasted, words
from .screen import BASE, screen

LONGEST_CAPTURED = 256 << 10
SAMPLES = Path(__file__).parent / "samples"
# Key of a panel -> (name of the language, file).
LANGUAGES = {
    "python": ("Python", "python.txt"),
    "node": ("Node", "node.txt"),
    "php": ("PHP", "php.txt"),
    "go": ("Go", "go.txt"),
}
EXAMPLE_SECRET = "an example secret, never a real one"  # noqa: S105  (printed on the page)
EXAMPLE_AT = 1_767_225_600_000
EXAMPLE_DELIVERY = "dlv_01kdvarg00ffz8m5rvb3fmbq1t"
EXAMPLE_EVENT = "evt_01kdvarg00ffz8m5rvb3fmbq1v"


@dataclass(frozen=True)
class Vector:
    """A delivery made for the page: what a receiver gets, byte for byte."""

    secret: str
    body: str
    headers: dict[str, str]


@dataclass(frozen=True)
class Captured:
    """What somebody pasted; the secret is used and not kept."""

    headers: str
    body: str
    secret: str


@screen.get(BASE + "/receiver")
@allow("webhooks:manage")
def receiver(account_id: str) -> str:
    """How a receiver verifies what it gets."""
    return _page(account_id, Captured("", "", ""), None)


@screen.post(BASE + "/receiver")
@allow("webhooks:manage")
def check(account_id: str) -> Any:
    """Say what is wrong with a captured request. Nothing of it is stored, and the secret is not written back."""
    # Browsers send every line break of a form as two characters; a body that came with one is meant.
    form = {name: request.form.get(name, "").replace("\r\n", "\n") for name in ("headers", "body", "secret")}
    captured = Captured(**form)
    problems = _problems(captured)
    if problems:
        return _page(account_id, captured, None, problems), 400
    return _page(account_id, captured, _findings(account_id, captured))


def _problems(captured: Captured) -> dict[str, str]:
    """What stands in the way of reading it, by field."""
    had_nul = {name: said for name in ("headers", "body", "secret") if (said := nul.problem(name))}
    if had_nul:
        return had_nul
    if not captured.headers.strip() and not captured.body.strip():
        return {"headers": _("Paste the headers and the body of a request first.")}
    if len(captured.headers) + len(captured.body) + len(captured.secret) > LONGEST_CAPTURED:
        longest = max(("headers", "body", "secret"), key=lambda name: len(getattr(captured, name)))
        return {longest: _("This is longer than any delivery. Paste one request alone.")}
    if captured.headers.strip() and not pasted.is_readable(captured.headers):
        return {"headers": _("No header could be read. Paste one in a line, name: value.")}
    return {}


def _findings(account_id: str, captured: Captured) -> list[tuple[str, str]]:
    read = pasted.read(captured.headers, captured.body)
    found = signing.explain(
        read.headers, _bytes(read.body), captured.secret or None, clock.now_ms(), find=partial(_as_sent, account_id)
    )
    where = [(_("The body was read from after the blank line."), "warning")] if read.is_whole else []
    return [*map(words.finding, found), *where]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _as_sent(account_id: str, delivery_id: str) -> signing.AsSent | None:
    """The body of one of the account's deliveries at a time; None where the account has none of this id."""
    if not ids.is_id(delivery_id, "dlv"):
        return None
    try:
        found = questions.get(account_id, delivery_id)
    except NotFound:
        return None
    return lambda at: record.body(found.id, found.event_id, found.event, found.account_id, at, found.payload)


def vector(account_id: str, event: str) -> Vector:
    """A signed delivery of `event` with the example secret."""
    payload = '{"note":"é and \\"quotes\\" show that the bytes are verified"}'
    body = record.body(EXAMPLE_DELIVERY, EXAMPLE_EVENT, event, account_id, EXAMPLE_AT, payload)
    headers = signing.headers(event, EXAMPLE_DELIVERY, EXAMPLE_AT, body, EXAMPLE_SECRET)
    return Vector(EXAMPLE_SECRET, body.decode(), headers)


@lru_cache
def sample(key: str) -> str:
    """The verifying code in one of `LANGUAGES`."""
    return (SAMPLES / LANGUAGES[key][1]).read_text("utf-8")


def _page(
    account_id: str,
    captured: Captured,
    findings: list[tuple[str, str]] | None,
    problems: Mapping[str, str] = MappingProxyType({}),
) -> str:
    event = request.args.get("event", "")
    return show(
        "webhooks/receiver.html",
        vector=vector(account_id, event if event in EVENTS else "webhook.test"),
        samples=[(key, name, sample(key)) for key, (name, _file) in LANGUAGES.items()],
        captured=captured,
        findings=findings,
        problems=problems,
    )
