"""What a file is, by its first bytes: a name says what its owner hoped, the bytes say what it is."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from outbound.spreadsheets.layout import SpreadsheetRefused

HEAD_BYTES = 4096
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_OTHERS = (
    (b"%PDF-", "pdf"),
    (b"\x89PNG", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF8", "gif"),
    (b"\x1f\x8b", "gzip"),
    (b"7z\xbc\xaf", "7z"),
    (b"Rar!", "rar"),
    (b"{\\rtf", "rtf"),
)
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_MARKUP = (b"<!doctype", b"<html", b"<table", b"<?xml")
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\x0b\x1a\x1b\0")


def recognise(path: str | Path, filename: str) -> Literal["csv", "xlsx"]:
    """`xlsx` for a zip archive, `csv` for text; anything else is refused by name.

    Raises `SpreadsheetRefused`: EMPTY, OLD_XLS, XLSX_ENCRYPTED, NOT_A_SPREADSHEET(looks_like).
    """
    with open(path, "rb") as file:
        head = file.read(HEAD_BYTES)
    if not head:
        raise SpreadsheetRefused("EMPTY")
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "xlsx"
    if head.startswith(_OLE):
        raise SpreadsheetRefused("XLSX_ENCRYPTED" if _holds(path, _ENCRYPTED_PACKAGE) else "OLD_XLS")
    other = _other_kind(head)
    if other:
        raise SpreadsheetRefused("NOT_A_SPREADSHEET", looks_like=other, filename=filename)
    return "csv"


def _other_kind(head: bytes) -> str:
    for magic, name in _OTHERS:
        if head.startswith(magic):
            return name
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_MARKUP):
        return "html"
    if head.startswith(_UTF16_MARKS):
        return ""
    controls = sum(byte < 32 and byte not in _TEXT_CONTROLS for byte in head)
    return "binary" if controls * 20 > len(head) else ""


def _holds(path: str | Path, wanted: bytes) -> bool:
    """Whether the bytes stand anywhere in the file; an OLE directory may lie at its end."""
    before = b""
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            if wanted in before + chunk:
                return True
            before = chunk[-len(wanted) :]
    return False
