"""The four languages: their codes, their names, and the gettext catalogues of the screens."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, get_args

Language = Literal["en", "fr", "es", "pt-BR"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

NATIVE_NAMES: dict[str, str] = {"en": "English", "fr": "Français", "es": "Español", "pt-BR": "Português (Brasil)"}

TRANSLATIONS = Path(__file__).parent.parent / "translations"


def to_locale(language: str) -> str:
    """Babel's spelling: `pt-BR` is `pt_BR`."""
    return language.replace("-", "_")


def to_language(locale: str) -> str:
    """Our spelling: `pt_BR` is `pt-BR`."""
    return locale.replace("_", "-")


def known(code: str | None) -> Language | None:
    """`code` if it is one of the four, spelt exactly; else None."""
    return next((language for language in LANGUAGES if language == code), None)


def best_of(accepted: Iterable[str]) -> Language | None:
    """The first of a browser's wishes that we speak; `fr-CA` is `fr`, any Portuguese is `pt-BR`."""
    for wish in accepted:
        primary = wish.replace("_", "-").split("-")[0].lower()
        for language in LANGUAGES:
            if language.split("-")[0] == primary:
                return language
    return None


def compile_catalogues() -> None:
    """Write the `.mo` beside each `.po` that has none, or an older one. Safe to call from several processes."""
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    for po in sorted(TRANSLATIONS.glob("*/LC_MESSAGES/messages.po")):
        mo = po.with_suffix(".mo")
        if mo.exists() and mo.stat().st_mtime >= po.stat().st_mtime:
            continue
        with po.open("rb") as source:
            catalogue = read_po(source, locale=po.parent.parent.name)
        import os

        scratch = mo.with_suffix(f".{os.getpid()}.tmp")
        with scratch.open("wb") as target:
            write_mo(target, catalogue)
        scratch.replace(mo)
