"""A declared operation: path, scope, body, filters and answers in one place above the function.

From the declaration come the gate in its order, the validation, the envelope and the OpenAPI document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from flask import Blueprint, Response, g, request
from pydantic import BaseModel

from blueprints.access import allow_by_gate
from contract.envelope import ErrorCode
from contract.paging import Paging
from core import ids
from core.errors import NotFound
from domain.accounts.permissions import Permission, Scope
from domain.events.audit import Actor, Via

from . import answers, by_session, gate, reading, strict_json

View = TypeVar("View", bound=Callable[..., Response])


@dataclass(frozen=True)
class Declared:
    """Everything that is said about one operation.

    `answers` maps a status to the shape of `data`; `meta` is the shape of `meta`; a list pages by itself.
    `permission` opens the operation to signed-in members too (v1). `refusals` are its own codes of a 400.
    """

    group: str
    method: str
    path: str
    scopes: tuple[Scope, ...]
    view: Callable[..., Response]
    answers: Mapping[int, Any]
    permission: Permission | None = None
    body: type[BaseModel] | None = None
    may_be_empty: bool = False
    filters: type[BaseModel] | None = None
    meta: Any = None
    is_list: bool = False
    refusals: tuple[ErrorCode, ...] = ()

    @property
    def name(self) -> str:
        """Its name in the documents: `upsert_participant` is `upsertParticipant`."""
        first, *rest = self.view.__name__.split("_")
        return first + "".join(part.capitalize() for part in rest)

    @property
    def summary(self) -> str:
        return (self.view.__doc__ or "").strip().split("\n")[0]

    @property
    def description(self) -> str:
        return "\n".join(line.strip() for line in (self.view.__doc__ or "").strip().split("\n")[1:]).strip()


@dataclass(frozen=True)
class Call:
    """One call on its way through an operation."""

    account_id: str
    actor: Actor
    paging: Paging


@dataclass
class Operations:
    """The operations of one API under one base path; each becomes a route of `blueprint`."""

    blueprint: Blueprint
    base: str
    via: Via
    declared: list[Declared] = field(default_factory=list)

    def group(self, name: str) -> Group:
        return Group(self, name)

    def add(self, declared: Declared) -> None:
        self.declared.append(declared)
        self.blueprint.add_url_rule(
            self.base + declared.path,
            endpoint=declared.view.__name__,
            view_func=allow_by_gate(self._guarded(declared)),
            methods=[declared.method],
            provide_automatic_options=False,
        )

    def _guarded(self, declared: Declared) -> Callable[..., Response]:
        def run(account_id: str, **path: str) -> Response:
            actor = self._actor(declared, account_id)
            if not all(ids.PATTERN.fullmatch(part) for part in path.values()):
                raise NotFound
            arguments: dict[str, Any] = dict(path)
            if declared.filters is not None:
                arguments["filters"] = reading.filters(declared.filters, request.args)
            if declared.body is not None:
                body = strict_json.read(request, may_be_empty=declared.may_be_empty)
                arguments["body"] = reading.body(declared.body, body)
            paging = Paging.parse(request.args.get("page"), request.args.get("limit"))
            return declared.view(Call(account_id, actor, paging), **arguments)

        run.__name__ = declared.view.__name__
        run.__doc__ = declared.view.__doc__
        return run

    def _actor(self, declared: Declared, account_id: str) -> Actor:
        """Who calls: a token, or where the operation names a permission and none is sent, a signed-in person."""
        if declared.permission is not None and "Authorization" not in request.headers:
            return by_session.pass_through(account_id, declared.permission, self.via)
        return gate.pass_through(request, account_id, declared.scopes).actor(self.via)


@dataclass(frozen=True)
class Group:
    """The operations of one resource group, and so of one OpenAPI document."""

    operations: Operations
    name: str

    def get(self, path: str, **declaration: Any) -> Callable[[View], View]:
        return self._declare("GET", path, **declaration)

    def post(self, path: str, **declaration: Any) -> Callable[[View], View]:
        return self._declare("POST", path, **declaration)

    def put(self, path: str, **declaration: Any) -> Callable[[View], View]:
        return self._declare("PUT", path, **declaration)

    def patch(self, path: str, **declaration: Any) -> Callable[[View], View]:
        return self._declare("PATCH", path, **declaration)

    def delete(self, path: str, **declaration: Any) -> Callable[[View], View]:
        return self._declare("DELETE", path, **declaration)

    def _declare(
        self, method: str, path: str, *, scope: Scope | Sequence[Scope], **declaration: Any
    ) -> Callable[[View], View]:
        """What is named besides the scope are fields of `Declared`."""
        scopes: tuple[Scope, ...] = (scope,) if isinstance(scope, str) else tuple(scope)

        def register(view: View) -> View:
            self.operations.add(Declared(self.name, method, path, scopes, view, **declaration))
            return view

        return register


def listing(rows: Sequence[Any], call: Call, total: int, **meta: Any) -> Response:
    """A list's page in the success envelope."""
    return answers.answer(rows, **call.paging.meta(total), **meta)


def with_budget(response: Response) -> Response:
    """Every authorised answer says what is left of the token's budget."""
    passed: gate.Passed | None = g.get("passed")
    if passed is not None:
        response.headers.update(passed.headers)
    return response
