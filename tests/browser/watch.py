"""What a browser reports while it is used: errors of its console, answers that failed, requests to elsewhere."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, ConsoleMessage, Request, Response, WebError

# A refused form is an answer like another; the browser writes it to its console all the same.
REFUSED = "Failed to load resource: the server responded with a status of 4"
PAGES = ("document", "xhr", "fetch")


class Watch:
    """Collects `troubles`, and the bytes that came over the wire."""

    def __init__(self, context: BrowserContext, base: str) -> None:
        self.base = base
        self.troubles: list[str] = []
        context.on("console", self._console)
        context.on("weberror", self._error)
        context.on("request", self._request)
        context.on("response", self._response)
        context.on("requestfailed", self._failed)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(REFUSED):
            self.troubles.append(f"{message.location.get('url')}: the console says {message.text}")

    def _error(self, error: WebError) -> None:
        where = error.page.url if error.page else "a page"
        self.troubles.append(f"{where}: a script failed: {error.error}")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.base + "/", "data:", "blob:")):
            self.troubles.append(f"{request.frame.url} asks {request.url}")

    def _response(self, response: Response) -> None:
        allowed = 500 if response.request.resource_type in PAGES else 400
        if response.status >= allowed:
            self.troubles.append(f"{response.request.method} {response.url} answered {response.status}")

    def _failed(self, request: Request) -> None:
        # Leaving a page ends what it was still loading.
        if "ERR_ABORTED" not in (request.failure or ""):
            self.troubles.append(f"{request.url} was not answered: {request.failure}")
