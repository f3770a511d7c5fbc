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
CONTRAST = ["color-contrast"]
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


def test_nothing_is_wrong_with_any_screen(live: Live, watched: Callable[..., BrowserContext]) -> None:
    failures = []
    for name, title, address in screens(live):
        page = watched(name, viewport=DESKTOP).new_page()
        answer = page.goto(address)
        assert answer is not None
        if answer.status != 200:
            failures.append(f"{title} answered {answer.status}")
            continue
        if page.url.split("?")[0] == live.base + address:
            failures += [f"{title}: {problem}" for problem in problems(page)]
        page.context.close()
    assert not failures, listed(failures)


def test_the_first_load_of_every_screen_is_light(live: Live, watched: Callable[..., BrowserContext]) -> None:
    """A browser that has never been here loads a page with all that belongs to it."""
    failures = []
    for name, title, address in screens(live):
        page = watched(name).new_page()
        finished: list[Request] = []
        page.on("requestfinished", finished.append)
        page.goto(address, wait_until="networkidle" if "import" in address else "load")
        total = sum(bytes_of(request) for request in finished)
        if total > FIRST_LOAD_BYTES:
            failures.append(f"{title}: {total:,} bytes")
        page.context.close()
    assert not failures, listed(failures)


def screens(live: Live) -> list[tuple[str, str, str]]:
    """Who opens it, its name for people, and its address: every page of the URL map, and the page of no page."""
    walk = live.walk()
    return [
        (visit.people_who_pass()[0] if visit.allowed != "anyone" else "", str(visit), walk.places.address(visit.rule))
        for visit in walk.visits
        if visit.is_page and not visit.rule.rule.endswith((".csv", ".json", ".xlsx"))
    ]


def problems(page: Page) -> list[str]:
    """What is wrong in four appearances; contrast is all that dark can change."""
    found = [f"wide and light: {violation}" for violation in axe.violations(page)]
    page.emulate_media(color_scheme="dark")
    found += [f"wide and dark: {violation}" for violation in axe.violations(page, CONTRAST)]
    page.set_viewport_size(PHONE)
    found += [f"phone and dark: {violation}" for violation in axe.violations(page, CONTRAST)]
    page.emulate_media(color_scheme="light")
    found += [f"phone and light: {violation}" for violation in axe.violations(page)]
    wider = page.evaluate(OVERFLOW)
    if wider > 0:
        found.append(f"phone: the page is {wider} px wider than the screen")
    return found


def bytes_of(request: Request) -> int:
    sizes = request.sizes()
    return sizes["responseBodySize"] + sizes["responseHeadersSize"]
