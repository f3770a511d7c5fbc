"""What the screens of one import state: its consequences, its progress, how its file was read."""

from __future__ import annotations

from typing import Any

from flask_babel import gettext as _
from flask_babel import ngettext

from blueprints.page import number
from core import clock
from domain.campaigns.imports import OUTCOMES, Import, columns

from . import words


def undo_question(import_: Import) -> str:
    """What taking an import back means; nothing to speak of before it was applied."""
    created, updated = import_.counts["created"], import_.counts["updated"]
    people = ngettext(
        "%(count)s person that it added is removed.",
        "%(count)s people that it added are removed.",
        created,
        count=number(created),
    )
    rows = ngettext(
        "%(count)s person that it updated gets the earlier values back.",
        "%(count)s people that it updated get their earlier values back.",
        updated,
        count=number(updated),
    )
    kept = _("Whatever was changed after the import is kept.")
    return " ".join([*([people] if created else []), *([rows] if updated else []), kept])


def discard_question(import_: Import) -> str:
    """What discarding a file means."""
    return _("Discard “%(name)s”? Nothing of it has reached the roster.", name=import_.file_name)


def consequence(import_: Import) -> str:
    """What applying will do, in a sentence or two."""
    created, updated = import_.counts["created"], import_.counts["updated"]
    if not created and not updated:
        return _("Nothing on the roster would change.")
    joins = ngettext(
        "%(count)s person joins the roster.", "%(count)s people join the roster.", created, count=number(created)
    )
    changes = ngettext(
        "%(count)s person is brought up to date.",
        "%(count)s people are brought up to date.",
        updated,
        count=number(updated),
    )
    return " ".join([*([joins] if created else []), *([changes] if updated else [])])


def named(import_: Import, mapping: list[str]) -> dict[str, Any]:
    """The columns that share a meaning, and those that are not read, by name."""
    known = [target if target in columns.TARGETS else "ignore" for target in mapping]
    doubled = columns.doubled(import_.header, known)
    return {
        "doubled": [(words.target(meant.partition(":")[0], names[0]), names) for meant, names in doubled.items()],
        "ignored": [
            name or _("Column %(num)s", num=place + 1)
            for place, (name, target) in enumerate(zip(import_.header, known, strict=True))
            if target == "ignore"
        ],
    }


def shows(import_: Import) -> list[tuple[str, str]]:
    labels = {"created": _("New"), "updated": _("Updated"), "unchanged": _("Unchanged"), "refused": _("Refused")}
    return [
        ("all", _("All rows")),
        ("noticed", _("Only rows with a notice")),
        *((outcome, labels[outcome]) for outcome in OUTCOMES),
    ]


def progress(import_: Import) -> dict[str, Any]:
    """What the progress bar shows; the rows of a file are not known before it was read once."""
    labels = {
        "checking": _("Checking the rows"),
        "applying": _("Writing the roster"),
        "undoing": _("Taking the import back"),
    }
    label = labels.get(import_.state, "")
    if import_.state == "checking" and not import_.rows_done:
        return {"label": _("Reading the file"), "done": 0, "total": 0, "time_left": _read_so_far(import_.rows_total)}
    return {"label": label, "done": import_.rows_done, "total": import_.rows_total, "time_left": _time_left(import_)}


def _read_so_far(rows: int) -> str:
    return ngettext("%(count)s row so far", "%(count)s rows so far", rows, count=number(rows)) if rows else ""


def _time_left(import_: Import) -> str:
    if not import_.rows_done or import_.working_since is None:
        return ""
    seconds = (clock.now_ms() - import_.working_since) / 1000
    return words.time_left(seconds * (import_.rows_total - import_.rows_done) / import_.rows_done)


def read_as(import_: Import) -> list[tuple[str, str]]:
    layout = import_.layout
    if layout["kind"] == "xlsx":
        format_ = [(_("Format"), _("Excel workbook")), (_("Sheet"), layout["sheet_name"])]
    else:
        format_ = [
            (_("Encoding"), words.encoding(layout["encoding"])),
            (_("Delimiter"), words.delimiter(layout["delimiter"])),
        ]
    return [(_("File"), import_.file_name), *format_, (_("Columns"), number(len(import_.header)))]


def first_lines(layout: dict[str, Any]) -> str:
    """The header and the first rows, each on a line of its own as the delimiter divides them."""
    between = f" {layout['delimiter'].strip() or '│'} "
    return "\n".join(between.join(cell[:40] for cell in row) for row in (layout["header"], *layout["sample"][:2]))
