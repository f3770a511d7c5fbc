"""A caller of the API in the tests: sends a token, and holds every answer against its declared shape."""

from __future__ import annotations

import json
from typing import Any

from flask import Flask
from pydantic import TypeAdapter
from werkzeug.test import TestResponse

from contract.envelope import Failure

_FAILURE = TypeAdapter(Failure)


class Caller:
    """Sends requests with one token. `get("/campaigns")` is relative to `base`."""

    def __init__(self, app: Flask, base: str, token: str | None) -> None:
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
        """Every answer is in the envelope, and every failure has the declared shape."""
        assert "X-Request-Id" in answer.headers
        body = answer.get_json()
        if answer.status_code < 400:
            assert body["success"] is True
            assert isinstance(body["meta"], dict)
        else:
            _FAILURE.validate_python(body, strict=True)
        return answer
