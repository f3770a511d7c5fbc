"""A caller of the API in the tests: sends a token, and holds every answer against its declared shape."""

from __future__ import annotations

import json
from typing import Any

from flask import Flask
from pydantic import TypeAdapter
from werkzeug.exceptions import HTTPException
from werkzeug.test import TestResponse

from blueprints.api.operation import Declared
from blueprints.api_v1 import operations as v1
from blueprints.api_v2 import operations as v2
from contract.envelope import Failure
from tests.api import documents

_FAILURE = TypeAdapter(Failure)


class Caller:
    """Sends requests with one token. `get("/campaigns")` is relative to `base`."""

    def __init__(self, app: Flask, base: str, token: str | None) -> None:
        self._app = app
        self._client = app.test_client()
        self._base = base
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def get(self, path: str, **query: Any) -> TestResponse:
        return self._checked(self._client.get(self._base + path, headers=self._headers, query_string=query))

    def post(self, path: str, body: Any) -> TestResponse:
        return self.send("POST", path, json.dumps(body))

    def patch(self, path: str, body: Any) -> TestResponse:
        return self.send("PATCH", path, json.dumps(body))

    def send(self, method: str, path: str, raw: str | bytes, content_type: str = "application/json") -> TestResponse:
        answer = self._client.open(
            self._base + path, method=method, data=raw, content_type=content_type, headers=self._headers
        )
        return self._checked(answer)

    def _checked(self, answer: TestResponse) -> TestResponse:
        """Every answer is in the envelope; an operation's answer has the shape and the headers it declares."""
        assert "X-Request-Id" in answer.headers
        body = answer.get_json()
        if answer.status_code < 400:
            assert body["success"] is True
            assert isinstance(body["meta"], dict)
        else:
            _FAILURE.validate_python(body, strict=True)
        declared = operation_of(self._app, answer)
        if declared is not None:
            documents.hold(declared, answer)
        return answer


def operation_of(app: Flask, answer: TestResponse) -> Declared | None:
    """The declared operation that answered; None for an unknown path or method."""
    try:
        endpoint, _ = app.url_map.bind("localhost").match(answer.request.path, answer.request.method)
    except HTTPException:
        return None
    known = {
        f"{each.blueprint.name}.{declared.view.__name__}": declared for each in (v1, v2) for declared in each.declared
    }
    return known.get(endpoint)
