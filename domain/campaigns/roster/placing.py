"""Placing people on a roster as a bundle has them: with status, organisation, labels and the service's own keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contract.participants import ParticipantUpsert
from core import bulk, clock
from core.errors import Refused
from domain.campaigns.campaign import Campaign

from .merge import NOBODY, Merged, merge
from .write import _TABLE, _changeable, _insert_rows, _lock, _new_rows, _resize

_PLACED = ("status", "organisation_id", "labels")


@dataclass(frozen=True)
class Placement:
    """One person, with the values of `status`, `organisation_id` and `labels` that are given.

    `place` says where the person stands in the file, for a refusal.
    """

    body: ParticipantUpsert
    columns: Mapping[str, Any]
    place: str


def place_many(campaign: Campaign, placements: Sequence[Placement]) -> dict[str, str]:
    """Place people whose addresses differ; returns the ids by address. Ids of new people follow the order given.

    Raises no event and writes no audit entry (contract 6, "Loading raises no events"). What changes nothing leaves
    `updated_at` alone. Refuses the whole batch where one bag does not fit its row.
    """
    addresses = [placement.body.email for placement in placements]
    known = _lock(campaign.id, addresses)
    inserted = _insert(campaign, [each for each in placements if each.body.email not in known])
    overtaken = [address for address in addresses if address not in known and address not in inserted]
    if overtaken:  # another caller inserted these between our look and our insert
        known.update(_lock(campaign.id, overtaken))
    _update(known, [each for each in placements if each.body.email in known])
    ids = {address: row["id"] for address, row in known.items()} | inserted
    return {address: ids[address] for address in addresses}


def _insert(campaign: Campaign, placements: Sequence[Placement]) -> dict[str, str]:
    now = clock.now_ms()
    new = _new_rows(campaign, [(each.body.email, _merged(NOBODY, each)) for each in placements], now)
    rows = [{**row, **each.columns} for row, each in zip(new, placements, strict=True)]
    # Written in the order of their addresses, as every batch is, so that no two wait for each other in a circle.
    landed = _insert_rows(sorted(rows, key=lambda row: str(row["email"])))
    _resize(campaign.id, len(landed))
    return {row["email"]: row["id"] for row in rows if row["id"] in landed}


def _update(known: Mapping[str, Any], placements: Iterable[Placement]) -> None:
    now = clock.now_ms()
    changed = []
    for each in placements:
        row = known[each.body.email]
        merged = _merged(row, each)
        if merged.changes or any(row[name] != value for name, value in each.columns.items()):
            after = {**row, **merged.values, **each.columns, "updated_at": now}
            changed.append({**_changeable(after), **{name: after[name] for name in _PLACED}})
    bulk.update_many(_TABLE, changed)


def _merged(before: Mapping[str, Any], placement: Placement) -> Merged:
    try:
        return merge(before, placement.body, by_service=True)
    except Refused as refused:
        raise Refused(refused.code, f"{placement.place}.{refused.path}", **refused.params) from None
