"""`flask --app app ...`: bundles, tokens and people from the command line (contract 5)."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from flask import Flask
from sqlalchemy import func, select

from app import create_app
from blueprints import starting
from core.db import db
from core.serve import CannotServe
from domain.accounts import credentials, people
from domain.accounts.account import Account
from domain.events.audit import AuditEntry
from tests import world as worlds
from tests.conftest import DATABASES, SECRET_KEY, settings_for
from tests.servers.valkey import Valkey
from tests.world import World

ROOT = Path(__file__).parent.parent.parent
BUNDLE = {
    "bundle": 1,
    "accounts": [
        {
            "key": "acme",
            "name": "Acme",
            "scales": [{"key": "s", "name": "S", "points": []}],
            "campaigns": [{"key": "q3", "name": "Q3", "participants": [{"email": "ana@acme.example"}]}],
        }
    ],
}


def run(app: Flask, *arguments: str, stdin: str = "") -> Result:
    result = app.test_cli_runner().invoke(args=list(arguments), input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def refused(app: Flask, *arguments: str, stdin: str = "", code: int = 1) -> str:
    """What standard error says of a call that is refused."""
    result = run(app, *arguments, stdin=stdin)
    assert (result.exit_code, result.stdout) == (code, "")
    return str(result.stderr)


def wrote(folder: Path, value: Any) -> str:
    file = folder / "bundle.json"
    file.write_text(value if isinstance(value, str) else json.dumps(value))
    return str(file)


def test_a_bundle_is_loaded_and_its_ids_are_printed(app: Flask, tmp_path: Path) -> None:
    file = wrote(tmp_path, BUNDLE)
    result = run(app, "bundle", "load", file, "--json")
    ids = json.loads(result.stdout)["accounts"]["acme"]
    assert ids["campaigns"]["q3"]["participants"]["ana@acme.example"].startswith("par_")
    assert "accounts[0].scales (1)" in result.stderr
    assert json.loads(run(app, "bundle", "load", file, "--json").stdout)["accounts"]["acme"] == ids
    assert run(app, "bundle", "load", file).stdout.startswith(f"acme is {ids['id']}: ")


def test_a_bundle_goes_out_and_in(app: Flask, world: World, tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    assert run(app, "bundle", "dump", "--account", world.account_id, str(first)).exit_code == 0
    assert run(app, "bundle", "load", str(first)).exit_code == 0
    assert run(app, "bundle", "dump", "--account", world.account_id, str(second)).exit_code == 0
    assert first.read_bytes() == second.read_bytes()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_bundle_that_breaks_a_rule_is_refused_whole_with_its_place(app: Flask, tmp_path: Path) -> None:
    value = json.loads(json.dumps(BUNDLE))
    value["accounts"].append({"key": "other", "name": "Other", "zap": 1})
    assert "accounts[1].zap: " in refused(app, "bundle", "load", wrote(tmp_path, value))
    value["accounts"][1] = {"key": "other", "name": "Other", "users": [{"email": "x@x.test", "name": "X"}]}
    assert "accounts[1].users[0].role: " in refused(app, "bundle", "load", wrote(tmp_path, value))
    assert "not JSON" in refused(app, "bundle", "load", wrote(tmp_path, '{"bundle": 1,'))
    assert db.session.scalar(select(func.count()).select_from(Account)) == 0


def test_files_that_cannot_be_had_are_told_by_name(app: Flask, world: World, tmp_path: Path) -> None:
    missing = str(tmp_path / "none" / "bundle.json")
    assert missing in refused(app, "bundle", "load", missing, code=2)
    assert missing in refused(app, "bundle", "dump", "--account", world.account_id, missing)
    assert "no such account" in refused(app, "bundle", "dump", "--account", "acc_x", str(tmp_path / "b.json"))


def test_a_token_is_minted_listed_and_revoked(app: Flask, world: World) -> None:
    accounts = ("--account", world.account_id, "--account", world.other_account_id)
    result = run(
        app, "tokens", "mint", *accounts, "--scope", "participants:read", "--scope", "campaigns:read",
        "--per-minute", "7", "--label", "CRM sync", "--json",
    )  # fmt: skip
    minted = json.loads(result.stdout)
    principal = credentials.principal_of(minted["token"])
    assert credentials.is_signed(SECRET_KEY, minted["token"])
    assert principal is not None
    assert (principal.token_id, principal.per_minute, principal.label) == (minted["tokenId"], 7, "CRM sync")
    assert principal.accounts == {world.account_id, world.other_account_id}
    assert principal.scopes == {"participants:read", "campaigns:read"}

    listed = run(app, "tokens", "list").stdout
    assert minted["tokenId"] in listed and "CRM sync" in listed and minted["token"] not in listed
    assert run(app, "tokens", "revoke", minted["tokenId"]).exit_code == 0
    assert credentials.principal_of(minted["token"]) is None
    assert "revoked" in run(app, "tokens", "list").stdout


def test_without_json_the_output_is_the_plaintext_alone(app: Flask, world: World) -> None:
    result = run(app, "tokens", "mint", "--account", world.account_id, "--scope", "campaigns:read")
    assert credentials.principal_of(result.stdout.strip()) is not None
    assert "tok_" in result.stderr


def test_a_token_is_refused_in_one_sentence(app: Flask, world: World) -> None:
    mint = ("tokens", "mint", "--account", world.account_id)
    assert "--scope: There is no scope zap." in refused(app, *mint, "--scope", "zap")
    assert "--account: " in refused(app, "tokens", "mint", "--account", "acc_x", "--scope", "campaigns:read")
    assert "--per-minute: " in refused(app, *mint, "--scope", "campaigns:read", "--per-minute", "0")
    assert "--scope" in refused(app, *mint, code=2)
    assert "no such token" in refused(app, "tokens", "revoke", "tok_x")


def test_a_person_is_created_with_a_password_from_standard_input(app: Flask, world: World) -> None:
    result = run(
        app, "users", "create", "--email", "Nina@Acme.example", "--name", "Nina", "--account", world.account_id,
        "--role", "auditor", "--password-stdin", stdin="a very good password\n",
    )  # fmt: skip
    nina = people.find("nina@acme.example")
    assert nina is not None and nina.id == result.stdout.strip()
    assert people.password_fits(nina, "a very good password")
    assert people.role_in(nina, world.account_id) == "auditor"
    assert not nina.is_operator
    entries = db.session.scalars(select(AuditEntry).where(AuditEntry.subject_id == nina.id)).all()
    assert [(entry.action, entry.via) for entry in entries] == [("member.added", "command_line")]


def test_an_operator_is_created_with_a_password_from_the_prompt(app: Flask) -> None:
    typed = "a very good password\na very good password\n"
    result = run(app, "users", "create", "--email", "otto@x.test", "--name", "Otto", "--operator", stdin=typed)
    otto = people.find("otto@x.test")
    assert otto is not None and otto.is_operator
    assert "a very good password" not in result.stdout


def test_a_person_is_refused_in_one_sentence(app: Flask, world: World) -> None:
    create = ("users", "create", "--name", "X", "--password-stdin", "--email")
    good = "a very good password\n"
    assert "--email: " in refused(app, *create, "alice@example.com", stdin=good)
    assert "--email: " in refused(app, *create, "nobody", stdin=good)
    assert "at least 10" in refused(app, *create, "x@x.test", stdin="short\n")
    assert "--role" in refused(app, *create, "x@x.test", "--account", world.account_id, stdin=good, code=2)
    assert "no such account" in refused(app, *create, "x@x.test", "--account", "a", "--role", "auditor", stdin=good)
    assert people.find("x@x.test") is None


@pytest.fixture(params=DATABASES)
def fresh(request: pytest.FixtureRequest, shared_valkey: Valkey, tmp_path: Path) -> Iterator[Flask]:
    """An installation on a database without any tables."""
    url = f"sqlite:///{tmp_path / 'new' / 'assessor.db'}"
    if request.param == "postgresql":
        url = request.getfixturevalue("cluster").new_database(f"fresh_{secrets.token_hex(4)}")
    app = create_app(settings_for(url, shared_valkey.url, tmp_path))
    yield app
    with app.app_context():
        db.engine.dispose()


def test_the_start_fills_an_empty_installation_and_says_who_can_sign_in(fresh: Flask) -> None:
    first = starting.prepare(fresh)
    assert "ada@brumelac.example" in first and "assessor-demo" in first
    assert starting.prepare(fresh) == first


def test_the_start_leaves_an_installation_in_use_alone(fresh: Flask) -> None:
    fresh.config["SETTINGS"] = replace(fresh.config["SETTINGS"], demo=False)
    assert starting.prepare(fresh) == ""
    with fresh.app_context():
        worlds.build()
    fresh.config["SETTINGS"] = replace(fresh.config["SETTINGS"], demo=True)
    assert starting.prepare(fresh) == ""
    with fresh.app_context():
        assert db.session.scalar(select(func.count()).select_from(Account)) == 2


def test_a_database_that_cannot_be_had_is_told_in_one_sentence(shared_valkey: Valkey, tmp_path: Path) -> None:
    app = create_app(settings_for("postgresql://127.0.0.1:1/none", shared_valkey.url, tmp_path))
    with pytest.raises(CannotServe, match="cannot be used"):
        starting.prepare(app)


def flask(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """The real command, in an environment of its own."""
    unset = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "BASE_URL", "PORT")
    kept = {name: value for name, value in os.environ.items() if name not in unset}
    return subprocess.run(
        [sys.executable, "-m", "flask", "--app", "app", *arguments],
        cwd=ROOT, env={**kept, "INSTANCE_PATH": str(folder), **env}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"SECRET_KEY": "x" * 40}, "flask --app app db upgrade"),
        ({"SECRET_KEY": "x" * 40, "DATABASE_URL": "postgresql://127.0.0.1:1/none"}, "refused"),
        ({"DATABASE_URL": "postgresql://127.0.0.1:1/none"}, "SECRET_KEY is not set"),
        ({"DATABASE_URL": "oracle://x"}, "DATABASE_URL must start with"),
    ],
)
def test_an_environment_that_is_not_ready_is_told_in_one_sentence(
    tmp_path: Path, env: dict[str, str], said: str
) -> None:
    result = flask(tmp_path / "new", "tokens", "list", **env)
    assert (result.returncode, result.stdout) == (1, "")
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_a_list_without_tokens_says_so(app: Flask) -> None:
    result = run(app, "tokens", "list")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "No tokens.\n")
