"""What the environment may say, and what is refused with a sentence before anything runs."""

from __future__ import annotations

import os
import resource
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.settings import LONGEST_TIMEOUT_SECONDS, Settings, SettingsError
from core.supervisor import CANNOT_START, STOP_SECONDS
from jobs.deliveries import FINISH_SECONDS
from jobs.taker import UNDER_WAY_SECONDS

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "instance"


def read(folder: Path, **environ: str) -> Settings:
    return Settings.from_env({"INSTANCE_PATH": str(folder), **environ})


@pytest.mark.parametrize("word", ["1", "true", "True", "YES", "on", " on "])
def test_a_switch_is_on_by_a_word_that_says_so(folder: Path, word: str) -> None:
    settings = read(folder, WEBHOOK_ALLOW_PRIVATE_HOSTS=word, DEMO=word)
    assert settings.webhook_allow_private_hosts and settings.demo


@pytest.mark.parametrize("word", ["0", "false", "False", "FALSE", "no", "No", "off", "OFF", " "])
def test_a_switch_is_off_by_a_word_that_says_so(folder: Path, word: str) -> None:
    settings = read(folder, WEBHOOK_ALLOW_PRIVATE_HOSTS=word, DEMO=word)
    assert not settings.webhook_allow_private_hosts and not settings.demo


def test_a_switch_that_is_not_set_stands_as_it_is_documented(folder: Path) -> None:
    for environ in ({}, {"WEBHOOK_ALLOW_PRIVATE_HOSTS": "", "DEMO": ""}):
        settings = read(folder, **environ)
        assert settings.demo and not settings.webhook_allow_private_hosts


@pytest.mark.parametrize("name", ["WEBHOOK_ALLOW_PRIVATE_HOSTS", "DEMO"])
def test_any_other_word_is_no_switch(folder: Path, name: str) -> None:
    with pytest.raises(SettingsError, match=rf"{name} must be 1 or 0 .*, not 'nein'"):
        read(folder, **{name: "nein"})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("WEBHOOK_TIMEOUT_SECONDS", text) for text in ("0", "-1", "nan", "inf", "14.1", "40", "ten")),
        *(("WEBHOOK_BACKOFF_SECONDS", text) for text in ("-1", "60,nan", "60,,120", "1e9")),
        *(("WEBHOOK_LEASE_SECONDS", text) for text in ("0", "-90", "nan", "1e9")),
        *(("WEBHOOK_MAX_ATTEMPTS", text) for text in ("0", "-1", "11", "2.5", "9" * 5000)),
        *(("SQLITE_CACHE_MIB", text) for text in ("0", "-8", "1e3", "9" * 5000)),
        *(("TRUSTED_PROXIES", text) for text in ("-1", "one", "1000000")),
        *(("PORT", text) for text in ("0", "-80", "65536", "http", "9" * 5000)),
    ],
)
def test_a_number_that_cannot_work_is_refused_with_a_sentence(folder: Path, name: str, text: str) -> None:
    with pytest.raises(SettingsError, match=rf"{name} must be .* from .* to "):
        read(folder, **{name: text})


def test_the_longest_post_ends_before_a_stop_would_cut_it() -> None:
    assert LONGEST_TIMEOUT_SECONDS < FINISH_SECONDS
    assert UNDER_WAY_SECONDS + FINISH_SECONDS < STOP_SECONDS


def test_a_worker_that_cannot_start_says_so_in_a_sentence_and_tries_no_more(folder: Path) -> None:
    environ = os.environ | {"INSTANCE_PATH": str(folder), "WEBHOOK_TIMEOUT_SECONDS": "40"}
    ran = subprocess.run([sys.executable, "worker.py"], cwd=ROOT, env=environ, capture_output=True, text=True)
    assert ran.returncode == CANNOT_START
    assert "Assessor cannot start: WEBHOOK_TIMEOUT_SECONDS must be seconds from 0.1 to 14, not '40'.\n" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_secret_is_made_once_for_all_that_start_at_the_same_time(folder: Path) -> None:
    with ThreadPoolExecutor(16) as starters:
        found = set(starters.map(lambda _: read(folder).secret_key, range(64)))
    assert len(found) == 1 and len(found.pop()) == 64
    assert [kept.name for kept in folder.iterdir()] == ["secret_key"]
    assert stat.S_IMODE((folder / "secret_key").stat().st_mode) == 0o600


def test_a_disk_without_room_for_the_secret_leaves_none_behind(folder: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        with pytest.raises(SettingsError, match=r"SECRET_KEY is not set, and .* cannot be written"):
            read(folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(folder.iterdir())
    assert len(read(folder).secret_key) == 64


@pytest.mark.parametrize("text", ["", "\n", "cut-off"])
def test_a_kept_secret_that_is_not_whole_is_refused(folder: Path, text: str) -> None:
    folder.mkdir()
    (folder / "secret_key").write_text(text)
    with pytest.raises(SettingsError, match="secret_key holds no whole secret"):
        read(folder)
