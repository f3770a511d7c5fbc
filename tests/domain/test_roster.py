"""Writing a roster and finding people on it: service.md 4.2, 2.7; contract 2 and 3."""

import pytest
from sqlalchemy import select

from contract.paging import Paging
from contract.participants import ParticipantPatch, ParticipantUpsert
from core.db import db, transaction
from core.errors import NotFound, Refused
from domain.campaigns import campaign as campaigns
from domain.campaigns import roster
from domain.campaigns.campaign import Campaign
from domain.campaigns.roster import Filters, Participant
from domain.events.audit import Actor, AuditEntry
from domain.events.event import Event
from tests import world as worlds

BOB = Actor("user", "usr_bob", "Bob", "page")


def body(email: str, **properties) -> ParticipantUpsert:
    return ParticipantUpsert.model_validate({"email": email, **properties})


def patch(**properties) -> ParticipantPatch:
    return ParticipantPatch.model_validate(properties)


def written(world, *bodies: ParticipantUpsert) -> list[roster.Written]:
    with transaction():
        return roster.upsert_many(campaigns.get(world.account_id, world.campaign_id), bodies)


def campaign(world) -> Campaign:
    return campaigns.get(world.account_id, world.campaign_id)


def row(participant_id: str) -> Participant:
    db.session.expire_all()
    return db.session.scalars(select(Participant).where(Participant.id == participant_id)).one()


def size(world) -> int:
    return db.session.scalar(select(Campaign.roster_size).where(Campaign.id == world.campaign_id))


def emails(world, filters: Filters, *, page: int = 1, limit: int = 50, **order) -> list[str]:
    total = roster.count(campaign(world), filters)
    found = roster.page(campaign(world), filters, Paging(page, limit), total, **order)
    return [person.email for person in found]


def test_a_batch_adds_who_is_new_and_brings_the_others_up_to_date(world):
    worlds.add_participant(world, "b@example.com", firstName="Old")
    answers = written(world, body("c@example.com"), body("b@example.com", firstName="New"), body("a@example.com"))
    assert [each.created for each in answers] == [True, False, True]
    assert [each.row["email"] for each in answers] == ["c@example.com", "b@example.com", "a@example.com"]
    assert size(world) == 3


def test_what_changes_nothing_leaves_the_time_of_change_alone(world):
    made = worlds.add_participant(world, "a@example.com", firstName="Ana", metadata={"n": 1})
    before = row(made).updated_at
    assert written(world, body("a@example.com", firstName=" Ana ", metadata={"n": 1}))[0].changes == {}
    assert row(made).updated_at == before


def test_joining_is_told_once_and_without_the_link_that_answers_as_the_person(world):
    worlds.add_participant(world, "a@example.com")
    worlds.add_participant(world, "a@example.com", firstName="Ana")
    joined = db.session.scalars(select(Event).where(Event.name == "participant.joined")).all()
    assert len(joined) == 1
    assert "takerLink" not in joined[0].payload["participant"]["metadata"]


def test_adding_somebody_who_stands_there_is_refused_and_names_the_person(world):
    made = worlds.add_participant(world, "a@example.com", firstName="Ana")
    with pytest.raises(Refused, match="ALREADY_ON_ROSTER") as refused, transaction():
        roster.add(campaign(world), body("A@example.com", firstName="Other"), BOB)
    assert refused.value.params == {"participant_id": made}
    assert row(made).first_name == "Ana"


def test_clearing_the_language_of_many_ends_what_their_metadata_says(world):
    old = worlds.add_participant(world, "old@example.com", metadata={"lang": "es"})
    said = worlds.add_participant(world, "said@example.com", language="fr")
    assert roster.stated_language(row(old)) == "es"
    with transaction():
        assert roster.change_many(campaign(world), [old, said], patch(language=None), BOB) == 2
    assert [roster.stated_language(row(each)) for each in (old, said)] == [None, None]
    assert row(old).bag == {"lang": "es"}


def test_a_change_of_many_counts_and_logs_only_whom_it_changed(world):
    french = worlds.add_participant(world, "f@example.com", language="fr")
    unset = worlds.add_participant(world, "u@example.com")
    elsewhere = "par_" + "0" * 26
    with transaction():
        assert roster.change_many(campaign(world), [french, unset, elsewhere], patch(language="fr"), BOB) == 1
    logged = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "participant.updated")).all()
    assert [(each.subject_id, each.changes) for each in logged] == [(unset, {"language": [None, "fr"]})]


def test_status_is_set_only_where_it_differs(world):
    one, two = (worlds.add_participant(world, f"{n}@example.com") for n in "ab")
    with transaction():
        roster.set_status(campaign(world), [one], "withdrawn", BOB)
    with transaction():
        assert roster.set_status(campaign(world), [one, two], "withdrawn", BOB) == 1
    assert row(two).status == "withdrawn"


def test_removal_reaches_this_roster_alone_and_keeps_its_size(world):
    ours = worlds.add_participant(world, "a@example.com")
    with transaction():
        theirs = campaigns.get(world.other_account_id, world.other_campaign_id)
        assert roster.remove(theirs, [ours], BOB) == 0
    with transaction():
        assert roster.remove(campaign(world), [ours, ours], BOB) == 1
    assert size(world) == 0
    with pytest.raises(NotFound):
        roster.get(campaign(world), ours)


def test_nothing_to_change_is_no_error(world):
    with transaction():
        assert roster.change_many(campaign(world), [], patch(language="fr"), BOB) == 0
        assert roster.set_status(campaign(world), [], "added", BOB) == 0
        assert roster.remove(campaign(world), [], BOB) == 0


@pytest.mark.parametrize("words", ["hélène", "HELENE", "oster", "helene hl@", "straße", "STRASSE"])
def test_people_are_found_whatever_the_accents_and_the_case(world, words):
    worlds.add_participant(world, "hl@example.com", firstName="Hélène", lastName="Oster Straße")
    worlds.add_participant(world, "x@example.com", firstName="Xavier")
    assert emails(world, Filters(search=words)) == ["hl@example.com"]


def test_a_new_name_is_found_and_the_old_one_no_more(world):
    made = worlds.add_participant(world, "a@example.com", lastName="Before")
    with transaction():
        roster.change(campaign(world), made, patch(lastName="After"), BOB)
    assert emails(world, Filters(search="after")) == ["a@example.com"]
    assert emails(world, Filters(search="before")) == []


@pytest.mark.parametrize("words", ["%", "_", "\\", "'"])
def test_signs_of_a_pattern_mean_themselves(world, words):
    worlds.add_participant(world, "a@example.com", lastName="Plain")
    worlds.add_participant(world, "b@example.com", lastName=f"Odd{words}name")
    assert emails(world, Filters(search=words)) == ["b@example.com"]


def test_the_longest_names_fit_the_index(world):
    worlds.add_participant(world, "a" * 60 + "@example.com", firstName="ﷺ" * 200, lastName="𝔄" * 200)
    assert roster.count(campaign(world), Filters()) == 1


@pytest.mark.parametrize("sort", ["created", "name", "email", "status", "language", "updated"])
@pytest.mark.parametrize("descending", [False, True])
def test_the_pages_of_every_order_together_hold_everybody_once(world, sort, descending):
    languages = [None, "fr", "es"]
    written(
        world,
        *(
            body(f"p{n:02}@example.com", lastName=f"Name{n % 4}", **({"language": languages[n % 3]} if n % 3 else {}))
            for n in range(23)
        ),
    )
    order = {"sort": sort, "descending": descending}
    pages = [each for page in range(1, 6) for each in emails(world, Filters(), page=page, limit=5, **order)]
    whole = emails(world, Filters(), limit=50, **order)
    assert pages == whole
    assert len(set(pages)) == 23
    assert emails(world, Filters(), limit=50, sort=sort, descending=not descending) == whole[::-1]


def test_who_states_no_language_comes_first_on_both_databases(world):
    worlds.add_participant(world, "f@example.com", language="fr")
    worlds.add_participant(world, "n@example.com")
    assert emails(world, Filters(), sort="language") == ["n@example.com", "f@example.com"]
