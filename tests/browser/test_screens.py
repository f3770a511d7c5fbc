"""Every screen in a real browser: light and dark, wide and on a phone, as axe and the wire see it."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import BrowserContext, Page, Request

from tests.browser import axe
from tests.browser.live import Live
from tests.house.sources import listed

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 800}
FIRST_LOAD_BYTES = 200 * 1024
NOWHERE = "/nowhere"
CONTRAST = ["color-contrast"]
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


def test_nothing_is_wrong_with_any_screen(live: Live, watched: Callable[..., BrowserContext]) -> None:
    """Each is loaded by a browser that has never been here, so the first load is what it weighs."""
    failures = []
    for name, title, address in screens(live):
        page = watched(name, viewport=DESKTOP, reduced_motion="reduce").new_page()
        finished: list[Request] = []
        page.on("requestfinished", lambda request, seen=finished: seen.append(request))
        answer = page.goto(address)
        assert answer is not None
        if answer.status != (404 if address == NOWHERE else 200):
            failures.append(f"{title} answered {answer.status}")
        elif page.url.split("?")[0] == live.base + address:
            weight = sum(bytes_of(request) for request in finished)
            failures += [f"{title}: {weight:,} bytes to load"] if weight > FIRST_LOAD_BYTES else []
            failures += [f"{title}: {problem}" for problem in problems(page)]
        page.context.close()
    assert not failures, listed(failures)


def screens(live: Live) -> list[tuple[str, str, str]]:
    """Who opens it, its name for people, and its address: every page of the URL map, and the page of no page."""
    walk = live.walk
    found = [
        (visit.people_who_pass()[0] if visit.allowed != "anyone" else "", str(visit), walk.places.address(visit.rule))
        for visit in walk.visits
        if visit.is_page and not visit.rule.rule.endswith((".csv", ".json", ".xlsx"))
    ]
    return [*found, ("", "a page that is none", NOWHERE)]


def problems(page: Page) -> list[str]:
    """What is wrong in four appearances. Contrast is all that dark can change; it is loaded dark, since fading
    from one to the other takes a while.
    """
    found = [f"wide and light: {violation}" for violation in axe.violations(page)]
    page.set_viewport_size(PHONE)
    found += [f"phone and light: {violation}" for violation in axe.violations(page)]
    wider = page.evaluate(OVERFLOW)
    if wider > 0:
        found.append(f"phone: the page is {wider} px wider than the screen")
    page.emulate_media(color_scheme="dark")
    page.reload()
    found += [f"phone and dark: {violation}" for violation in axe.violations(page, CONTRAST)]
    page.set_viewport_size(DESKTOP)
    found += [f"wide and dark: {violation}" for violation in axe.violations(page, CONTRAST)]
    return found


def bytes_of(request: Request) -> int:
    sizes = request.sizes()
    return sizes["responseBodySize"] + sizes["responseHeadersSize"]
