"""A private PostgreSQL cluster in a folder of its own, reached by a unix socket alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg


class PostgreSQLMissing(Exception):
    """The server's programs are not on this machine."""


@contextmanager
def cluster(*, is_durable: bool = False) -> Iterator[PostgreSQL]:
    """Start a cluster; stop it and drop its folder at the end. Without `is_durable` a commit waits for no disk."""
    folder = Path(tempfile.mkdtemp(prefix="assessor-pg-", dir="/tmp"))
    server = PostgreSQL(folder, is_durable=is_durable)
    try:
        server.create()
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


class PostgreSQL:
    """One cluster; it can be stopped and started again, as an operator would."""

    def __init__(self, folder: Path, *, is_durable: bool = False) -> None:
        self.folder = folder
        self.is_durable = is_durable
        self.data = folder / "data"

    def create(self) -> None:
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
        _run(
            [
                _program("initdb"),
                "-D",
                str(self.data),
                "-A",
                "trust",
                "-U",
                "postgres",
                "--no-sync",
                "-E",
                "UTF8",
                "--locale=C.UTF-8",
            ]
        )

    def start(self) -> None:
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder} -c max_connections=200"
        options += "" if self.is_durable else " -c fsync=off"
        _run([_program("pg_ctl"), "-D", str(self.data), "-w", "-o", options, "-l", str(self.folder / "log"), "start"])

    def stop(self) -> None:
        if (self.data / "postmaster.pid").exists():
            _run([_program("pg_ctl"), "-D", str(self.data), "-w", "-m", "immediate", "stop"])

    def new_database(self, name: str) -> str:
        """Create a database and return its `DATABASE_URL`."""
        with psycopg.connect(host=str(self.folder), user="postgres", dbname="postgres", autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return f"postgresql://postgres@/{name}?host={self.folder}"


def _program(name: str) -> str:
    installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: float(path.parts[4]))
    found = str(installed[-1]) if installed else shutil.which(name)
    if found is None:
        raise PostgreSQLMissing(
            f"{name} is not on this machine; run bin/test-prerequisites (it needs root to install)."
        )
    return found


def _run(command: list[str]) -> None:
    """As user `postgres` where the tests run as root, since the server refuses root."""
    if os.geteuid() == 0:
        command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]
    subprocess.run(command, check=True, capture_output=True, text=True, cwd="/tmp")
