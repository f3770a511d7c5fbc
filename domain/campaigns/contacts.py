"""The account's contacts, as its CRM knows them. A contact's language only preselects the participant dialog."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, Index, Select, Text, UniqueConstraint, func, or_, select
from sqlalchemy.orm import Mapped, mapped_column

import contract.contacts as public
from contract.contacts import ContactWrite
from core import clock
from core.addresses import as_address
from core.db import EpochMs, Model, as_created, db, primary_key
from core.errors import NotFound, Refused
from domain.events import audit
from domain.events.audit import Actor


class Contact(Model):
    """A person the account knows, whether or not on a roster."""

    __tablename__ = "contact"

    id: Mapped[str] = primary_key("con")
    account_id: Mapped[str] = mapped_column(Text, ForeignKey("account.id", ondelete="CASCADE"))
    email: Mapped[str] = mapped_column(Text)
    first_name: Mapped[str | None] = mapped_column(Text)
    last_name: Mapped[str | None] = mapped_column(Text)
    company: Mapped[str | None] = mapped_column(Text)
    language: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[int] = mapped_column(EpochMs, default=clock.now_ms)
    updated_at: Mapped[int] = mapped_column(EpochMs, default=as_created)

    __table_args__ = (UniqueConstraint("account_id", "email"), Index("ix_contact_account_id_id", "account_id", "id"))

    @property
    def name(self) -> str:
        """First and last name, or the address where neither is known."""
        return " ".join(part for part in (self.first_name, self.last_name) if part) or self.email


FIELDS = ("email", "first_name", "last_name", "company", "language")


def create(account_id: str, body: ContactWrite, by: Actor) -> Contact:
    """A new contact. Refuses an address that is malformed or already a contact's."""
    values = _checked(account_id, body, None)
    contact = Contact(account_id=account_id, **values)
    db.session.add(contact)
    db.session.flush()
    audit.record(account_id, by, "contact.created", contact.id, contact.name)
    return contact


def edit(contact: Contact, body: ContactWrite, by: Actor) -> None:
    """Bring a contact up to date; `language` null clears it."""
    values = _checked(contact.account_id, body, contact.id)
    changes = {
        field: [getattr(contact, field), value] for field, value in values.items() if getattr(contact, field) != value
    }
    if not changes:
        return
    for field, value in values.items():
        setattr(contact, field, value)
    contact.updated_at = clock.now_ms()
    db.session.flush()
    audit.record(contact.account_id, by, "contact.updated", contact.id, contact.name, changes)


def remove(contact: Contact, by: Actor) -> None:
    """Delete a contact; rosters that hold the person keep theirs."""
    audit.record(contact.account_id, by, "contact.removed", contact.id, contact.name)
    db.session.delete(contact)
    db.session.flush()


def get(account_id: str, contact_id: str) -> Contact:
    """The contact, or `NotFound`."""
    contact = db.session.scalar(select(Contact).where(Contact.id == contact_id, Contact.account_id == account_id))
    if contact is None:
        raise NotFound("contact")
    return contact


def of_account(
    account_id: str, *, email: str | None = None, language: str | None = None, search: str = ""
) -> Select[Contact]:
    """An account's contacts in the order of their creation; `language` `none` asks for unset."""
    query = select(Contact).where(Contact.account_id == account_id)
    if email is not None:
        query = query.where(Contact.email == email.strip().lower())
    if language is not None:
        query = query.where(Contact.language.is_(None) if language == "none" else Contact.language == language)
    for word in search.split():
        query = query.where(
            or_(
                *(
                    column.icontains(word, autoescape=True)
                    for column in (Contact.email, Contact.first_name, Contact.last_name, Contact.company)
                )
            )
        )
    return query.order_by(Contact.id)


def count(query: Select[Contact]) -> int:
    """How many contacts a selection holds."""
    return db.session.scalar(select(func.count()).select_from(query.order_by(None).subquery())) or 0


def as_public(contact: Contact) -> public.Contact:
    """The public projection."""
    shown: dict[str, Any] = {
        "contactId": contact.id,
        "email": contact.email,
        "firstName": contact.first_name,
        "lastName": contact.last_name,
        "company": contact.company,
        "language": contact.language,
        "createdAt": contact.created_at,
        "updatedAt": contact.updated_at,
    }
    return {name: value for name, value in shown.items() if value is not None}  # type: ignore[return-value]  # no null left


def _checked(account_id: str, body: ContactWrite, own_id: str | None) -> dict[str, Any]:
    address = as_address(body.email)
    if address is None:
        raise Refused("EMAIL_INVALID", path="email")
    taken = db.session.scalar(select(Contact.id).where(Contact.account_id == account_id, Contact.email == address))
    if taken is not None and taken != own_id:
        raise Refused("EMAIL_TAKEN", path="email")
    return {"email": address, **{field: getattr(body, field) for field in FIELDS[1:]}}
