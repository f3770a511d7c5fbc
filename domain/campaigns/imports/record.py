"""An import as the database holds it: the file, the mapping of its columns, where it stands, and its rows in chunks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from sqlalchemy import ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from core import clock
from core.db import EpochMs, Json, Model, primary_key
from domain.events.audit import Actor

State = Literal[
    "uploaded", "checking", "checked", "applying", "applied", "undoing", "undone", "refused", "discarded", "failed"
]
Outcome = Literal["created", "updated", "unchanged", "refused"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

# The states in which a worker has something to do.
WORKING: tuple[State, ...] = ("checking", "applying", "undoing")


class Import(Model):
    """One file on its way to a roster.

    `layout` is what the reader found (`outbound.spreadsheets.Layout` as a mapping), `header_key` the same for files of
    the same header. `mapping` has one target for each column. `rows_done` of `rows_total` counts the step under way,
    since `working_since`. `lease_until` and `lease_generation` say who works on it; `error` is `{"code", "params"}`,
    `failed_in` the step that gave up after `failures` attempts. `acting` is the actor of the step under way.
    """

    __tablename__ = "import"

    id: Mapped[str] = primary_key("imp")
    account_id: Mapped[str] = mapped_column(Text, ForeignKey("account.id", ondelete="CASCADE"))
    campaign_id: Mapped[str] = mapped_column(Text, ForeignKey("campaign.id", ondelete="CASCADE"))
    actor_kind: Mapped[str] = mapped_column(Text)
    actor_id: Mapped[str] = mapped_column(Text)
    actor_label: Mapped[str] = mapped_column(Text)
    acting: Mapped[dict[str, str] | None] = mapped_column(Json, default=None)
    file_name: Mapped[str] = mapped_column(Text)
    stored_name: Mapped[str] = mapped_column(Text)
    size: Mapped[int]
    sha256: Mapped[str] = mapped_column(Text)
    layout: Mapped[Any] = mapped_column(Json)
    header_key: Mapped[str] = mapped_column(Text)
    mapping: Mapped[Any] = mapped_column(Json)
    is_mapping_confirmed: Mapped[bool] = mapped_column(default=False)
    state: Mapped[str] = mapped_column(Text, default="uploaded")
    counts: Mapped[Any] = mapped_column(Json, default=dict)
    undo_counts: Mapped[Any] = mapped_column(Json, default=dict)
    rows_total: Mapped[int] = mapped_column(default=0)
    rows_done: Mapped[int] = mapped_column(default=0)
    error: Mapped[dict[str, Any] | None] = mapped_column(Json, default=None)
    failed_in: Mapped[str | None] = mapped_column(Text)
    failures: Mapped[int] = mapped_column(default=0)
    lease_until: Mapped[int] = mapped_column(EpochMs, default=0)
    lease_generation: Mapped[int] = mapped_column(default=0)
    working_since: Mapped[int | None] = mapped_column(EpochMs)
    created_at: Mapped[int] = mapped_column(EpochMs, default=clock.now_ms)
    applied_at: Mapped[int | None] = mapped_column(EpochMs)
    undone_at: Mapped[int | None] = mapped_column(EpochMs)

    __table_args__ = (
        Index("ix_import_campaign_id_id", "campaign_id", "id"),
        Index("ix_import_account_id_header_key_id", "account_id", "header_key", "id"),
        Index("ix_import_state_lease_until", "state", "lease_until"),
    )

    @property
    def header(self) -> list[str]:
        """The names of the file's columns, as written."""
        header: list[str] = self.layout["header"]
        return header

    @property
    def is_working(self) -> bool:
        """Whether a worker has something to do."""
        return self.state in WORKING

    @property
    def rows_read(self) -> int:
        """The rows of the file; the counts of the outcomes add up to it."""
        return sum(self.counts.get(outcome, 0) for outcome in OUTCOMES)


class ImportChunk(Model):
    """Some thousand rows of an import in one text, which is what makes a hundred thousand quick.

    `payload` is a JSON list of rows (`chunks.pack`). `noticed` counts the rows with a notice. The people that the chunk
    created were created from `applied_from` to `applied_until`, which is how the undo knows them.
    """

    __tablename__ = "import_chunk"

    import_id: Mapped[str] = mapped_column(Text, ForeignKey("import.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    state: Mapped[str] = mapped_column(Text, default="planned")
    rows: Mapped[int]
    created: Mapped[int]
    updated: Mapped[int]
    unchanged: Mapped[int]
    refused: Mapped[int]
    noticed: Mapped[int]
    applied_from: Mapped[int | None] = mapped_column(EpochMs)
    applied_until: Mapped[int | None] = mapped_column(EpochMs)
    payload: Mapped[str] = mapped_column(Text)


def actor_of(acting: Mapping[str, str]) -> Actor:
    """The person behind a step that runs in the worker; the log shows it as done by an import."""
    return Actor(acting["kind"], acting["id"], acting["label"], "import")  # type: ignore[arg-type]  # stored of an Actor


def as_acting(by: Actor) -> dict[str, str]:
    """The form of an actor that an import keeps."""
    return {"kind": by.kind, "id": by.id, "label": by.label}
