"""What every page shares: its navigation, its filters, and the way it is rendered whole or as a fragment."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from flask import Flask, current_app, g, render_template, request, url_for
from flask_babel import format_date, format_decimal, format_time, get_locale
from flask_babel import gettext as _
from flask_login import current_user
from flask_wtf.csrf import generate_csrf
from werkzeug.exceptions import HTTPException

from blueprints.shortened import shortened
from contract.paging import Paging
from core import clock
from core.i18n import LANGUAGES, NATIVE_NAMES, to_language
from domain.accounts import people
from domain.accounts.account import Account
from domain.accounts.permissions import Permission, may
from domain.events.audit import Actor


@dataclass(frozen=True)
class Section:
    """One entry of the navigation."""

    label: str
    url: str
    is_current: bool
    icon: str


@dataclass(frozen=True)
class Nav:
    """The navigation of a page, as `templates/_shell_*.html` show it."""

    person: Any
    account: Account | None = None
    accounts: list[tuple[Account, str]] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    console_url: str | None = None
    profile_url: str = ""
    developers_url: str = ""
    sign_out_url: str = ""


def init_app(app: Flask) -> None:
    app.context_processor(_shared)
    app.url_defaults(_version_static_files)
    app.jinja_env.filters["when"] = when
    app.jinja_env.filters["day"] = day
    app.jinja_env.filters["number"] = number
    app.jinja_env.filters["shortened"] = shortened
    app.jinja_env.filters["language_name"] = language_name
    app.jinja_env.globals.update(same_page=same_page, with_query=with_query)  # macros know no context
    app.jinja_env.trim_blocks = True
    app.jinja_env.lstrip_blocks = True


def is_fragment() -> bool:
    """Whether htmx asks for a part of the page, and not for the whole after a history miss."""
    return bool(request.headers.get("HX-Request")) and not request.headers.get("HX-History-Restore-Request")


def show(page: str, fragment: str | None = None, /, **context: Any) -> str:
    """The page, or, where htmx asks and a fragment is named, that part alone: both from one source."""
    return render_template(fragment if fragment and is_fragment() else page, **context)


def actor() -> Actor:
    """The signed-in person as the author of a change."""
    return Actor("user", current_user.id, current_user.name, "page")


def paging() -> Paging:
    """Page and limit as the address says."""
    return Paging.parse(request.args.get("page"), request.args.get("limit"))


@dataclass(frozen=True)
class PageOf:
    """One page of a list, for the `pagination` macro."""

    rows: list[Any]
    paging: Paging
    total: int

    @property
    def number(self) -> int:
        return self.paging.page

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // self.paging.limit))

    @property
    def first_row(self) -> int:
        return self.paging.offset + 1 if self.rows else 0

    @property
    def last_row(self) -> int:
        return self.paging.offset + len(self.rows)

    def url_for_page(self, number: int) -> str:
        """The same address at another page, every filter kept."""
        return same_page(page=number)


def same_page(**changes: Any) -> str:
    """This page's address with some parameters changed; None drops one."""
    assert request.endpoint is not None
    query = {**request.args.to_dict(flat=False), **changes}
    query.pop("lang", None) if "lang" not in changes else None
    return with_query(url_for(request.endpoint, **(request.view_args or {})), query)


def language_address(code: str) -> str:
    """Where this page stands in another language: of an answer to a form that has no page, the nearest page above."""
    query = {**request.args.to_dict(flat=False), "lang": code}
    if request.method in ("GET", "HEAD") or _page_at(request.path):
        return with_query("", query)
    return with_query(next(filter(None, map(_page_at, _above(request.path))), "/"), {"lang": code})


def _above(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def _page_at(path: str) -> str | None:
    """The address of what is shown at `path`, None where nothing is."""
    adapter = current_app.create_url_adapter(request)
    assert adapter is not None
    try:
        return adapter.build(*adapter.match(path, "GET"))
    except HTTPException:
        return None


def with_query(path: str, query: Mapping[str, Any]) -> str:
    """`path` with these parameters; those that are None are left out.

    What a visitor named does not go through `url_for`: that takes `_external`, `_scheme` and others as its own.
    """
    kept = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(kept, doseq=True)}" if kept else path


def when(epoch_ms: int | None, *, seconds: bool = False) -> str:
    """Date and time to the minute or second in the reader's language, in UTC; nothing where there is none."""
    if epoch_ms is None:
        return ""
    time = format_time(clock.to_datetime(epoch_ms), "medium" if seconds else "short", rebase=False)
    return _("%(day)s, %(time)s", day=day(epoch_ms), time=time)


def day(epoch_ms: int | None) -> str:
    """The date in the reader's language, in UTC."""
    return format_date(clock.to_datetime(epoch_ms), "medium", rebase=False) if epoch_ms is not None else ""


def number(value: int | float) -> str:
    """A number in the reader's language."""
    return format_decimal(value)


def language_name(code: str | None) -> str:
    """A language's name as it stands by itself, in the reader's language; `Not stated` where there is none."""
    name = language_in_sentence(code)
    return name[:1].upper() + name[1:]


def language_in_sentence(code: str | None) -> str:
    """The same inside a sentence, where French writes it small."""
    names = {"en": _("English"), "fr": _("French"), "es": _("Spanish"), "pt-BR": _("Brazilian Portuguese")}
    return names.get(code or "", code or "") or _("Not stated")


def language_choices() -> list[tuple[str, str]]:
    """Choices of a language selector; the empty value is `Not stated`."""
    return [("", _("Not stated")), *((code, language_name(code)) for code in LANGUAGES)]


def _version_static_files(endpoint: str, values: dict[str, Any]) -> None:
    """Name each file's content in its address, so that a browser may keep it for good."""
    if endpoint == "static" and "v" not in values:
        values["v"] = _content_version(current_app.static_folder or "", values["filename"])


@lru_cache(maxsize=256)
def _content_version(folder: str, filename: str) -> str | None:
    file = Path(folder, filename)
    return hashlib.sha256(file.read_bytes()).hexdigest()[:10] if file.is_file() else None


def _shared() -> dict[str, Any]:
    return {
        "nav": nav(),
        "csrf_token": generate_csrf,
        "page_language": to_language(str(get_locale() or "en")),
        "language_links": [(code, NATIVE_NAMES[code], language_address(code)) for code in LANGUAGES],
        "may": lambda permission: may(g.get("role") or "", permission),
    }


def nav() -> Nav:
    """The navigation for whoever is looking; none on the page that says the database is away."""
    if g.get("without_database"):
        return Nav(person=None, developers_url=url_for("developers.index"))
    if not current_user.is_authenticated:
        return Nav(person=None, developers_url=url_for("developers.index"))
    account = g.get("account")
    return Nav(
        person=current_user,
        account=account,
        accounts=people.accounts_of(current_user),
        sections=_sections(account) if account is not None else [],
        console_url=url_for("console.accounts") if current_user.is_operator else None,
        profile_url=url_for("me.profile"),
        developers_url=url_for("developers.index"),
        sign_out_url=url_for("sessions.sign_out"),
    )


def _sections(account: Account) -> list[Section]:
    # Label, endpoint, icon, permission: the account's screens in the order of the side navigation.
    screens: list[tuple[str, str, str, Permission]] = [
        (_("Overview"), "overview.show", "home", "account:view"),
        (_("Campaigns"), "campaigns.index", "campaign", "campaigns:view"),
        (_("Contacts"), "contacts.index", "contacts", "contacts:view"),
        (_("Webhooks"), "webhooks.index", "webhook", "webhooks:manage"),
        (_("People"), "people.index", "people", "people:view"),
        (_("Audit log"), "audit.index", "audit", "audit:view"),
    ]
    here = (request.endpoint or "").split(".")[0]
    family = {"roster": "campaigns", "imports": "campaigns"}.get(here, here)
    return [
        Section(label, url_for(endpoint, account_id=account.id), endpoint.split(".")[0] == family, icon)
        for label, endpoint, icon, permission in screens
        if may(g.get("role") or "", permission)
    ]
