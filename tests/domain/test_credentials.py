"""Service tokens: shape, dates, scopes, and what the gate may rely on."""

from __future__ import annotations

from typing import Any

import pytest
import time_machine

from core import clock
from core.db import db, transaction
from core.errors import Refused
from domain.accounts import credentials
from domain.accounts.credentials import ANSWERS_SCOPE, ServiceToken
from domain.accounts.permissions import SCOPES
from domain.events import audit
from domain.events.audit import COMMAND_LINE
from tests.world import World

KEY = "k" * 40


def mint(world: World, *scopes: str) -> tuple[ServiceToken, str]:
    with transaction():
        return credentials.mint(
            KEY, accounts=[world.account_id], scopes=scopes or ["campaigns:read"], by=COMMAND_LINE, label="t"
        )


@pytest.mark.parametrize(
    ("at", "prefix"),
    [("2026-09-16T23:59:59Z", "aio_"), ("2026-09-17T00:00:00Z", "asr_"), ("2027-06-01T00:00:00Z", "asr_")],
)
def test_the_prefix_follows_the_date_of_minting(world: World, at: str, prefix: str) -> None:
    with time_machine.travel(at, tick=False):
        assert mint(world)[1].startswith(prefix)


def test_an_earlier_token_works_until_the_year_is_over(world: World) -> None:
    with time_machine.travel("2026-09-01T00:00:00Z", tick=False):
        token, old = mint(world)
    new = mint(world)[1]
    for at, is_past, days in (
        ("2026-12-31T23:59:59Z", False, 1),
        ("2026-12-30T23:59:59Z", False, 2),
        ("2027-01-01T00:00:00Z", True, 0),
    ):
        with time_machine.travel(at, tick=False):
            assert credentials.is_past_its_prefix(old) is is_past
            assert token.days_left(clock.now_ms()) == days
            assert not credentials.is_past_its_prefix(new)
    assert credentials.is_signed(KEY, old)


def test_answers_cannot_be_reached_by_a_token_from_before_their_scope(world: World) -> None:
    with time_machine.travel("2026-09-09T23:59:59Z", tick=False):
        with pytest.raises(Refused) as refused:
            mint(world, ANSWERS_SCOPE)
        assert (refused.value.code, refused.value.path) == ("SCOPE_NOT_YET_ISSUABLE", "scopes")
        token, plaintext = mint(world, "submissions:read")
    with transaction():
        db.session.get_one(ServiceToken, token.id).scopes = ["submissions:read", ANSWERS_SCOPE]
    principal = credentials.principal_of(plaintext)
    assert principal is not None
    assert principal.scopes == {"submissions:read"}
    with time_machine.travel("2026-09-10T00:00:00Z", tick=False):
        later = credentials.principal_of(mint(world, ANSWERS_SCOPE)[1])
    assert later is not None
    assert later.scopes == {ANSWERS_SCOPE}


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"accounts": []}, "TOKEN_REACHES_NO_ACCOUNT"),
        ({"accounts": ["acc_nobody"]}, "ACCOUNT_UNKNOWN"),
        ({"scopes": []}, "TOKEN_WITHOUT_SCOPE"),
        ({"scopes": ["everything"]}, "SCOPE_UNKNOWN"),
        ({"per_minute": 0}, "OUT_OF_RANGE"),
        ({"per_minute": 1_000_001}, "OUT_OF_RANGE"),
    ],
)
def test_a_token_without_sense_is_not_minted(world: World, changed: dict[str, Any], code: str) -> None:
    wanted = {"accounts": [world.account_id], "scopes": ["campaigns:read"], "by": COMMAND_LINE, **changed}
    with pytest.raises(Refused) as refused, transaction():
        credentials.mint(KEY, **wanted)
    assert refused.value.code == code
    assert credentials.all_tokens() == []


def test_a_bearer_that_was_never_minted_is_known_without_the_database(world: World) -> None:
    plaintext = mint(world)[1]
    body, _dot, signature = plaintext.partition(".")
    assert credentials.is_signed(KEY, plaintext)
    forged = ["", ".", body, f"{body}.", f"{body}.{signature[:-1]}0x", f"{body}x.{signature}", f"asr_é.{signature}"]
    forged += [plaintext.upper(), "x" * 10_000, f"xyz_{body[4:]}.{signature}", f"{body}.{signature}\ud800"]
    assert not any(credentials.is_signed(KEY, bearer) for bearer in forged)
    assert not credentials.is_signed("another key", plaintext)


def test_scopes_are_kept_in_their_order_and_never_inferred(world: World) -> None:
    token, plaintext = mint(world, *reversed(SCOPES))
    assert token.scopes == list(SCOPES)
    principal = credentials.principal_of(mint(world, "participants:write")[1])
    assert principal is not None
    assert principal.scopes == {"participants:write"}
    assert credentials.principal_of(plaintext + "x") is None


def test_revoking_ends_at_once_and_is_logged_once(world: World) -> None:
    token, plaintext = mint(world)
    for _ in range(2):
        with transaction():
            credentials.revoke(token.id, COMMAND_LINE)
    assert credentials.principal_of(plaintext) is None
    logged = db.session.scalars(audit.entries(world.account_id, action="token.revoked")).all()
    assert len(logged) == 1


def test_the_later_use_wins(world: World) -> None:
    token, _plaintext = mint(world)
    for at in (5000, 4000):
        with transaction():
            credentials.note_use({token.id: at, "tok_gone": at})
    db.session.rollback()
    assert db.session.get_one(ServiceToken, token.id, populate_existing=True).last_used_at == 5000
