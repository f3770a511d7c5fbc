"""The zip archive around an xlsx file: looked over before anything in it is opened.

What Python's zipfile gives for an entry never exceeds the size that the directory declares for it: an entry that lies
is cut there and fails its checksum. So limits on declared sizes are limits on memory, for stored and deflated entries;
bzip2 and lzma decompress a whole block at once and are refused.
"""

from __future__ import annotations

from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from outbound.spreadsheets.layout import SpreadsheetRefused

MAX_ENTRIES = 2_000
MAX_TOTAL_BYTES = 1024 * 1024 * 1024
MAX_PART_BYTES = 16 * 1024 * 1024
"""For the parts that openpyxl holds whole: workbook, styles, themes, relations."""
MAX_STRINGS_BYTES = 128 * 1024 * 1024
MAX_RATIO = 200
RATIO_FLOOR_BYTES = 1024 * 1024
"""Below this size a high ratio is harmless: a small styles part of repeated lines reaches it honestly."""
_PROLOGUE_BYTES = 64 * 1024
_ENCRYPTED_FLAG = 0x1


def check_archive(path: str | Path) -> None:
    """Refuse an archive that is no xlsx workbook or would grow too large.

    Raises `SpreadsheetRefused`: NOT_A_SPREADSHEET(looks_like), XLSX_ENCRYPTED, XLSX_TOO_LARGE.
    """
    try:
        with ZipFile(path) as archive:
            entries = archive.infolist()
            _check_kind(archive)
            _check_sizes(entries)
            for entry in entries:
                _check_prologue(archive, entry)
    except (SpreadsheetRefused, MemoryError):
        raise
    except Exception as error:
        # zipfile answers damage with BadZipFile, zlib.error, struct.error, NotImplementedError, EOFError and others.
        raise SpreadsheetRefused("NOT_A_SPREADSHEET", looks_like="broken zip") from error


def _check_kind(archive: ZipFile) -> None:
    names = set(archive.namelist())
    if any(entry.flag_bits & _ENCRYPTED_FLAG for entry in archive.infolist()):
        raise SpreadsheetRefused("XLSX_ENCRYPTED")
    if "xl/workbook.bin" in names:
        raise SpreadsheetRefused("NOT_A_SPREADSHEET", looks_like="xlsb")
    if "mimetype" in names and "content.xml" in names:
        raise SpreadsheetRefused("NOT_A_SPREADSHEET", looks_like="ods")
    if "[Content_Types].xml" not in names or any(name.startswith(("word/", "ppt/")) for name in names):
        raise SpreadsheetRefused("NOT_A_SPREADSHEET", looks_like="zip")


def _check_sizes(entries: list[ZipInfo]) -> None:
    if len(entries) > MAX_ENTRIES or sum(entry.file_size for entry in entries) > MAX_TOTAL_BYTES:
        raise SpreadsheetRefused("XLSX_TOO_LARGE")
    for entry in entries:
        if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise SpreadsheetRefused("NOT_A_SPREADSHEET", looks_like="zip")
        ratio = entry.file_size / max(entry.compress_size, 1)
        if entry.file_size > _limit(entry.filename) or (entry.file_size > RATIO_FLOOR_BYTES and ratio > MAX_RATIO):
            raise SpreadsheetRefused("XLSX_TOO_LARGE", part=entry.filename)


def _limit(name: str) -> int:
    """The most bytes of one part. Sheets are streamed; media and the like are never opened."""
    lowered = name.lower()
    if "/worksheets/" in lowered or "/media/" in lowered or "/embeddings/" in lowered:
        return MAX_TOTAL_BYTES
    return MAX_STRINGS_BYTES if lowered.endswith("sharedstrings.xml") else MAX_PART_BYTES


def is_held_whole(name: str) -> bool:
    """Whether `name` is one of the parts that were measured as openpyxl reads them: at once, into memory."""
    return name.lower().endswith(".xml") and _limit(name) < MAX_TOTAL_BYTES


def _check_prologue(archive: ZipFile, entry: ZipInfo) -> None:
    """A document type has no place in an xlsx part; its entities could grow without end."""
    if entry.filename.lower().endswith((".xml", ".rels")):
        with archive.open(entry) as part:
            prologue = part.read(_PROLOGUE_BYTES).replace(b"\0", b"")
        if b"<!DOCTYPE" in prologue or b"<!ENTITY" in prologue:
            raise SpreadsheetRefused("NOT_A_SPREADSHEET", looks_like="xml with a document type")
