"""Importing people into a roster: upload, columns, dry run, apply, report, undo; and the history of it all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import Any

from flask import Blueprint, Response, current_app, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import lazy_gettext as lazy
from flask_wtf import FlaskForm
from flask_wtf.file import FileField

from blueprints.access import allow
from blueprints.admin import campaign_frame
from blueprints.page import PageOf, actor, is_fragment, paging, show
from core import files
from core.db import db, transaction
from core.errors import Refused
from domain.campaigns.campaign import Campaign
from domain.campaigns.imports import Import, columns, questions, steps
from outbound import spreadsheets
from outbound.spreadsheets import Layout, SpreadsheetRefused, strip_formula_guard, write_csv

from . import facts, words
from . import report as reports
from .lines import lines, shown_columns

screen = Blueprint("imports", __name__)

BASE = "/accounts/<account_id>/campaigns/<campaign_id>/import"
ONE = BASE + "/<import_id>"
LONGEST_FILE_NAME = 200
# What the form's own words and fields add to the file that they carry, amply.
ROOM_OF_THE_FORM = 4096
SAMPLE = (
    ("email", "first_name", "last_name", "language"),
    (
        ("ana.souza@example.com", "Ana", "Souza", "pt-BR"),
        ("jean.dupont@example.com", "Jean", "Dupont", "français"),
        ("maria.lopez@example.com", "María", "López", "es"),
        ("sam.taylor@example.com", "Sam", "Taylor", ""),
    ),
)


class UploadForm(FlaskForm):
    """One file."""

    file = FileField(lazy("File"))


@screen.get(BASE)
@allow("roster:edit")
def index(account_id: str, campaign_id: str) -> Any:
    """Where a file is uploaded, and what was imported before."""
    return _index(campaign_frame.opened(campaign_id), UploadForm(formdata=None))


@screen.post(BASE)
@allow("roster:edit")
def upload(account_id: str, campaign_id: str) -> Any:
    """Keep the file and suggest what its columns mean; a file that cannot be read is refused with the reason."""
    campaign = campaign_frame.opened(campaign_id)
    form = UploadForm()
    sent = form.file.data
    if not form.validate_on_submit() or not getattr(sent, "filename", ""):
        return _refused(campaign, form, words.file_refusal("FILE_REQUIRED", {}))
    name = _file_name(sent.filename)
    stored = files.store(sent.stream)
    try:
        layout = _unguarded(spreadsheets.inspect(files.path_of(stored.name), name))
        with transaction():
            received = steps.receive(campaign_frame.opened(campaign_id), name, stored, layout, actor())
    except (SpreadsheetRefused, Refused) as refused:
        files.remove(stored.name)
        return _refused(campaign_frame.opened(campaign_id), form, words.file_refusal(refused.code, refused.params))
    except BaseException:
        files.remove(stored.name)
        raise
    return redirect(_url(received))


@screen.get(BASE + "/sample.csv")
@allow("roster:edit")
def sample(account_id: str, campaign_id: str) -> Response:
    """A small file to start from."""
    campaign_frame.opened(campaign_id)
    response = Response(b"".join(write_csv(SAMPLE[1], SAMPLE[0], bom=True)), mimetype="text/csv")
    response.headers.set("Content-Disposition", "attachment", filename="people-sample.csv")
    return response


@screen.get(ONE)
@allow("roster:edit")
def one(account_id: str, campaign_id: str, import_id: str) -> Any:
    """An import where it stands: its columns, its progress, its dry run or its report."""
    campaign = campaign_frame.opened(campaign_id)
    return _one(campaign, steps.get(campaign, import_id))


@screen.get(ONE + "/columns")
@allow("roster:edit")
def choose(account_id: str, campaign_id: str, import_id: str) -> Any:
    """The columns again, to correct them after the dry run."""
    campaign = campaign_frame.opened(campaign_id)
    import_ = steps.get(campaign, import_id)
    if import_.state not in ("uploaded", "checked"):
        return redirect(_url(import_))
    return _columns(campaign, import_, import_.mapping)


@screen.post(ONE + "/columns")
@allow("roster:edit")
def confirm_columns(account_id: str, campaign_id: str, import_id: str) -> Any:
    """Confirm what the columns mean, and start the check."""
    try:
        with transaction():
            import_ = steps.get(campaign_frame.opened(campaign_id), import_id)
            mapping = [request.form.get(f"column-{place}", "") for place in range(len(import_.header))]
            steps.choose_columns(import_, mapping, actor())
    except Refused as refused:
        campaign = campaign_frame.opened(campaign_id)
        return _columns(campaign, steps.get(campaign, import_id), mapping, refused), 400
    return redirect(_url(import_))


@screen.post(ONE + "/application")
@allow("roster:edit")
def apply(account_id: str, campaign_id: str, import_id: str) -> Any:
    """Write what the dry run showed; pressed twice, it is written once."""
    seen = request.form.get("seen", "")
    with transaction():
        import_ = steps.get(campaign_frame.opened(campaign_id), import_id)
        began = steps.apply(import_, int(seen) if seen.isdecimal() and len(seen) < 10 else -1, actor())
    if not began and import_.state == "checked":
        flash(_("The check was run again meanwhile. Look at it, then apply."), "warning")
    return redirect(_url(import_))


@screen.post(ONE + "/undo")
@allow("roster:edit")
def undo(account_id: str, campaign_id: str, import_id: str) -> Any:
    """Take an applied import back, as far as nobody has built on it; asks first."""
    campaign = campaign_frame.opened(campaign_id)
    import_ = steps.get(campaign, import_id)
    if request.form.get("confirmed") != "1" and import_.state == "applied":
        return _confirm(import_, _("Take the import back"), facts.undo_question(import_), _("Take it back"))
    with transaction():
        import_ = steps.get(campaign_frame.opened(campaign_id), import_id)
        steps.undo(import_, actor())
    return redirect(_url(import_))


@screen.post(ONE + "/discard")
@allow("roster:edit")
def discard(account_id: str, campaign_id: str, import_id: str) -> Any:
    """Drop a file that has not reached the roster; asks first."""
    campaign = campaign_frame.opened(campaign_id)
    import_ = steps.get(campaign, import_id)
    if request.form.get("confirmed") != "1":
        return _confirm(import_, _("Discard the file"), facts.discard_question(import_), _("Discard"))
    with transaction():
        import_ = steps.get(campaign_frame.opened(campaign_id), import_id)
        gone = steps.discard(import_)
    if not gone:
        return redirect(_url(import_))
    flash(_("“%(name)s” was discarded. Nothing was written to the roster.", name=import_.file_name), "success")
    return redirect(url_for("imports.index", account_id=account_id, campaign_id=campaign_id))


@screen.post(ONE + "/retry")
@allow("roster:edit")
def retry(account_id: str, campaign_id: str, import_id: str) -> Any:
    """Go on with a step that gave up."""
    with transaction():
        import_ = steps.get(campaign_frame.opened(campaign_id), import_id)
        steps.try_again(import_, actor())
    return redirect(_url(import_))


@screen.get(ONE + "/progress")
@allow("roster:edit")
def progress(account_id: str, campaign_id: str, import_id: str) -> Any:
    """How far the step under way is; the page is loaded afresh once it is done."""
    import_ = steps.get(campaign_frame.opened(campaign_id), import_id)
    if not is_fragment():
        return redirect(_url(import_))
    if not import_.is_working:
        return "", 200, {"HX-Refresh": "true"}
    return render_template("imports/_progress.html", import_=import_, **facts.progress(import_))


@screen.get(ONE + "/report.csv")
@allow("roster:edit")
def report(account_id: str, campaign_id: str, import_id: str) -> Any:
    """The report, in the language of whoever downloads it."""
    import_ = steps.get(campaign_frame.opened(campaign_id), import_id)
    if import_.state not in ("checked", "applied", "undone"):
        return redirect(_url(import_))
    return reports.answer(import_, bom=request.args.get("bom") == "1")


def _index(campaign: Campaign, form: UploadForm) -> str:
    query, wanted = questions.history(campaign), paging()
    found = list(db.session.scalars(query.limit(wanted.limit).offset(wanted.offset)))
    listed = PageOf(found, wanted, questions.count(query))
    return show(
        "imports/page.html",
        "imports/_history.html",
        campaign=campaign,
        form=form,
        listed=listed,
        states=words.STATES,
        refusals=words.FILES,
        most_bytes=current_app.config["MAX_CONTENT_LENGTH"] - ROOM_OF_THE_FORM,
    )


def _refused(campaign: Campaign, form: UploadForm, why: str) -> Any:
    form.file.errors = [why]
    return _index(campaign, form), 400


def _one(campaign: Campaign, import_: Import) -> Any:
    context: dict[str, Any] = {"campaign": campaign, "import_": import_, "states": words.STATES}
    if import_.state == "uploaded":
        return _columns(campaign, import_, import_.mapping)
    if import_.is_working:
        return render_template("imports/working.html", **context, **facts.progress(import_))
    if import_.state in ("checked", "applied", "undone"):
        return show("imports/rows.html", "imports/_rows.html", **context, **_rows(import_))
    return render_template("imports/stopped.html", **context, why=_why(import_), may_discard=_may_discard(import_))


def _columns(campaign: Campaign, import_: Import, mapping: list[str], refused: Refused | None = None) -> str:
    header, sampled = import_.header, import_.layout["sample"]
    listed = [
        {
            "place": place,
            "name": name,
            "samples": [row[place] for row in sampled if row[place]][:3],
            "target": mapping[place],
            "choices": [(target, words.target(target, name)) for target in columns.choices(name)],
            "error": words.mapping_refusal(refused.code, refused.params)
            if refused is not None and refused.path == str(place)
            else "",
        }
        for place, name in enumerate(header)
    ]
    whole = words.mapping_refusal(refused.code, refused.params) if refused is not None and not refused.path else ""
    return render_template(
        "imports/columns.html",
        campaign=campaign,
        import_=import_,
        columns=listed,
        error=whole,
        facts=facts.read_as(import_),
        lines=facts.first_lines(import_.layout),
        is_report=columns.is_report(header),
        **facts.named(import_, mapping),
    )


def _rows(import_: Import) -> dict[str, Any]:
    asked = request.args.get("show", "all")
    kind: questions.Show = asked if asked in questions.SHOWS else "all"
    wanted = paging()
    rows, total = questions.page(import_, kind, wanted)
    return {
        "listed": PageOf(lines(import_, rows), wanted, total),
        "show": kind,
        "shows": facts.shows(import_),
        "shown_columns": shown_columns(import_),
        "outcomes": words.OUTCOMES,
        "consequence": facts.consequence(import_),
        "undo_question": facts.undo_question(import_),
        "discard_question": facts.discard_question(import_),
        **facts.named(import_, import_.mapping),
    }


def _why(import_: Import) -> str:
    if import_.error is None:
        return ""
    code, params = str(import_.error["code"]), import_.error["params"]
    return words.failure(code) if import_.state == "failed" else words.file_refusal(code, params)


def _may_discard(import_: Import) -> bool:
    return import_.state == "refused" or (import_.state == "failed" and import_.failed_in == "checking")


def _confirm(import_: Import, title: str, sentence: str, button: str) -> str:
    return render_template(
        "components/confirm_page.html",
        title=title,
        sentence=sentence,
        button=button,
        action=request.path,
        fields=request.form,
        cancel_url=_url(import_),
    )


def _unguarded(layout: Layout) -> Layout:
    """The layout without the `'` that a report of ours put before formulas."""
    return replace(
        layout,
        header=[strip_formula_guard(name) for name in layout.header],
        sample=[[strip_formula_guard(cell) for cell in row] for row in layout.sample],
    )


def _file_name(given: str) -> str:
    """The file's own name, without folders and without what cannot be shown."""
    name = PurePath(given.replace("\\", "/")).name
    return "".join(char for char in name if char.isprintable())[-LONGEST_FILE_NAME:] or "import"


def _url(import_: Import) -> str:
    return url_for("imports.one", account_id=import_.account_id, campaign_id=import_.campaign_id, import_id=import_.id)
