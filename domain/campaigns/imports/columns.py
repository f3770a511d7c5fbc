"""What the columns of a file mean: names that people give them, a suggestion, and the check of a mapping."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from contract.participants import MOST_KEYS, SYSTEM_OWNED_KEYS
from core.addresses import as_address
from core.errors import Refused

Target = Literal["email", "first_name", "last_name", "language", "metadata", "segment", "ignore"]
TARGETS: tuple[Target, ...] = get_args(Target)
# The targets that one column is enough for; of several, the first that is not empty counts.
PERSON_TARGETS: tuple[Target, ...] = ("email", "first_name", "last_name", "language")

# Names without case, accents, spaces, `_`, `-` and `.`, in the four languages (contract 3; B.3).
_NAMES: dict[Target, str] = {
    "email": """email mail emailaddress mailaddress courriel adressemail adresseemail adressecourriel mel
        correo correoelectronico direcciondecorreo direccionemail enderecodeemail correioeletronico""",
    "first_name": """firstname givenname forename first prenom
        nombre nombredepila primernombre nome primeironome""",
    "last_name": """lastname surname familyname last nom nomdefamille
        apellido apellidos sobrenome apelido ultimonome""",
    "language": """language lang locale emaillanguage preferredlanguage
        langue langueemail languedesemails languepreferee
        idioma idiomapreferido idiomadelcorreo lengua lingua linguapreferida idiomadoemail""",
}
_TARGET_OF: dict[str, Target] = {name: target for target, names in _NAMES.items() for name in names.split()}
_SEPARATORS = re.compile(r"[\s_.\-]+")


def fold(header: str) -> str:
    """A column's name as it is compared: no case, accents, spaces, `_`, `-` or `.`."""
    decomposed = unicodedata.normalize("NFKD", header.casefold())
    return _SEPARATORS.sub("", "".join(char for char in decomposed if not unicodedata.combining(char)))


def meaning(header: str) -> Target:
    """The target that a column's name asks for; `ignore` where it says nothing to us."""
    return _TARGET_OF.get(fold(header), "ignore")


def header_key(header: Sequence[str]) -> str:
    """The same text for files of the same columns, by which a confirmed mapping is remembered."""
    return hashlib.sha256(json.dumps([fold(name) for name in header]).encode()).hexdigest()


def is_report(header: Sequence[str]) -> bool:
    """Whether the file is a report of ours, corrected and sent again: its own columns are passed over."""
    folded = [fold(name) for name in header]
    return len(folded) > 3 and folded[0] == "row" and folded[-2:] == ["outcome", "notice"]


def suggest(header: Sequence[str], sample: Sequence[Sequence[str]], remembered: Sequence[str] | None) -> list[str]:
    """A target for each column: what was confirmed for this header before, else what names and cells say.

    Refuses a file without an e-mail column (contract 3, Import).
    """
    if remembered is not None and _fits(header, remembered):
        return list(remembered)
    mapping: list[str] = [meaning(name) for name in header]
    if "email" not in mapping:
        mapping[_column_of_addresses(header, sample, mapping)] = "email"
    return mapping


def check(header: Sequence[str], mapping: Sequence[str]) -> None:
    """Refuse a mapping that no row could be read by; `path` is the column's place from 0, or empty."""
    if len(mapping) != len(header) or any(target not in TARGETS for target in mapping):
        raise Refused("MAPPING_UNKNOWN")
    if "email" not in mapping:
        raise Refused("EMAIL_COLUMN_REQUIRED")
    for column, (name, target) in enumerate(zip(header, mapping, strict=True)):
        if target not in choices(name):
            raise Refused("COLUMN_HAS_NO_NAME" if not name else "KEY_IS_OURS", path=str(column), key=name)
    keys = {name for name, target in zip(header, mapping, strict=True) if target == "metadata"}
    if len(keys) > MOST_KEYS:
        raise Refused("TOO_MANY_METADATA_COLUMNS", own=len(keys), most=MOST_KEYS)


def choices(name: str) -> tuple[Target, ...]:
    """The targets that a column of this name may have: a key needs a name, and some keys are the service's own."""
    if not name:
        return (*PERSON_TARGETS, "ignore")
    if name in SYSTEM_OWNED_KEYS:
        return tuple(target for target in TARGETS if target != "metadata")
    return TARGETS


def doubled(header: Sequence[str], mapping: Sequence[str]) -> dict[str, list[str]]:
    """The columns that share one meaning, by that meaning: of these the first that is not empty counts in each row."""
    groups: dict[str, list[str]] = {}
    for name, target in zip(header, mapping, strict=True):
        if target != "ignore":
            groups.setdefault(target if target in PERSON_TARGETS else f"{target}:{name}", []).append(name)
    return {meant: names for meant, names in groups.items() if len(names) > 1}


def places(header: Sequence[str], mapping: Sequence[str]) -> Mapping[tuple[str, str], list[int]]:
    """Where each thing is read from: `(target, key)` to the places of its columns; the key is empty for a field."""
    found: dict[tuple[str, str], list[int]] = {}
    for place, (name, target) in enumerate(zip(header, mapping, strict=True)):
        if target != "ignore":
            found.setdefault((target, "" if target in PERSON_TARGETS else name), []).append(place)
    return found


def _fits(header: Sequence[str], mapping: Sequence[str]) -> bool:
    try:
        check(header, mapping)
    except Refused:
        return False
    return True


def _column_of_addresses(header: Sequence[str], sample: Sequence[Sequence[str]], mapping: Sequence[str]) -> int:
    for column in range(len(header)):
        cells = [row[column] for row in sample if row[column]]
        if mapping[column] == "ignore" and cells and all("@" in cell and as_address(cell) for cell in cells):
            return column
    raise Refused("NO_EMAIL_COLUMN", columns=", ".join(name for name in header if name))
