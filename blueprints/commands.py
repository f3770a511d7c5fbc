"""The command line: `flask --app app bundle | tokens | users ...` (contract 5). Its words are English.

A refusal is one clear sentence on standard error and exit code 1; a call that is written wrongly is code 2.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from flask import Flask, current_app
from flask.cli import AppGroup
from sqlalchemy import inspect
from sqlalchemy.exc import DBAPIError, IntegrityError

from blueprints import bundle_file
from blueprints.sentences import sentence
from core import clock
from core.db import db, is_postgresql, storage_trouble, transaction
from core.errors import NotFound, Refused
from domain import bundle as bundles
from domain.accounts import account as accounts
from domain.accounts import credentials, people
from domain.accounts.permissions import ROLES, SCOPES
from domain.events.audit import COMMAND_LINE

Result = TypeVar("Result")

# What a bundle can be refused for, beside the sentences that screens use too.
SENTENCES = {
    "BUNDLE_REPEATS": "{key!r} stands twice in this list.",
    "BUNDLE_MEMBER_WITHOUT_ROLE": "is required for a new member who is no operator.",
    "BUNDLE_ORGANISATION_UNKNOWN": "the account has no organisation {key!r}.",
    "BUNDLE_GROUP_UNKNOWN": "the account has no label group {key!r}.",
    "BUNDLE_LABEL_UNKNOWN": "the group has no label {key!r}.",
}

# The option that a refused field stands for.
OPTIONS = {
    "accounts": "--account",
    "scopes": "--scope",
    "per_minute": "--per-minute",
    "email": "--email",
    "name": "--name",
    "password": "The password",
}


class Commands(AppGroup):
    """A group of commands that turns what the domain refuses into a sentence."""

    def invoke(self, ctx: click.Context) -> Any:
        return _told(lambda: super(Commands, self).invoke(ctx))


bundle = Commands("bundle", help="Whole accounts in one JSON file: demo data, test worlds, moves.")
tokens = Commands("tokens", help="Service tokens of other systems.")
users = Commands("users", help="People who sign in.")


def init_app(app: Flask) -> None:
    """Hang the commands on `flask --app app`; `db` comes with Flask-Migrate."""
    for group in (bundle, tokens, users):
        app.cli.add_command(group)


@bundle.command("load")
@click.argument("file", type=click.File("rb"))
@click.option("--json", "as_json", is_flag=True, help="Print the ids that the bundle's parts were given.")
def load_bundle(file: Any, as_json: bool) -> None:
    """Load a bundle in one transaction; loading it again changes nothing."""
    given = bundle_file.read(file.read())
    with transaction():
        loaded = bundles.load(given)
    if loaded.skipped:
        _say(f"Skipped, since this version cannot hold them yet: {', '.join(loaded.skipped)}.")
    if as_json:
        _print_json(loaded.ids)
    else:
        for key, ids in loaded.ids["accounts"].items():
            click.echo(_summary(key, ids))


@bundle.command("dump")
@click.option("--account", required=True, metavar="ID", help="The account, such as acc_01h...")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def dump_bundle(account: str, file: Path) -> None:
    """Write an account as a bundle. Passwords, passcodes and tokens are never in it."""
    _see_one_moment()
    bundle_file.write(bundles.dump(account), file)
    click.echo(f"Wrote {file}.")


@tokens.command("mint")
@click.option(
    "--account", "account_ids", multiple=True, required=True, metavar="ID", help="Repeat it to reach several."
)
@click.option("--scope", "scopes", multiple=True, required=True, metavar="S", help=f"One of {', '.join(SCOPES)}.")
@click.option(
    "--per-minute", type=int, metavar="N", help=f"Budget of requests; {credentials.DEFAULT_PER_MINUTE} unset."
)
@click.option("--label", default="", metavar="TEXT", help="What the token is for.")
@click.option("--json", "as_json", is_flag=True, help="Print `token` beside `tokenId`.")
def mint_token(
    account_ids: tuple[str, ...], scopes: tuple[str, ...], per_minute: int | None, label: str, as_json: bool
) -> None:
    """Mint a token and print its plaintext, once."""
    secret_key = current_app.config["SETTINGS"].secret_key
    with transaction():
        token, plaintext = credentials.mint(
            secret_key, accounts=account_ids, scopes=scopes, by=COMMAND_LINE, label=label, per_minute=per_minute
        )
        token_id = token.id
    if as_json:
        _print_json({"token": plaintext, "tokenId": token_id})
    else:
        click.echo(plaintext)
        _say(f"This is {token_id}. Its plaintext is shown this once and stored nowhere.")


@tokens.command("list")
def list_tokens() -> None:
    """List every token, newest first, without its plaintext."""
    found = credentials.all_tokens()
    if not found:
        _say("No tokens.")
    for token in found:
        state = "revoked" if token.revoked_at else f"{token.per_minute} a minute"
        reaches = ",".join(sorted(reach.account_id for reach in token.reaches))
        used = _day(token.last_used_at) if token.last_used_at else "never used"
        click.echo("\t".join([token.id, token.hint, state, used, reaches, ",".join(token.scopes), token.label]))


@tokens.command("revoke")
@click.argument("token_id", metavar="ID")
def revoke_token(token_id: str) -> None:
    """End a token at once."""
    with transaction():
        credentials.revoke(token_id, COMMAND_LINE)
    click.echo(f"Revoked {token_id}.")


@users.command("create")
@click.option("--email", required=True, metavar="E")
@click.option("--name", required=True, metavar="N")
@click.option("--operator", is_flag=True, help="May use /console.")
@click.option("--account", "account_id", metavar="ID", help="Make the person a member of this account.")
@click.option("--role", type=click.Choice(ROLES), help="The role there.")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input, not from a prompt.")
def create_user(
    email: str, name: str, operator: bool, account_id: str | None, role: str | None, password_stdin: bool
) -> None:
    """Create a person who can sign in."""
    if (account_id is None) != (role is None):
        raise click.UsageError("--account and --role go together.")
    password = _password(password_stdin)
    with transaction():
        person = people.create(email, name, password, COMMAND_LINE, is_operator=operator)
        if account_id is not None and role is not None:
            people.add_member(accounts.get(account_id).id, person, role, COMMAND_LINE)
        person_id = person.id
    click.echo(person_id)


def _see_one_moment() -> None:
    """Read everything as it stood when the reading began; on SQLite that is so anyway."""
    db.session.rollback()
    if is_postgresql():
        db.session.connection(execution_options={"isolation_level": "REPEATABLE READ"})


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    return str(click.prompt("Password", hide_input=True, confirmation_prompt=True))


def _told(command: Callable[[], Result]) -> Result:
    """Run a command; what goes wrong becomes a sentence."""
    try:
        return command()
    except Refused as refused:
        raise click.ClickException(_refusal(refused)) from None
    except NotFound as missing:
        raise click.ClickException(f"There is no such {missing.what}.") from None
    except bundle_file.Unreadable as unreadable:
        raise click.ClickException(str(unreadable)) from None
    except DBAPIError as error:
        raise click.ClickException(_database_trouble(error)) from None
    except OSError as error:
        raise click.ClickException(f"{error.filename or 'The file'}: {error.strerror}.") from None


def _refusal(refused: Refused) -> str:
    own = SENTENCES.get(refused.code)
    text = own.format(**refused.params) if own else sentence(refused)
    place = OPTIONS.get(refused.path, refused.path)
    return f"{place}: {text}" if place else text


def _database_trouble(error: DBAPIError) -> str:
    if storage_trouble(error) == "STORAGE_FULL":
        return "The disk is full. Nothing was written."
    if isinstance(error, IntegrityError):
        return "Something else wrote the same thing at the same moment. Nothing was written; try again."
    if storage_trouble(error) is None and not _has_tables():
        return "The database has no tables yet. Make them with: flask --app app db upgrade"
    said = str(error.orig).strip().splitlines() or ["it gave no reason"]
    return f"The database refused: {said[0]}. Nothing was written."


def _has_tables() -> bool:
    try:
        return inspect(db.engine).has_table("account")
    except DBAPIError:
        return True  # out of reach, which the first error says better


def _summary(key: str, ids: dict[str, Any]) -> str:
    campaigns = ids["campaigns"].values()
    numbers = {
        "organisations": len(ids["organisations"]),
        "label groups": len(ids["labelGroups"]),
        "users": len(ids["users"]),
        "contacts": len(ids["contacts"]),
        "campaigns": len(campaigns),
        "participants": sum(len(campaign["participants"]) for campaign in campaigns),
    }
    return f"{key} is {ids['id']}: {', '.join(f'{number} {what}' for what, number in numbers.items())}."


def _day(at: int) -> str:
    return clock.to_datetime(at).date().isoformat()


def _say(text: str) -> None:
    """Beside the output, so that a script reads only what it asked for."""
    click.echo(text, err=True)


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=1))
