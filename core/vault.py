"""Secrets at rest: sealed with a key of their own, made from the installation's SECRET_KEY."""

from __future__ import annotations

import base64
import hashlib

from cryptography.fernet import Fernet
from flask import current_app

from core.settings import Settings


def seal(secret: str) -> str:
    """The secret as it may stand in the database."""
    return _fernet().encrypt(secret.encode()).decode()


def unseal(sealed: str) -> str:
    """The secret again; raises `cryptography.fernet.InvalidToken` where SECRET_KEY is another than it was."""
    return _fernet().decrypt(sealed.encode()).decode()


def _fernet() -> Fernet:
    settings: Settings = current_app.config["SETTINGS"]
    digest = hashlib.sha256(b"assessor webhook secrets\0" + settings.secret_key.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))
