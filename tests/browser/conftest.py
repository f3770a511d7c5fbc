"""A browser that watches: nothing may fail in its console, and nothing may leave the site."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser import live as lives
from tests.browser.live import Live
from tests.browser.watch import Watch

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
)  # fmt: skip
PATIENCE_MS = 30_000

Open = Callable[..., Page]


@pytest.fixture(scope="package")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """The running product; each journey has a campaign of its own in it."""
    with lives.running(tmp_path_factory.mktemp("live")) as running:
        yield running


# Of the package, not the session: playwright keeps an event loop in the thread that others would stumble over.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=_chromium(), args=list(ARGUMENTS))
        yield chromium
        chromium.close()


@pytest.fixture
def watched(browser: Browser, live: Live) -> Iterator[Callable[..., BrowserContext]]:
    """Makes browsers, each with nothing in its cache; what went wrong in them fails the test at its end."""
    made: list[tuple[BrowserContext, Watch]] = []

    def make(name: str | None = None, **options: Any) -> BrowserContext:
        context = browser.new_context(**{"locale": "en-GB", "base_url": live.base, **options})
        context.set_default_timeout(PATIENCE_MS)
        if name:
            context.add_cookies([live.cookie_of(name)])
        made.append((context, Watch(context, live.base)))
        return context

    yield make
    for context, _ in made:
        context.close()
    troubles = [trouble for _, watch in made for trouble in watch.troubles]
    assert not troubles, "\n".join(troubles)


@pytest.fixture
def open_page(watched: Callable[..., BrowserContext]) -> Open:
    """A page of a fresh browser; signed in as one of the people where a name is given."""

    def open_it(name: str | None = None, **options: Any) -> Page:
        return watched(name, **options).new_page()

    return open_it


def _chromium() -> str:
    """Where Chromium is; without it the journeys fail, for a skipped journey proves nothing."""
    named = os.environ.get("CHROMIUM")
    found = named or next(filter(os.path.exists, ["/usr/bin/chromium"]), None) or shutil.which("chromium")
    if not found or not os.path.exists(found):
        pytest.fail(f"Chromium is not at {found or '/usr/bin/chromium'}: install it, or name its program in CHROMIUM.")
    return found
