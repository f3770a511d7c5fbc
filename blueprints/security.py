"""Headers of every page: a strict content policy, no framing, no caching of private pages."""

from __future__ import annotations

from flask import Flask, Response, request

POLICY = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)


def init_app(app: Flask) -> None:
    app.after_request(_harden)
    app.url_map.merge_slashes = False


def _harden(response: Response) -> Response:
    headers = response.headers
    headers.setdefault("Content-Security-Policy", POLICY)
    headers.setdefault("X-Content-Type-Options", "nosniff")
    headers.setdefault("Referrer-Policy", "same-origin")
    headers.setdefault("X-Frame-Options", "DENY")
    if response.mimetype == "text/html":  # htmx is answered with a part of what a browser is
        response.vary.add("HX-Request")
    if request.endpoint != "static":
        headers["Cache-Control"] = "no-store"
    elif "v" in request.args and response.status_code == 200:
        headers["Cache-Control"] = "public, max-age=31536000, immutable"
    return response
