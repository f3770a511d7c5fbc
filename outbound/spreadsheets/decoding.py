"""Which encoding a text file is in, proved over the whole file in one pass of bounded memory."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path

from outbound.spreadsheets.layout import MAX_RUN_CHARACTERS, SpreadsheetRefused

_CHUNK_BYTES = 48 * 1024
"""A line that crosses at most one border between chunks is shorter than two chunks, hence than the longest cell."""
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass
class TextFile:
    """A text file's encoding (a Python codec name) and what its characters allow to skip later."""

    encoding: str
    has_bom: bool = False
    has_nul: bool = False
    has_quote: bool = False
    has_long_line: bool = False
    lines: int = 0
    blank: bool = True


def decode(path: str | Path) -> TextFile:
    """The encoding: by its mark, else UTF-16 by its NULs, else strict UTF-8, else cp1252.

    cp1252 is what spreadsheet programs of western Europe and Brazil write. A byte that it does not define means that
    the text is in something else again (Mac, DOS, eastern Europe): latin-1 would take it and store wrong names, so the
    file is refused instead. So is a file that is UTF-8 up to a broken place: read as cp1252, every accent before it
    would be spoilt. Raises `SpreadsheetRefused`: UNREADABLE_ENCODING(line), RECORD_TOO_LARGE(limit).
    """
    with open(path, "rb") as file:
        head = file.read(4096)
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return _proved(path, TextFile(encoding, has_bom=True))
    wide = _unmarked_utf16(head)
    if wide:
        return _proved(path, TextFile(wide))
    try:
        return _scan(path, TextFile("utf-8"))
    except _Broken as broken:
        if broken.accents_before:
            raise SpreadsheetRefused("UNREADABLE_ENCODING", line=broken.line) from broken
    return _proved(path, TextFile("cp1252"))


class _Broken(Exception):
    def __init__(self, line: int, accents_before: bool) -> None:
        super().__init__(line)
        self.line = line
        self.accents_before = accents_before


def _proved(path: str | Path, text: TextFile) -> TextFile:
    try:
        return _scan(path, text)
    except _Broken as broken:
        raise SpreadsheetRefused("UNREADABLE_ENCODING", line=broken.line) from broken


def _scan(path: str | Path, text: TextFile) -> TextFile:
    decoder = codecs.getincrementaldecoder(text.encoding)()
    returns = feeds = run = 0
    accents = False
    with open(path, "rb") as file:
        while True:
            data = file.read(_CHUNK_BYTES)
            try:
                chunk = decoder.decode(data, final=not data)
            except UnicodeDecodeError as error:
                before = error.object[: error.start]
                line = max(returns, feeds) + 1 + max(before.count(b"\n"), before.count(b"\r"))
                raise _Broken(line, accents or not before.isascii()) from error
            if not data:
                break
            accents = accents or not chunk.isascii()
            returns, feeds = returns + chunk.count("\r"), feeds + chunk.count("\n")
            run = _note(text, chunk, run)
    text.lines = max(returns, feeds) + 1
    return text


def _note(text: TextFile, chunk: str, run: int) -> int:
    """Keep what `chunk` shows; answers the length of the line that is open at its end, given that of the one before."""
    text.has_nul = text.has_nul or "\0" in chunk
    text.has_quote = text.has_quote or '"' in chunk
    text.blank = text.blank and not chunk.strip("\ufeff \t\r\n\0\x1a")
    end = max(chunk.rfind("\n"), chunk.rfind("\r"))
    if end >= 0:
        return len(chunk) - end - 1
    text.has_long_line = text.has_long_line or run > 0
    if run + len(chunk) > MAX_RUN_CHARACTERS:
        raise SpreadsheetRefused("RECORD_TOO_LARGE", limit=MAX_RUN_CHARACTERS)
    return run + len(chunk)


def _unmarked_utf16(head: bytes) -> str:
    """UTF-16 without a mark: a header of mostly Latin letters has a NUL in every second byte, on one side only."""
    pairs = len(head) // 2
    if pairs == 0:
        return ""
    first, second = head[0 : pairs * 2 : 2].count(0), head[1 : pairs * 2 : 2].count(0)
    if second * 5 > pairs * 2 and first * 20 < pairs:
        return "utf-16-le"
    if first * 5 > pairs * 2 and second * 20 < pairs:
        return "utf-16-be"
    return ""
