"""What the environment decides, read once at start (contract 5)."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

MOST_WEBHOOK_ATTEMPTS = 10
LONGEST_WEBHOOK_SECONDS = 24 * 3600
# A worker told to stop waits 15 s for its POSTs (`jobs.deliveries.FINISH_SECONDS`): one that may take longer would be
# cut, and made once more. The second that is left is for writing what came of it.
LONGEST_TIMEOUT_SECONDS = 14
LARGEST_CACHE_MIB = 65_536
MOST_PROXIES = 100
SWITCHED_ON = frozenset({"1", "true", "yes", "on"})
SWITCHED_OFF = frozenset({"0", "false", "no", "off", ""})
SHORTEST_KEPT_SECRET = 32
UNIX_SOCKET_PATH_LIMIT = 100  # the kernel allows 108 bytes with the final NUL; leave room for a temporary suffix


class SettingsError(click.ClickException):
    """A setting is missing or cannot be read; the message says what to set.

    Of click's kind, so that `flask --app app ...` says it in one sentence too: it fails before any command of ours.
    """


@dataclass(frozen=True)
class Settings:
    """One installation's settings. `redis_url` may name the socket of the embedded Valkey."""

    instance_path: Path
    database_url: str
    redis_url: str
    base_url: str
    secret_key: str
    port: int = 8000
    demo: bool = True
    legacy_tokens: str = "[]"
    embedded_valkey: bool = False
    trusted_proxies: int = 0
    sqlite_cache_mib: int = 32
    webhook_max_attempts: int = 3
    webhook_backoff_seconds: tuple[float, ...] = (60, 120, 240)
    webhook_timeout_seconds: float = 10
    webhook_lease_seconds: float = 90
    webhook_allow_private_hosts: bool = False
    testing: bool = False

    @property
    def files_path(self) -> Path:
        """Where uploaded files are kept."""
        return self.instance_path / "files"

    @property
    def is_secure(self) -> bool:
        """Whether people reach this installation over https, so that cookies may ask for it."""
        return self.base_url.startswith("https://")

    @property
    def webhook_lease_ms(self) -> int:
        """How long a sender has a delivery unless it says that it goes on."""
        return round(self.webhook_lease_seconds * 1000)

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None, *, local: bool = False) -> Settings:
        """Read the environment; `local` is the run of this machine whole, which makes its own secret.

        Raises `SettingsError` with a sentence that says which variable to set.
        """
        env = os.environ if environ is None else environ
        instance_path = Path(env.get("INSTANCE_PATH") or "instance").resolve()
        database_url = _database_url(env.get("DATABASE_URL") or "", instance_path)
        port = _whole_number("PORT", env.get("PORT") or "8000", 1, 65_535)
        return cls(
            instance_path=instance_path,
            database_url=database_url,
            redis_url=env.get("REDIS_URL") or f"unix://{embedded_valkey_socket(instance_path)}",
            base_url=(env.get("BASE_URL") or f"http://127.0.0.1:{port}").rstrip("/"),
            secret_key=_secret_key(env, instance_path, local or database_url.startswith("sqlite")),
            port=port,
            demo=_switch("DEMO", env.get("DEMO") or "1"),
            legacy_tokens=env.get("ASSESSOR_LEGACY_TOKENS") or "[]",
            embedded_valkey=not env.get("REDIS_URL"),
            trusted_proxies=_whole_number("TRUSTED_PROXIES", env.get("TRUSTED_PROXIES") or "0", 0, MOST_PROXIES),
            sqlite_cache_mib=_whole_number(
                "SQLITE_CACHE_MIB", env.get("SQLITE_CACHE_MIB") or "32", 1, LARGEST_CACHE_MIB
            ),
            **_webhooks(env),
        )


def _webhooks(env: Mapping[str, str]) -> dict[str, Any]:
    """How deliveries are attempted (contract, "Webhook attempts")."""
    ladder = (env.get("WEBHOOK_BACKOFF_SECONDS") or "60,120,240").split(",")
    attempts, timeout = env.get("WEBHOOK_MAX_ATTEMPTS") or "3", env.get("WEBHOOK_TIMEOUT_SECONDS") or "10"
    private = env.get("WEBHOOK_ALLOW_PRIVATE_HOSTS") or "0"
    return {
        "webhook_max_attempts": _whole_number("WEBHOOK_MAX_ATTEMPTS", attempts, 1, MOST_WEBHOOK_ATTEMPTS),
        "webhook_backoff_seconds": tuple(_seconds("WEBHOOK_BACKOFF_SECONDS", rung) for rung in ladder),
        "webhook_timeout_seconds": _seconds("WEBHOOK_TIMEOUT_SECONDS", timeout, 0.1, LONGEST_TIMEOUT_SECONDS),
        "webhook_lease_seconds": _seconds("WEBHOOK_LEASE_SECONDS", env.get("WEBHOOK_LEASE_SECONDS") or "90", 1),
        "webhook_allow_private_hosts": _switch("WEBHOOK_ALLOW_PRIVATE_HOSTS", private),
    }


def embedded_valkey_socket(instance_path: Path) -> Path:
    """The embedded Valkey's unix socket: in the instance folder, or in /tmp where that path is too long."""
    socket = instance_path / "valkey.sock"
    if len(str(socket)) <= UNIX_SOCKET_PATH_LIMIT:
        return socket
    import hashlib

    digest = hashlib.sha256(str(instance_path).encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"assessor-{digest}" / "valkey.sock"


def _database_url(url: str, instance_path: Path) -> str:
    if not url:
        return f"sqlite:///{instance_path / 'assessor.db'}"
    if url.startswith(("postgresql://", "postgres://")):
        return "postgresql+psycopg://" + url.split("://", 1)[1]
    if url.startswith(("sqlite:", "postgresql+psycopg:")):
        return url
    raise SettingsError("DATABASE_URL must start with postgresql:// or sqlite:///.")


def _switch(name: str, text: str) -> bool:
    word = text.strip().lower()
    if word not in SWITCHED_ON | SWITCHED_OFF:
        raise SettingsError(f"{name} must be 1 or 0 (or true, yes, on, false, no, off), not {text!r}.")
    return word in SWITCHED_ON


def _seconds(name: str, text: str, least: float = 0, most: float = LONGEST_WEBHOOK_SECONDS) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not least <= seconds <= most:
        raise SettingsError(f"{name} must be seconds from {least:g} to {most:g}, not {text!r}.")
    return seconds


def _whole_number(name: str, text: str, least: int, most: int) -> int:
    number = int(text) if text.isdecimal() and len(text) <= len(str(most)) else -1
    if not least <= number <= most:
        raise SettingsError(f"{name} must be a whole number from {least} to {most}, not {text!r}.")
    return number


def _secret_key(env: Mapping[str, str], instance_path: Path, local: bool) -> str:
    given = env.get("SECRET_KEY")
    if given:
        return given
    kept = instance_path / "secret_key"
    if not kept.exists():
        if not local:
            raise SettingsError(
                "SECRET_KEY is not set. Set it to a long random text, the same for every process of this installation."
            )
        _keep_new_secret(kept)
    secret = kept.read_text().strip()
    if len(secret) < SHORTEST_KEPT_SECRET:
        raise SettingsError(
            f"{kept} holds no whole secret. Put it back from a copy, or remove the file for a new one: sessions, "
            "tokens and webhook secrets of the old one are void then."
        )
    return secret


def _keep_new_secret(kept: Path) -> None:
    """Make the secret, whole or not at all: it is written and on disk before it gets its name. Of several processes
    of the same start the first one's stands."""
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=kept.parent, prefix=".secret_key-") as file:  # mode 0600
            file.write(secrets.token_urlsafe(48))
            file.flush()
            os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(file.name, kept)
    except OSError as error:
        raise SettingsError(f"SECRET_KEY is not set, and {kept} cannot be written ({error.strerror}).") from error
