"""The receiver kit: code that verifies a delivery, a vector to try it with, and a checker of captured requests."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from flask import request
from flask_babel import gettext as _

from blueprints.access import allow
from blueprints.page import show
from core import clock
from domain.events.catalogue import EVENTS
from domain.events.delivery import record
from outbound import signing

from . import words
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
    problem = _problem(captured)
    if problem:
        return _page(account_id, captured, None, problem), 400
    return _page(account_id, captured, _findings(captured))


def _problem(captured: Captured) -> str:
    if not captured.headers.strip() and not captured.body:
        return _("Paste the headers and the body of a request first.")
    if len(captured.headers) + len(captured.body) + len(captured.secret) > LONGEST_CAPTURED:
        return _("This is longer than any delivery. Paste one request alone.")
    return ""


def _findings(captured: Captured) -> list[tuple[str, str]]:
    found = signing.explain(parsed(captured.headers), _bytes(captured.body), captured.secret or None, clock.now_ms())
    return [words.finding(each) for each in found]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def parsed(text: str) -> dict[str, str]:
    """Headers as they were pasted: one in a line, or a JSON object of them; what is neither is left out."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        read = None
    if isinstance(read, dict):
        return {
            str(name): str(value[0] if isinstance(value, list) and value else value) for name, value in read.items()
        }
    pairs = (line.partition(":") for line in text.splitlines())
    return {name.strip(): value.strip() for name, colon, value in pairs if colon and name.strip()}


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
    account_id: str, captured: Captured, findings: list[tuple[str, str]] | None, problem: str | None = None
) -> str:
    event = request.args.get("event", "")
    return show(
        "webhooks/receiver.html",
        vector=vector(account_id, event if event in EVENTS else "webhook.test"),
        samples=[(key, name, sample(key)) for key, (name, _file) in LANGUAGES.items()],
        captured=captured,
        findings=findings,
        problem=problem,
    )
