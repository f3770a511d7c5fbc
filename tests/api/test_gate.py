"""service.md 5: four steps in order; contract 3, Token dates, Token budget, Environment token path."""

import hashlib
import json

import pytest
import time_machine
from sqlalchemy import event, select

from core.db import db, transaction
from core.errors import Refused
from domain.accounts import credentials
from domain.events.audit import COMMAND_LINE
from tests import world as worlds
from tests.api.client import Caller
from tests.conftest import SECRET_KEY


def code_of(answer):
    return answer.status_code, answer.get_json()["code"]


@pytest.fixture
def queries(app):
    """Every statement that the database is asked while the test runs."""
    seen = []

    def note(_connection, _cursor, statement, *_rest):
        seen.append(statement)

    event.listen(db.engine, "before_cursor_execute", note)
    yield seen
    event.remove(db.engine, "before_cursor_execute", note)


@pytest.mark.parametrize(
    "header",
    [
        None, "", "Bearer", "Bearer ", "Basic abc", "Bearer asr_x.y", "Bearer " + "x" * 10_000, "Bearer t\u00f6ken",
        "Bearer asr_" + "0" * 48 + "." + "0" * 32, "bearer", "Bearer a b", "Token asr_x",
    ],
)  # fmt: skip
def test_a_bearer_that_was_never_minted_is_refused_without_a_query(app, world, queries, header):
    client = app.test_client()
    queries.clear()
    answer = client.get(world.v2 + "/campaigns", headers={} if header is None else {"Authorization": header})
    assert code_of(answer) == (401, "TOKEN_INVALID")
    assert queries == []


def test_two_authorization_headers_are_refused(app, world):
    plain = worlds.token(app, world)
    headers = [("Authorization", f"Bearer {plain}"), ("Authorization", f"Bearer {plain}")]
    assert app.test_client().get(world.v2 + "/campaigns", headers=headers).status_code == 401


def test_a_token_in_the_query_string_is_no_token(app, world):
    plain = worlds.token(app, world)
    assert app.test_client().get(f"{world.v2}/campaigns?token={plain}&access_token={plain}").status_code == 401


@pytest.mark.usefixtures("one_window")
def test_the_steps_come_in_their_order(app, world):
    narrow = worlds.token(app, world, "contacts:read", per_minute=1)
    foreign = Caller(app, f"/api/v2/public/accounts/{world.other_account_id}", narrow)
    nowhere = Caller(app, "/api/v2/public/accounts/acc_00000000000000000000000000", narrow)
    ours = Caller(app, world.v2, narrow)
    assert code_of(foreign.get("/campaigns")) == (403, "ACCOUNT_NOT_IN_SCOPE")
    assert code_of(nowhere.get("/contacts")) == (403, "ACCOUNT_NOT_IN_SCOPE")
    refused = ours.get("/campaigns")
    assert code_of(refused) == (403, "SCOPE_REQUIRED")
    assert refused.get_json()["requiredScope"] == "campaigns:read"
    assert "campaigns:read" in refused.get_json()["error"]
    # Only calls that passed the first three steps were counted: the budget of one is whole.
    assert ours.get("/contacts").status_code == 200
    spent = ours.get("/contacts")
    assert code_of(spent) == (429, "RATE_LIMITED")
    assert 1 <= int(spent.headers["Retry-After"]) <= 60


def test_path_and_method_are_matched_before_the_gate(app, world):
    client = app.test_client()
    assert code_of(client.get(world.v2 + "/nothing")) == (404, "NOT_FOUND")
    wrong = client.delete(world.v2 + "/campaigns")
    assert code_of(wrong) == (405, "METHOD_NOT_ALLOWED")
    assert "GET" in wrong.headers["Allow"]
    for method in ("OPTIONS", "TRACE", "PUT"):
        assert client.open(world.v2 + "/campaigns", method=method).status_code == 405


def test_every_authorised_answer_says_what_is_left(app, world):
    ours = Caller(app, world.v2, worlds.token(app, world, per_minute=3))
    with time_machine.travel("2026-11-20T10:00:20Z", tick=False):
        answers = [ours.get("/campaigns"), ours.get("/campaigns/cmp_00000000000000000000000000"), ours.get("/contacts")]
    assert [answer.status_code for answer in answers] == [200, 404, 200]
    assert [answer.headers["RateLimit-Remaining"] for answer in answers] == ["2", "1", "0"]
    assert {answer.headers["RateLimit-Limit"] for answer in answers} == {"3"}
    assert {answer.headers["RateLimit-Reset"] for answer in answers} == {"40"}


def test_the_budget_is_whole_again_in_the_next_minute(app, world):
    ours = Caller(app, world.v2, worlds.token(app, world, per_minute=1))
    with time_machine.travel("2026-11-20T10:00:59Z", tick=False):
        assert [ours.get("/contacts").status_code for _ in range(2)] == [200, 429]
    with time_machine.travel("2026-11-20T10:01:00Z", tick=False):
        assert ours.get("/contacts").status_code == 200


def test_a_revoked_token_is_refused_at_once(app, world):
    ours = Caller(app, world.v2, worlds.token(app, world))
    assert ours.get("/campaigns").status_code == 200
    with transaction():
        credentials.revoke(credentials.all_tokens()[0].id, COMMAND_LINE)
    assert code_of(ours.get("/campaigns")) == (401, "TOKEN_INVALID")


def test_a_token_of_several_accounts_reaches_each_and_no_other(app, world):
    both = worlds.token(app, world, accounts=[world.account_id, world.other_account_id])
    for account_id in (world.account_id, world.other_account_id):
        assert Caller(app, f"/api/v2/public/accounts/{account_id}", both).get("/campaigns").status_code == 200


def test_another_account_s_campaign_is_not_found(app, world, caller):
    for path in (f"/campaigns/{world.other_campaign_id}", f"/campaigns/{world.other_campaign_id}/participants"):
        assert code_of(caller.get(path)) == (404, "NOT_FOUND")
    answer = caller.post(f"/campaigns/{world.other_campaign_id}/participants", {"email": "a@b.test"})
    assert code_of(answer) == (404, "NOT_FOUND")


def test_minted_before_the_17th_of_september_a_token_starts_with_aio(app, world):
    with time_machine.travel("2026-09-16T23:59:59Z"):
        assert worlds.token(app, world).startswith("aio_")
    with time_machine.travel("2026-09-17T00:00:00Z"):
        assert worlds.token(app, world).startswith("asr_")


def test_an_aio_token_works_to_the_end_of_2026_and_is_refused_by_name_after(app, world):
    with time_machine.travel("2026-09-12T00:00:00Z"):
        old = Caller(app, world.v2, worlds.token(app, world))
    with time_machine.travel("2026-12-31T23:59:59Z"):
        assert old.get("/campaigns").status_code == 200
    with time_machine.travel("2027-01-01T00:00:00Z"):
        assert code_of(old.get("/campaigns")) == (401, "TOKEN_EXPIRED_PREFIX")


def test_the_answers_scope_cannot_be_minted_before_the_10th_of_september(app, world):
    with time_machine.travel("2026-09-09T23:59:59Z"), pytest.raises(Refused, match="SCOPE_NOT_YET_ISSUABLE"):
        worlds.token(app, world, "submissions:read:answers")


def test_a_token_minted_earlier_never_reaches_answers_whatever_its_row_says(app, world):
    with time_machine.travel("2026-09-09T23:59:59Z"):
        early = worlds.token(app, world, "submissions:read")
    with transaction():
        row = db.session.scalars(select(credentials.ServiceToken)).one()
        row.scopes = ["submissions:read", "submissions:read:answers"]
    held = credentials.principal_of(early)
    assert held is not None
    assert held.scopes == {"submissions:read"}


def test_a_token_that_reaches_no_account_is_refused_at_issuance(app, world):
    with transaction(), pytest.raises(Refused, match="TOKEN_REACHES_NO_ACCOUNT"):
        credentials.mint(SECRET_KEY, accounts=[], scopes=["campaigns:read"], by=COMMAND_LINE)


def test_the_plaintext_of_a_token_is_stored_nowhere(app, world):
    plain = worlds.token(app, world)
    row = db.session.scalars(select(credentials.ServiceToken)).one()
    stored = json.dumps([getattr(row, column.key) for column in credentials.ServiceToken.__mapper__.columns])
    assert plain not in stored
    assert plain.split(".")[1] not in stored


def test_an_environment_token_is_honoured_with_a_deprecation_header(app, world, monkeypatch):
    bearer = "an old secret of any shape"
    configured = [{
        "sha256": hashlib.sha256(bearer.encode()).hexdigest(),
        "accounts": [world.account_id],
        "scopes": ["campaigns:read", "submissions:read:answers"],
    }]  # fmt: skip
    settings = app.config["SETTINGS"]
    from dataclasses import replace

    monkeypatch.setitem(app.config, "SETTINGS", replace(settings, legacy_tokens=json.dumps(configured)))
    old = Caller(app, world.v2, bearer)
    answer = old.get("/campaigns")
    assert answer.status_code == 200
    assert "Deprecation" in answer.headers
    assert code_of(old.get("/contacts")) == (403, "SCOPE_REQUIRED")
    held = credentials.legacy_principal(bearer, configured)
    assert held is not None
    assert held.scopes == {"campaigns:read"}


def test_with_redis_away_nobody_is_refused_for_that_and_each_process_counts(app, world, shared_valkey, monkeypatch):
    ours = Caller(app, world.v2, worlds.token(app, world, per_minute=2))
    shared_valkey.stop()
    try:
        with time_machine.travel("2026-11-20T10:00:00Z", tick=False):
            assert [ours.get("/contacts").status_code for _ in range(3)] == [200, 200, 429]
    finally:
        shared_valkey.start()
        app.extensions["assessor_queue"].breaker.__init__()
