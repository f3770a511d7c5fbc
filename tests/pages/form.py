"""Forms of pages as a browser without scripts sends them."""

from __future__ import annotations

import re
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse


def csrf(client: FlaskClient, path: str) -> str:
    """The token that the page at `path` carries."""
    found = re.search(r'<meta name="csrf-token" content="([^"]+)"', client.get(path).text)
    assert found is not None
    return found[1]


def send(
    client: FlaskClient, path: str, *, page: str | None = None, follow: bool = True, **fields: Any
) -> TestResponse:
    """Post a form to `path` with the token of `page` (by default the same path), and go where it leads."""
    data = {"csrf_token": csrf(client, page or path), **fields}
    return client.post(path, data=data, follow_redirects=follow)
