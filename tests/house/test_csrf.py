"""A form that does not come from our own page writes nothing."""

from __future__ import annotations

from tests.house.sources import listed
from tests.house.visits import WRITING, Visit, Walk, each, everything_stored, one_database

pytestmark = one_database


def writes(visit: Visit) -> bool:
    return visit.method in WRITING and not visit.is_api


def test_no_form_is_taken_without_the_token_of_our_page(walk: Walk) -> None:
    for visit in each(walk, writes):
        walk.browser(visit.people_who_pass()[0])
    before, failures = everything_stored(), []
    for visit in each(walk, writes):
        for form in ({"confirmed": "1"}, {"confirmed": "1", "csrf_token": "forged"}):
            status = walk.go(visit.people_who_pass()[0], visit, data=form).status_code
            if status != 400:
                failures.append(f"{visit} answered {status}")
    assert not failures, listed(failures)
    assert everything_stored() == before


def test_another_persons_token_is_not_ours(walk: Walk) -> None:
    visit = next(visit for visit in walk.visits if str(visit) == "POST /logout")
    answer = walk.go("Alice", visit, data={"csrf_token": walk.token_of("Charlie")})
    assert answer.status_code == 400


def test_an_empty_form_is_answered_by_sentences(walk: Walk) -> None:
    """Whatever is left out, the answer is a page or a way on, never a failure of ours."""
    failures = []
    for visit in each(walk, lambda visit: writes(visit) and visit.rule.endpoint != "sessions.sign_out"):
        name = visit.people_who_pass()[0]
        status = walk.send(name, visit).status_code
        if status not in (200, 302, 303, 400, 404, 409, 422):
            failures.append(f"{visit} answered {status} to an empty form")
    assert not failures, listed(failures)


def test_the_api_takes_no_session_without_its_token(walk: Walk) -> None:
    """v1 answers signed-in people too; then the header must prove that the page is ours."""
    walk.browser("Alice")
    before, failures = everything_stored(), []
    for visit in each(walk, lambda visit: visit.is_api and visit.method in WRITING):
        answer = walk.go("Alice", visit, json={"email": "new@example.com", "firstName": "Forged"})
        if answer.status_code not in (400, 401):
            failures.append(f"{visit} answered {answer.status}")
    assert not failures, listed(failures)
    assert everything_stored() == before
