"""A stranger, another account's administrator and each role try every route that there is."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from blueprints.api.examples import EXAMPLES
from blueprints.api_v1 import operations as v1
from blueprints.api_v2 import operations as v2
from tests import world as worlds
from tests.house.sources import listed
from tests.house.visits import PERMISSION_NAMES, ROLES, WRITING, Visit, Walk, each, one_database

pytestmark = one_database

# A body that fits, by the name of the view that reads it.
BODIES = {each.view.__name__: EXAMPLES[each.name].body for each in (*v2.declared, *v1.declared)}


def test_every_route_declares_who_may_pass(walk: Walk) -> None:
    doors = {"anyone", "signed in", "operator", "gate", *PERMISSION_NAMES}
    failures = [f"{visit} declares {visit.allowed}" for visit in walk.visits if visit.allowed not in doors]
    assert not failures, listed(failures)


def test_a_route_of_an_account_asks_for_a_permission_in_it(walk: Walk) -> None:
    of_accounts = each(walk, lambda visit: visit.rule.rule.startswith("/accounts/"))
    failures = [f"{visit} lets in: {visit.allowed}" for visit in of_accounts if not visit.is_of_an_account]
    assert not failures, listed(failures)


def test_writing_asks_for_more_than_looking(walk: Walk) -> None:
    writing = each(walk, lambda visit: visit.method in WRITING and visit.is_of_an_account)
    failures = [
        f"{visit} asks for {visit.allowed} only"
        for visit in writing
        if not str(visit.allowed).endswith((":edit", ":manage"))
    ]
    assert not failures, listed(failures)


def test_a_stranger_is_sent_to_sign_in(walk: Walk) -> None:
    failures = []
    for visit in each(walk, lambda visit: not visit.is_api and visit.allowed != "anyone"):
        answer = walk.stranger().open(walk.places.address(visit.rule), method=visit.method)
        if answer.status_code != 302 or urlsplit(answer.location).path != "/login":
            failures.append(f"{visit} answered {answer.status}")
    assert not failures, listed(failures)


def test_a_fragment_sends_a_stranger_away_from_the_page(walk: Walk) -> None:
    failures = []
    for visit in each(walk, lambda visit: not visit.is_api and visit.allowed != "anyone"):
        address = walk.places.address(visit.rule)
        answer = walk.stranger().open(address, method=visit.method, headers={"HX-Request": "true"})
        if answer.status_code != 401 or not answer.headers.get("HX-Redirect", "").startswith("/login") or answer.data:
            failures.append(f"{visit} answered {answer.status}")
    assert not failures, listed(failures)


def test_what_is_open_to_anyone_answers_a_stranger_without_an_error(walk: Walk) -> None:
    failures = []
    for visit in each(walk, lambda visit: visit.allowed == "anyone"):
        answer = walk.stranger().open(walk.places.address(visit.rule), method=visit.method)
        if answer.status_code not in (200, 302, 400):
            failures.append(f"{visit} answered {answer.status}")
    assert not failures, listed(failures)


def test_another_accounts_administrator_finds_nothing_of_ours(walk: Walk) -> None:
    failures = []
    for visit in each(walk, lambda visit: visit.is_of_an_account):
        if (status := walk.go("Charlie", visit).status_code) != 404:
            failures.append(f"{visit} answered {status}")
    assert not failures, listed(failures)


def test_our_ids_under_another_account_lead_nowhere(walk: Walk) -> None:
    """Charlie's own account in the address, and one id of Acme behind it."""
    failures = []
    for visit in each(walk, lambda visit: visit.is_of_an_account and len(visit.rule.arguments) > 1):
        for name in visit.rule.arguments - {"account_id"}:
            mixed = {**walk.places.theirs, name: walk.places.ours[name]}
            if (status := walk.send("Charlie", visit, mine=mixed, confirmed="1").status_code) != 404:
                failures.append(f"{visit} with our {name} answered {status}")
    assert not failures, listed(failures)


def test_each_role_may_do_what_the_permissions_say_and_no_more(walk: Walk) -> None:
    failures = []
    for visit in each(walk, lambda visit: visit.is_of_an_account):
        for name in ROLES:
            status = walk.go(name, visit).status_code
            may = name in visit.people_who_pass()
            # Without a CSRF token, whoever passes the door is refused behind it and writes nothing.
            if status not in ((400,) if visit.method in WRITING else (200, 302)) if may else status != 403:
                failures.append(f"{visit} answered {status} to {name}, who may{'' if may else ' not'}")
    assert not failures, listed(failures)


def test_the_console_is_the_operators_alone(walk: Walk) -> None:
    failures = []
    for visit in each(walk, lambda visit: visit.allowed == "operator"):
        for name in (*ROLES, "Charlie"):
            if (status := walk.go(name, visit).status_code) != 403:
                failures.append(f"{visit} answered {status} to {name}")
        if (status := walk.go("Olga", visit).status_code) not in (200, 302, 400):
            failures.append(f"{visit} answered {status} to Olga")
    assert not failures, listed(failures)


def test_an_operator_is_no_member_of_an_account(walk: Walk) -> None:
    failures = []
    for visit in each(walk, lambda visit: visit.is_of_an_account):
        if (status := walk.go("Olga", visit).status_code) != 404:
            failures.append(f"{visit} answered {status}")
    assert not failures, listed(failures)


def test_an_id_that_is_none_is_not_found(walk: Walk) -> None:
    failures = []
    for visit in each(walk, lambda visit: any(name.endswith("_id") for name in visit.rule.arguments)):
        token = worlds.token(walk.app, walk.world) if visit.is_api else None
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        for name in sorted(visit.rule.arguments):
            if not name.endswith("_id") or (visit.is_api and name == "account_id"):
                continue
            for wrong in ("0", "x" * 300, "%F0%9F%92%A5", "'--"):
                who = "Olga" if visit.allowed == "operator" else "Alice"
                body = {"json": {"email": "new@example.com"}} if visit.is_api and visit.method in WRITING else {}
                status = walk.go(who, visit, mine={name: wrong}, headers=headers, **body).status_code
                if status != 404:
                    failures.append(f"{visit} with {name} {wrong[:20]} answered {status}")
    assert not failures, listed(failures)


def call(walk: Walk, visit: Visit, token: str | None, mine: dict[str, str] | None = None) -> tuple[int, str | None]:
    """Status and code of an API call."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    body = json.dumps(BODIES[visit.rule.endpoint.rpartition(".")[2]])
    answer = walk.stranger().open(
        walk.places.address(visit.rule, mine),
        method=visit.method,
        headers=headers,
        data=body if visit.method in WRITING else None,
        content_type="application/json" if visit.method in WRITING else None,
    )
    found = answer.get_json(silent=True) or {}
    return answer.status_code, found.get("code")


def test_the_api_refuses_whoever_brings_no_token(walk: Walk) -> None:
    failures = []
    for visit in each(walk, lambda visit: visit.is_api):
        if (answered := call(walk, visit, None)) != (401, "TOKEN_INVALID"):
            failures.append(f"{visit} answered {answered}")
    assert not failures, listed(failures)


def test_the_api_refuses_a_token_of_another_account(walk: Walk) -> None:
    token = worlds.token(walk.app, walk.world, accounts=[walk.world.other_account_id])
    failures = []
    for visit in each(walk, lambda visit: visit.is_api):
        if (answered := call(walk, visit, token)) != (403, "ACCOUNT_NOT_IN_SCOPE"):
            failures.append(f"{visit} answered {answered}")
    assert not failures, listed(failures)


def test_the_api_refuses_a_token_without_the_scope(walk: Walk) -> None:
    token = worlds.token(walk.app, walk.world, "statements:read")
    failures = []
    for visit in each(walk, lambda visit: visit.is_api and "statement" not in visit.rule.rule):
        status, code = call(walk, visit, token)
        if status != 403 or code not in ("SCOPE_REQUIRED", "COMPILE_SCOPES_REQUIRED"):
            failures.append(f"{visit} answered {status} {code}")
    assert not failures, listed(failures)


def test_another_accounts_ids_are_not_found_under_ours(walk: Walk) -> None:
    token = worlds.token(walk.app, walk.world)
    failures = []
    for visit in each(walk, lambda visit: visit.is_api and len(visit.rule.arguments) > 1):
        for name in visit.rule.arguments - {"account_id"}:
            answered = call(walk, visit, token, mine={name: walk.places.theirs[name]})
            if answered != (404, "NOT_FOUND"):
                failures.append(f"{visit} with another account's {name} answered {answered}")
    assert not failures, listed(failures)
