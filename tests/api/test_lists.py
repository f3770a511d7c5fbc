"""service.md 4.2, 8 and contract 3: paging and filters of the lists."""

import pytest

from contract.contacts import ContactWrite
from core.db import transaction
from domain.campaigns import campaign as campaigns
from domain.campaigns import contacts
from domain.events.audit import COMMAND_LINE
from tests import world as worlds


@pytest.fixture
def people(world):
    """Seven people, in the order of their creation."""
    languages = [None, "fr", "fr", "es", None, "en", "pt-BR"]
    return [
        worlds.add_participant(world, f"p{number}@b.test", language=language) if language else
        worlds.add_participant(world, f"p{number}@b.test")
        for number, language in enumerate(languages)
    ]  # fmt: skip


def ids(answer):
    assert answer.status_code == 200, answer.get_json()
    return [row["participantId"] for row in answer.get_json()["data"]]


@pytest.mark.parametrize(
    ("asked", "page", "limit"),
    [
        ({}, 1, 50), ({"limit": "0"}, 1, 1), ({"limit": "9999"}, 1, 200), ({"limit": "abc"}, 1, 50),
        ({"limit": "-5"}, 1, 1), ({"limit": ""}, 1, 50), ({"limit": "2.5"}, 1, 50), ({"limit": "1e2"}, 1, 50),
        ({"limit": "٣"}, 1, 50), ({"limit": "9" * 400}, 1, 50), ({"page": "0"}, 1, 50), ({"page": "-3"}, 1, 50),
        ({"page": "abc"}, 1, 50), ({"page": "2"}, 2, 50), ({"page": "\0"}, 1, 50),
    ],
)  # fmt: skip
def test_page_and_limit_never_err(caller, roster_path, people, asked, page, limit):
    answer = caller.get(roster_path, **asked)
    assert answer.status_code == 200
    meta = answer.get_json()["meta"]
    assert (meta["page"], meta["limit"], meta["total"]) == (page, limit, 7)
    assert meta["totalPages"] == -(-7 // limit)


def test_pages_hold_everybody_once_in_the_order_of_creation(caller, roster_path, people):
    for limit in (1, 2, 3, 7, 50):
        pages = [ids(caller.get(roster_path, page=page, limit=limit)) for page in range(1, -(-7 // limit) + 1)]
        assert [each for page in pages for each in page] == people


def test_a_page_beyond_the_last_is_empty(caller, roster_path, people):
    for page in (2, 99, 10**17):
        answer = caller.get(roster_path, page=page)
        assert answer.status_code == 200
        assert answer.get_json()["data"] == []
        assert answer.get_json()["meta"]["total"] == 7


def test_participants_are_filtered(caller, roster_path, people):
    assert ids(caller.get(roster_path, language="fr")) == people[1:3]
    assert ids(caller.get(roster_path, language="none")) == [people[0], people[4]]
    assert ids(caller.get(roster_path, email=" P3@B.test")) == [people[3]]
    assert ids(caller.get(roster_path, status="added", limit=2, page=4)) == [people[6]]
    assert ids(caller.get(roster_path, status="completed")) == []
    stamp = caller.get(roster_path, email="p5@b.test").get_json()["data"][0]["updatedAt"]
    assert people[5] in ids(caller.get(roster_path, updatedSince=stamp))
    assert ids(caller.get(roster_path, updatedSince=stamp + 10**9)) == []
    assert caller.get(roster_path, language="fr").get_json()["meta"]["total"] == 2


@pytest.mark.parametrize(
    "asked",
    [{"status": "gone"}, {"language": "de"}, {"updatedSince": "yesterday"}, {"updatedSince": "-1"}, {"status": ""},
     {"updatedSince": "9" * 30}, {"email": "a\0b"}],
)  # fmt: skip
def test_an_unknown_value_of_a_closed_set_is_told(caller, roster_path, asked):
    answer = caller.get(roster_path, **asked)
    assert answer.status_code == 400
    assert answer.get_json()["code"] == "INVALID_FILTER"
    assert [detail["path"] for detail in answer.get_json()["details"]] == list(asked)


def test_an_unknown_parameter_is_ignored(caller, roster_path, people):
    assert len(ids(caller.get(roster_path, colour="blue", accountId="x"))) == 7


def test_campaigns_are_listed_and_read(caller, world):
    with transaction():
        second = campaigns.create(world.account_id, {"name": "Autumn", "description": "D", "startsAt": 5}, COMMAND_LINE)
        campaigns.move(second, "launch", COMMAND_LINE)
    listed = caller.get("/campaigns").get_json()
    assert [row["name"] for row in listed["data"]] == ["Spring survey", "Autumn"]
    assert listed["meta"] == {"page": 1, "limit": 50, "total": 2, "totalPages": 1}
    assert [row["name"] for row in caller.get("/campaigns", status="active").get_json()["data"]] == ["Autumn"]
    read = caller.get(f"/campaigns/{second.id}").get_json()["data"]
    assert read == listed["data"][1]
    assert read["startsAt"] == 5
    assert "endsAt" not in read
    assert caller.get("/campaigns", status="paused").status_code == 400


def test_a_passcode_is_never_given(caller, world):
    with transaction():
        campaign = campaigns.get(world.account_id, world.campaign_id)
        campaigns.edit(campaign, {"enablePasscode": True, "passcode": "open sesame"}, COMMAND_LINE)
    answer = caller.get(f"/campaigns/{world.campaign_id}")
    assert answer.get_json()["data"]["enablePasscode"] is True
    assert "sesame" not in answer.get_data(as_text=True)


def test_contacts_are_listed(caller, world):
    with transaction():
        for email, language in (("c@x.example", "es"), ("d@x.example", None)):
            body = ContactWrite.model_validate({"email": email, "language": language, "company": "X"})
            contacts.create(world.account_id, body, COMMAND_LINE)
    listed = caller.get("/contacts").get_json()
    assert [row["email"] for row in listed["data"]] == ["c@x.example", "d@x.example"]
    assert "language" not in listed["data"][1]
    assert [row["email"] for row in caller.get("/contacts", language="none").get_json()["data"]] == ["d@x.example"]
    assert caller.get("/contacts", email="C@x.example").get_json()["meta"]["total"] == 1
