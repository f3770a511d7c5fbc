"""Every page of the application: its headers, and what its HTML alone can say."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urljoin

import pytest
from werkzeug.test import TestResponse

from core.i18n import LANGUAGES
from tests.house import page_lint
from tests.house.page_lint import Page
from tests.house.sources import listed
from tests.house.visits import WRITING, Visit, Walk, each, one_database

pytestmark = one_database

PLACES_OF_NO_PAGE = ("/nowhere", "/accounts/nowhere", "/console/nowhere")


def pages(walk: Walk, **query: str) -> Iterator[tuple[Visit, TestResponse]]:
    """Every page that somebody may open, opened by whom it is for."""
    for visit in each(walk, lambda visit: visit.is_page):
        answer = walk.go(visit.people_who_pass()[0], visit, query_string=query)
        if answer.status_code not in (301, 302, 303):
            yield visit, answer


def answers_to_forms(walk: Walk) -> Iterator[tuple[Visit, TestResponse]]:
    """Every page that answers an empty form, sent by whom it is for; what signs out is sent last."""
    found = each(walk, lambda visit: visit.method in WRITING and not visit.is_api)
    for visit in sorted(found, key=lambda visit: visit.rule.rule == "/logout"):
        answer = walk.send(visit.people_who_pass()[0], visit)
        if is_html(answer) and answer.status_code < 500 and not answer.location:
            yield visit, answer


def is_html(answer: TestResponse) -> bool:
    return answer.mimetype == "text/html"


def test_every_page_opens(walk: Walk) -> None:
    failures = [f"{visit} answered {answer.status}" for visit, answer in pages(walk) if answer.status_code != 200]
    assert not failures, listed(failures)


def test_every_page_has_the_headers_that_protect_it(walk: Walk) -> None:
    failures = []
    for visit, answer in pages(walk):
        policy = answer.headers.get("Content-Security-Policy", "")
        rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";") if rule.strip())
        expected = {
            "the policy's default is not 'self'": rules.get("default-src") == "'self'",
            "the policy names no object-src": rules.get("object-src") == "'none'",
            "the policy names no base-uri": rules.get("base-uri") == "'none'",
            "the policy names no form-action": rules.get("form-action") == "'self'",
            "the policy lets others frame the page": rules.get("frame-ancestors") == "'none'",
            "the policy allows what is written into a page": "unsafe" not in policy,
            "types may be guessed": answer.headers.get("X-Content-Type-Options") == "nosniff",
            "old browsers may frame it": answer.headers.get("X-Frame-Options") == "DENY",
            "the address may leak": answer.headers.get("Referrer-Policy") in ("same-origin", "no-referrer"),
            "it may be cached": "no-store" in answer.headers.get("Cache-Control", ""),
            "it has no request id": bool(answer.headers.get("X-Request-Id")),
        }
        failures += [f"{visit}: {what}" for what, holds in expected.items() if not holds]
    assert not failures, listed(failures)


def test_every_page_is_well_made(walk: Walk) -> None:
    failures = []
    for visit, answer in pages(walk):
        if is_html(answer):
            failures += [f"{visit}: {problem}" for problem in page_lint.problems(answer.text)]
    assert not failures, listed(failures)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_is_in_the_language_asked_for(walk: Walk, language: str) -> None:
    failures = []
    for visit, answer in pages(walk, lang=language):
        spoken = [root.attributes.get("lang") for root in Page(answer.text).all("html")] if is_html(answer) else []
        if answer.status_code != 200 or spoken not in ([], [language]):
            failures.append(f"{visit} answered {answer.status} in another language than {language}")
    assert not failures, listed(failures)


def test_every_fragment_is_well_made(walk: Walk) -> None:
    """What htmx swaps in is a part of a page, or the whole page again."""
    failures = []
    for visit in each(walk, lambda visit: visit.is_page):
        answer = walk.go(visit.people_who_pass()[0], visit, headers={"HX-Request": "true"})
        if answer.status_code != 200 or not is_html(answer) or not answer.text:
            continue
        is_whole = bool(Page(answer.text).doctype)
        found = page_lint.problems(answer.text) if is_whole else page_lint.problems_of_fragment(answer.text)
        failures += [f"{visit} as a fragment: {problem}" for problem in found if "which is not there" not in problem]
        if "HX-Request" not in answer.headers.get("Vary", "") and not is_whole:
            failures.append(f"{visit} answers htmx with less than the page and does not say so in Vary")
    assert not failures, listed(failures)


def test_an_answer_to_an_empty_form_is_well_made(walk: Walk) -> None:
    failures = []
    for visit, answer in answers_to_forms(walk):
        failures += [f"{visit} answered by a page: {problem}" for problem in page_lint.problems(answer.text)]
    assert not failures, listed(failures)


def test_an_answer_to_a_form_leads_to_a_page_in_every_language(walk: Walk) -> None:
    """An address that takes forms alone has no page of its own to show in another language. What is shown once has no
    such links: the page that they lead to would not show it."""
    failures = []
    for visit, answer in answers_to_forms(walk):
        browser = walk.browser(visit.people_who_pass()[0])
        links = [link.attributes["href"] for link in Page(answer.text).all("a") if "hreflang" in link.attributes]
        if "Shown once." in answer.text:
            assert not links, visit
            continue
        there = [browser.get(urljoin(answer.request.path, link), follow_redirects=True) for link in links]
        spoken = [Page(page.text).all("html")[0].attributes["lang"] for page in there if page.status_code == 200]
        if spoken != list(LANGUAGES):
            failures.append(f"{visit}: {', '.join(links)} answered {[page.status_code for page in there]}")
    assert not failures, listed(failures)


@pytest.mark.parametrize("name", ["Audrey", "Bob"])
def test_pages_offer_a_role_only_what_it_may_do(walk: Walk, name: str) -> None:
    """No form and no link leads to a refusal."""
    adapter = walk.app.url_map.bind("localhost")
    doors = {(visit.rule.endpoint, visit.method): visit for visit in walk.visits}
    failures = []
    for visit in each(walk, lambda visit: visit.is_page and visit.is_of_an_account):
        if name not in visit.people_who_pass():
            continue
        for method, address in _ways_on(Page(walk.go(name, visit).text)):
            if not adapter.test(address, method):
                continue
            behind = doors.get((adapter.match(address, method)[0], method))
            if behind and behind.is_of_an_account and name not in behind.people_who_pass():
                failures.append(f"{visit} offers {name} {behind}")
    assert not failures, listed(sorted(set(failures)))


def test_every_link_of_every_page_leads_somewhere(walk: Walk) -> None:
    adapter = walk.app.url_map.bind("localhost")
    lost: dict[str, list[str]] = {}
    for visit, answer in pages(walk):
        if not is_html(answer):
            continue
        for method, address in _ways_on(Page(answer.text)):
            if not adapter.test(address, method):
                lost.setdefault(f"{method} {address}", []).append(str(visit))
    failures = [f"{way} is no route; {len(places)} pages lead there, as {places[0]}" for way, places in lost.items()]
    assert not failures, listed(sorted(failures))


@pytest.mark.parametrize("place", PLACES_OF_NO_PAGE)
def test_the_page_of_an_error_is_a_page_too(walk: Walk, place: str) -> None:
    for client in (walk.stranger(), walk.browser("Alice")):
        answer = client.get(place)
        assert answer.status_code in (302, 404)
        if answer.status_code == 404:
            assert page_lint.problems(answer.text) == []
            assert "default-src 'self'" in answer.headers["Content-Security-Policy"]


def _ways_on(page: Page) -> set[tuple[str, str]]:
    """Method and path of every link, form and htmx call of a page that stays on this site."""
    found = {("GET", link.attributes.get("href", "")) for link in page.all("a")}
    for form in page.all("form"):
        if form.attributes.get("action") and form.attributes.get("method", "get") != "dialog":
            found.add((form.attributes.get("method", "get").upper(), form.attributes["action"]))
    for element in page.elements:
        for verb in ("get", "post", "put", "patch", "delete"):
            if element.attributes.get(f"hx-{verb}"):
                found.add((verb.upper(), element.attributes[f"hx-{verb}"]))
        if element.attributes.get("formaction"):
            found.add(("POST", element.attributes["formaction"]))
    return {(method, url.split("?")[0].split("#")[0]) for method, url in found if url.startswith("/")}
