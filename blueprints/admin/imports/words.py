"""What the screens and the report of an import say: states, outcomes, and codes as sentences of the reader."""

from __future__ import annotations

from typing import Any

from flask_babel import gettext as _
from flask_babel import lazy_gettext as lazy
from flask_babel import ngettext

from blueprints.isolation import filled
from blueprints.page import number
from domain.campaigns.imports import Notice

STATES = {
    "uploaded": (lazy("Columns to confirm"), "info"),
    "checking": (lazy("Being checked"), "info"),
    "checked": (lazy("Ready to apply"), "warning"),
    "applying": (lazy("Being written"), "info"),
    "applied": (lazy("Applied"), "success"),
    "undoing": (lazy("Being taken back"), "info"),
    "undone": (lazy("Taken back"), "neutral"),
    "refused": (lazy("Refused"), "danger"),
    "discarded": (lazy("Discarded"), "neutral"),
    "failed": (lazy("Interrupted"), "danger"),
}

OUTCOMES = {
    "created": (lazy("New"), "success"),
    "updated": (lazy("Updated"), "info"),
    "unchanged": (lazy("Unchanged"), "neutral"),
    "refused": (lazy("Refused"), "danger"),
}

TARGETS = {
    "email": lazy("E-mail"),
    "first_name": lazy("First name"),
    "last_name": lazy("Last name"),
    "language": lazy("Language"),
    "metadata": lazy("Metadata key “%(name)s”"),
    "segment": lazy("Segment axis “%(name)s”"),
    "ignore": lazy("Ignore this column"),
}

# Why a whole file is refused, and what to do about it.
FILES = {
    "EMPTY": lazy("The file is empty. Choose a file with a header row and a row for each person."),
    "FILE_GONE": lazy("The file is not there any more. Upload it again."),
    "FILE_REQUIRED": lazy("Choose a file first."),
    "HEADER_ONLY": lazy("The file holds a header and no people. Add a row for each person and upload it again."),
    "HEADER_UNREADABLE": lazy(
        "The name of column %(column)s cannot be read. Write a short plain name there and upload the file again."
    ),
    "NO_EMAIL_COLUMN": lazy(
        "No column holds e-mail addresses (the columns are: %(columns)s). "
        "Name that column “Email” and upload the file again."
    ),
    "NOT_A_SPREADSHEET": lazy("This is not a spreadsheet that we can read. Save it as CSV or xlsx and upload that."),
    "OLD_XLS": lazy("This is the old Excel format (xls). Save the file as xlsx or CSV and upload that."),
    "RECORD_TOO_LARGE": lazy(
        "A single row is larger than we can read. A quotation mark may be missing: save the file again as CSV."
    ),
    "TOO_MANY_COLUMNS": lazy("The file has more than %(limit)s columns. Leave out those that nobody needs."),
    "TOO_MANY_ROWS": lazy("The file has more than %(limit)s rows. Split it and upload the parts one by one."),
    "UNCLOSED_QUOTE": lazy(
        "A quotation mark that opens in line %(line)s never closes, so the rows after it cannot be told apart. "
        "Correct that line and upload the file again."
    ),
    "UNREADABLE_ENCODING": lazy(
        "The text around line %(line)s cannot be read. Save the file as “CSV UTF-8” and upload it again."
    ),
    "XLSX_ENCRYPTED": lazy("The workbook is protected by a password. Save it without one and upload it again."),
    "XLSX_TOO_LARGE": lazy("The workbook unpacks to more than we can read. Save its first sheet as CSV."),
}

# Why a step gave up.
FAILURES = {
    "STORAGE_FULL": lazy("The disk is full. Tell whoever runs this installation, then try again."),
    "STORAGE_BUSY": lazy("The database was busy or away. Try again in a minute."),
    "INTERNAL": lazy("Something went wrong on our side. Try again; if it stops again, tell whoever runs this."),
}

# What there is to say about a mapping.
MAPPINGS = {
    "COLUMN_HAS_NO_NAME": lazy("This column has no name, so nothing can be kept under it."),
    "EMAIL_COLUMN_REQUIRED": lazy("Choose the column that holds the e-mail addresses."),
    "KEY_IS_OURS": lazy("The key “%(key)s” belongs to the service. Rename the column or leave it out."),
    "MAPPING_UNKNOWN": lazy("Choose a meaning for each column from its list."),
    "TOO_MANY_METADATA_COLUMNS": lazy("%(own)s columns would become metadata keys; at most %(most)s can."),
}

# What there is to say about a row. Sentences with %(value)s stand at the cell of that value.
NOTICES = {
    "CELL_TOO_LONG": lazy("A cell holds more than 100,000 characters. The row was refused."),
    "EMAIL_INVALID": lazy("“%(value)s” is not an e-mail address. The row was refused."),
    "EMAIL_MISSING": lazy("There is no e-mail address. The row was refused."),
    "EXTRA_CELLS": lazy("The row has more cells than there are columns; those beyond the last were ignored."),
    "LANGUAGE_UNKNOWN": lazy("“%(value)s” is not a language that we recognise. It was ignored."),
    "LATER_ROW": lazy("The same address stands in row %(row)s again. That row counts; this one wrote nothing."),
    "NAME_TOO_LONG": lazy("A name may have at most %(most)s characters. The row was refused."),
    "NOT_ACCEPTED": lazy("A value of this row was not accepted (%(field)s). The row was refused."),
    "NUL_IN_ROW": lazy("The row holds a character that is not text. The row was refused."),
    "SET_ASIDE": lazy("“%(value)s” was set aside, because the column “%(first)s” counts first."),
    "TOO_MANY_METADATA_KEYS": lazy(
        "The person would have %(own)s metadata keys; at most %(most)s are allowed. The row was refused."
    ),
    "UNDO_FIELD_KEPT": lazy("%(field)s was changed after the import and was kept."),
    "UNDO_GONE": lazy("This person is not on the roster any more; there was nothing to take back."),
    "UNDO_PERSON_KEPT": lazy("This person was changed after the import and stays on the roster."),
}


def file_refusal(code: str, params: dict[str, Any]) -> str:
    """Why a whole file was refused."""
    shown = {name: number(value) if isinstance(value, int) else value for name, value in params.items()}
    return filled(FILES.get(code, FILES["NOT_A_SPREADSHEET"]), shown)


def failure(code: str) -> str:
    """Why a step gave up."""
    return str(FAILURES.get(code, FAILURES["INTERNAL"]))


def mapping_refusal(code: str, params: dict[str, Any]) -> str:
    """What is wrong with a mapping."""
    return filled(MAPPINGS[code], params)


def target(name: str, column: str) -> str:
    """What a column is read as."""
    return filled(TARGETS[name], {"name": column})


def sentence(notice: Notice) -> str:
    """A notice in the reader's language."""
    params = dict(notice.params)
    if notice.code == "UNDO_FIELD_KEPT":
        params["field"] = TARGETS.get(params["field"], params["field"])
    return filled(NOTICES[notice.code], params)


def report_sentence(notice: Notice, header: list[str]) -> str:
    """A notice as the report says it: with the name of the column, since it stands far from its cell."""
    said = sentence(notice)
    if notice.column is None or not header[notice.column]:
        return said
    return _("%(column)s: %(notice)s", column=header[notice.column], notice=said)


def encoding(name: str) -> str:
    """An encoding by the name that people know."""
    return {"utf-8": "UTF-8", "utf-8-sig": "UTF-8", "cp1252": "Windows-1252", "utf-16": "UTF-16"}.get(
        name.lower(), name.upper()
    )


def delimiter(character: str) -> str:
    """A delimiter as a word."""
    words = {",": _("Comma"), ";": _("Semicolon"), "\t": _("Tab"), "|": _("Vertical bar")}
    return words.get(character, character)


def time_left(seconds: float) -> str:
    """How long it will take, roughly."""
    if seconds < 60:
        count = max(1, round(seconds))
        return ngettext("About %(num)s second left", "About %(num)s seconds left", count)
    return ngettext("About %(num)s minute left", "About %(num)s minutes left", round(seconds / 60))
