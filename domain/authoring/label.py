"""Label groups of an account (department, project) and their labels."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Text, UniqueConstraint, select
from sqlalchemy.orm import Mapped, mapped_column, relationship, selectinload

from core import clock
from core.db import EpochMs, Model, db, primary_key


class LabelGroup(Model):
    """A group of labels; participants carry label keys by group."""

    __tablename__ = "label_group"

    id: Mapped[str] = primary_key("lbg")
    account_id: Mapped[str] = mapped_column(Text, ForeignKey("account.id", ondelete="CASCADE"))
    key: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(Text)
    created_at: Mapped[int] = mapped_column(EpochMs, default=clock.now_ms)

    labels: Mapped[list[Label]] = relationship(
        lazy="raise_on_sql", order_by="Label.position", cascade="all, delete-orphan"
    )

    __table_args__ = (UniqueConstraint("account_id", "key"),)


class Label(Model):
    """One label of a group."""

    __tablename__ = "label"

    group_id: Mapped[str] = mapped_column(Text, ForeignKey("label_group.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(Text, primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    position: Mapped[int] = mapped_column(default=0)


def groups_of(account_id: str) -> list[LabelGroup]:
    """An account's label groups by name, each with its labels in order."""
    query = select(LabelGroup).options(selectinload(LabelGroup.labels)).where(LabelGroup.account_id == account_id)
    return list(db.session.scalars(query.order_by(LabelGroup.name, LabelGroup.id)))
