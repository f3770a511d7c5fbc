"""A disk without room: a call is refused as a whole, with its event and every delivery, and works again later."""

from __future__ import annotations

from sqlalchemy import func, select

from core.db import db
from domain.campaigns.roster import Participant
from domain.events.event import Event
from tests.api.client import Caller
from tests.jobs import hooks
from tests.servers import full_disk
from tests.world import World


def test_what_the_disk_has_no_room_for_is_refused_whole(caller: Caller, roster_path: str, world: World) -> None:
    hooks.subscribe(world, "http://receiver.example/hook", "participant.joined")
    nina = {"email": "nina@example.com", "metadata": {f"key{number}": "x" * 1_000 for number in range(50)}}
    with full_disk.here("delivery"):
        answer = caller.post(roster_path, nina)
        assert (answer.status_code, answer.get_json()["code"]) == (507, "STORAGE_FULL")
        assert caller.get(roster_path).status_code == 200
    assert written() == [0, 0, 0]
    assert caller.post(roster_path, nina).status_code == 201
    assert written() == [1, 1, 1]


def written() -> list[int]:
    """People, their events, and the deliveries of these."""
    db.session.rollback()
    joined = select(func.count()).select_from(Event).where(Event.name == "participant.joined")
    people = select(func.count()).select_from(Participant)
    return [db.session.scalar(people) or 0, db.session.scalar(joined) or 0, len(hooks.rows())]
