"""axe-core over a page: WCAG 2.2 AA and best practices, in the state that the page is in."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from playwright.sync_api import Page

SOURCE = Path(__file__).parent / "vendor" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Colours that are still on their way to others would be measured half-way.
RUN = """async (options) => {
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    const moving = document.getAnimations().filter((one) => one.effect.getComputedTiming().iterations !== Infinity);
    await Promise.allSettled(moving.map((one) => one.finished));
    const found = await axe.run(document, options);
    return found.violations.flatMap((rule) => rule.nodes.map((node) =>
        `${rule.id} at ${node.target.join(" ")}: ${node.failureSummary.split("\\n").slice(1, 2).join(" ").trim()}`));
}"""


@lru_cache(maxsize=1)
def _source() -> str:
    return SOURCE.read_text("utf-8")


def violations(page: Page, rules: list[str] | None = None) -> list[str]:
    """What axe finds; `rules` narrows it to some."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(_source())
    only = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": RULES}
    options = {"resultTypes": ["violations"], "runOnly": only, "preload": False}
    found: list[str] = page.evaluate(RUN, options)
    return found


def check(page: Page) -> None:
    """Fail where axe finds something."""
    found = violations(page)
    assert not found, f"{page.url}:\n" + "\n".join(found)
