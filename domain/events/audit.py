"""The account's audit log: who did what, by which way, to what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from sqlalchemy import ForeignKey, Index, Select, Table, Text, select
from sqlalchemy.orm import Mapped, mapped_column

from core import bulk, clock
from core.db import EpochMs, Json, Model, primary_key
from core.ids import made_between, new_ids

Via = Literal["page", "v1_api", "v2_public_api", "import", "command_line", "schedule", "bundle"]


@dataclass(frozen=True)
class Actor:
    """Who changes something, and by which way. `label` is what the log shows: a name, a token's label."""

    kind: Literal["user", "token", "system"]
    id: str
    label: str
    via: Via


SCHEDULE = Actor("system", "schedule", "Schedule", "schedule")
COMMAND_LINE = Actor("system", "command_line", "Command line", "command_line")
BUNDLE = Actor("system", "bundle", "Bundle", "bundle")


class AuditEntry(Model):
    """One thing that somebody did in an account. `changes` maps a field to `[before, after]`; never a secret."""

    __tablename__ = "audit_entry"

    id: Mapped[str] = primary_key("aud")
    account_id: Mapped[str] = mapped_column(Text, ForeignKey("account.id", ondelete="CASCADE"))
    at: Mapped[int] = mapped_column(EpochMs)
    actor_kind: Mapped[str] = mapped_column(Text)
    actor_id: Mapped[str] = mapped_column(Text)
    actor_label: Mapped[str] = mapped_column(Text)
    via: Mapped[str] = mapped_column(Text)
    action: Mapped[str] = mapped_column(Text)
    subject_id: Mapped[str] = mapped_column(Text)
    subject_label: Mapped[str] = mapped_column(Text)
    changes: Mapped[Any] = mapped_column(Json)

    __table_args__ = (
        Index("ix_audit_entry_account_id_id", "account_id", "id"),
        Index("ix_audit_entry_account_id_action_id", "account_id", "action", "id"),
        Index("ix_audit_entry_subject_id_id", "subject_id", "id"),
    )


# Every action that the log can hold, in the order of its filter.
ACTIONS = (
    "account.created",
    "account.updated",
    "account.languages.changed",
    "member.added",
    "member.role.changed",
    "member.removed",
    "token.minted",
    "token.revoked",
    "campaign.created",
    "campaign.updated",
    "campaign.status.changed",
    "participant.upserted",
    "participant.updated",
    "participant.removed",
    "contact.created",
    "contact.updated",
    "contact.removed",
    "import.applied",
    "import.undone",
    "webhook.registered",
    "webhook.updated",
    "webhook.deleted",
    "webhook.secret.rotated",
    "webhook.tested",
    "webhook.refired",
    "bundle.loaded",
)


@dataclass(frozen=True)
class Done:
    """One action, before it is written to the log."""

    action: str
    subject_id: str
    subject_label: str
    changes: Mapping[str, Sequence[Any]]


def record(
    account_id: str,
    by: Actor,
    action: str,
    subject_id: str,
    subject_label: str,
    changes: Mapping[str, Sequence[Any]] | None = None,
) -> None:
    """Write one entry inside the caller's transaction."""
    record_many(account_id, by, [Done(action, subject_id, subject_label, changes or {})])


def record_many(account_id: str, by: Actor, done: Sequence[Done]) -> None:
    """Write entries inside the caller's transaction, in one statement."""
    now = clock.now_ms()
    rows = [
        {
            "id": entry_id,
            "account_id": account_id,
            "at": now,
            "actor_kind": by.kind,
            "actor_id": by.id,
            "actor_label": by.label,
            "via": by.via,
            "action": each.action,
            "subject_id": each.subject_id,
            "subject_label": each.subject_label,
            "changes": dict(each.changes),
        }
        for entry_id, each in zip(new_ids("aud", len(done), now), done, strict=True)
    ]
    bulk.insert_many(cast(Table, AuditEntry.__table__), rows)


def entries(
    account_id: str,
    *,
    actor: str = "",
    action: str = "",
    subject_id: str = "",
    since: int | None = None,
    until: int | None = None,
) -> Select[AuditEntry]:
    """The log of an account, newest first; `actor` is part of a name, `since` and `until` epoch ms, both inclusive."""
    query = select(AuditEntry).where(AuditEntry.account_id == account_id)
    if actor:
        query = query.where(AuditEntry.actor_label.icontains(actor, autoescape=True))
    if action:
        query = query.where(AuditEntry.action == action)
    if subject_id:
        query = query.where(AuditEntry.subject_id == subject_id)
    in_time = made_between("aud", AuditEntry.id, AuditEntry.at, since, until)
    return query.where(*in_time).order_by(AuditEntry.id.desc())
