"""What is kept in the repository: no secret, no machine's own path, and vendored files as they were published."""

from __future__ import annotations

import hashlib
import re

from tests.house import sources
from tests.house.sources import listed

VENDORED = ("static/vendor", "tests/browser/vendor")
REQUIREMENTS = ("requirements.txt", "requirements-dev.txt", "requirements-valkey.txt")
# Written in two halves, so that this file does not find itself.
SECRETS = re.compile(
    "|".join(("-----BEGIN [A-Z ]*PRIVATE" + " KEY", "AKIA[0-9A-Z]{16}", r"gh[pousr]_\w{36}", r"xox[abp]-\w{10}",
              r"\b(?:asr|aio)_[0-9a-f]{48}\.[0-9a-f]{32}"))
)  # fmt: skip
MACHINE_PATHS = re.compile("|".join((r"/work" + r"/\w", r"/home" + r"/\w+/", r"/Users" + r"/\w+/", r"/tmp" + r"/w/")))
INDEXES = re.compile(r"(?i)pypi\.|registry\.npm|--(?:extra-)?index-url|--trusted-host|--find-links|files\.pythonhosted")
MAY_NAME_INDEX_OPTIONS = ("Makefile", "tests/house/test_files.py")


def lines_that(pattern: re.Pattern[str]) -> list[str]:
    """Every line of the project that the pattern finds, vendored files left out."""
    return [
        f"{name}:{number} {line.strip()[:100]}"
        for name, text in sources.text_files()
        if "vendor/" not in name
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_secret_is_kept() -> None:
    found = lines_that(SECRETS)
    assert not found, listed(found)


def test_no_path_of_a_machine_is_kept() -> None:
    found = lines_that(MACHINE_PATHS)
    assert not found, listed(found)


def test_no_index_of_packages_is_named() -> None:
    found = [line for line in lines_that(INDEXES) if not line.startswith(MAY_NAME_INDEX_OPTIONS)]
    assert not found, listed(found)


def test_no_file_of_an_environment_is_kept() -> None:
    found = [
        name for name in sources.tracked() if re.search(r"(^|/)(\.env|id_rsa|.*\.(pem|key|db|sqlite3?|mo))$", name)
    ]
    assert not found, listed(found)


def test_vendored_files_are_as_published() -> None:
    found = []
    for folder in VENDORED:
        noted = dict(reversed(line.split()) for line in (sources.ROOT / folder / "CHECKSUMS.sha256").open())
        there = {name.removeprefix(folder + "/") for name in sources.tracked() if name.startswith(folder + "/")}
        code = {name for name in there if name.endswith((".js", ".css", ".woff2", ".svg"))}
        found += [f"{folder}/{name} has no checksum" for name in sorted(code - set(noted))]
        for name, digest in noted.items():
            path = sources.ROOT / folder / name
            if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
                found.append(f"{folder}/{name} is not the file of its checksum")
        found += [f"{folder}/{name} has no licence beside it" for name in sorted(code) if not _licence_of(name, there)]
    assert not found, listed(found)


def test_requirements_are_pinned_by_hash_and_name_no_host() -> None:
    found = []
    for name in REQUIREMENTS:
        text = (sources.ROOT / name).read_text()
        for entry in re.split(r"\n(?=[A-Za-z0-9])", re.sub(r"(?m)^\s*#.*\n", "", text).strip()):
            if "==" not in entry.split("\n")[0] or "--hash=sha256:" not in entry:
                found.append(f"{name}: {entry.splitlines()[0]} is not pinned by hash")
        if "://" in text:
            found.append(f"{name} names a host")
    assert not found, listed(found)


def _licence_of(name: str, there: set[str]) -> bool:
    product = re.split(r"[-.]", name.split("/")[-1])[0].lower()
    return any("licen" in other.lower() and other.lower().startswith(product) for other in there)
