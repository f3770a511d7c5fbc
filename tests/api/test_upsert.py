"""service.md 4.2, Upsert a participant; contract 2, Upsert body."""

import pytest
from sqlalchemy import select

from core.db import db, transaction
from domain.campaigns.campaign import Campaign
from domain.campaigns.roster import Participant
from domain.events.audit import AuditEntry
from domain.events.event import Event


def upsert(caller, path, **body):
    answer = caller.post(path, body)
    assert answer.status_code in (200, 201), answer.get_json()
    return answer.get_json()


def test_creating_answers_201_and_updating_200(caller, roster_path):
    first = caller.post(roster_path, {"email": " Ana@Example.com "})
    again = caller.post(roster_path, {"email": "ANA@example.com", "firstName": "Ana"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.get_json()["meta"] == {"created": True, "preservedKeys": []}
    assert again.get_json()["meta"]["created"] is False
    assert again.get_json()["data"]["email"] == "ana@example.com"
    assert again.get_json()["data"]["participantId"] == first.get_json()["data"]["participantId"]
    assert again.get_json()["data"]["firstName"] == "Ana"


def test_unset_properties_are_left_out_and_metadata_is_always_an_object(caller, roster_path):
    data = upsert(caller, roster_path, email="a@b.test")["data"]
    assert data["metadata"] == {}
    assert not {"firstName", "lastName", "language", "labels", "organisationId"} & data.keys()


def test_metadata_is_kept_verbatim_and_merged_key_by_key(caller, roster_path):
    upsert(caller, roster_path, email="a@b.test", metadata={"kept": {"x": None, "y": [1, 1.0, 1e3]}, "gone": "x"})
    data = upsert(caller, roster_path, email="a@b.test", metadata={"gone": None, "zero": 0, "no": False, "": ""})[
        "data"
    ]
    assert data["metadata"] == {"kept": {"x": None, "y": [1, 1.0, 1000.0]}, "zero": 0, "no": False, "": ""}


def test_deleting_an_absent_key_is_a_no_op_on_create_too(caller, roster_path):
    assert upsert(caller, roster_path, email="a@b.test", metadata={"x": None})["data"]["metadata"] == {}
    assert upsert(caller, roster_path, email="a@b.test", metadata={"x": None})["data"]["metadata"] == {}


def test_a_value_replaces_the_whole_value_under_its_key(caller, roster_path):
    upsert(caller, roster_path, email="a@b.test", metadata={"k": {"a": 1, "b": 2}})
    assert upsert(caller, roster_path, email="a@b.test", metadata={"k": {"c": 3}})["data"]["metadata"] == {
        "k": {"c": 3}
    }


def test_a_change_of_a_number_s_form_alone_is_written(caller, roster_path):
    upsert(caller, roster_path, email="a@b.test", metadata={"k": 1, "t": 1})
    raw = caller.post(roster_path, {"email": "a@b.test", "metadata": {"k": 1.0, "t": True}}).get_data(as_text=True)
    assert '"k":1.0' in raw
    assert '"t":true' in raw


def test_system_owned_keys_stay_and_are_told(app, caller, roster_path):
    made = upsert(caller, roster_path, email="a@b.test", metadata={"takerLink": "x", "a": 1})
    assert made["data"]["metadata"] == {"a": 1}
    assert made["meta"]["preservedKeys"] == ["takerLink"]
    with transaction():
        db.session.scalars(select(Participant)).one().bag = {"a": 1, "takerLink": "kept", "synthetic": {"runId": "r"}}
    body = {"email": "a@b.test", "metadata": {"takerLink": None, "synthetic": "mine"}}
    answer = caller.post(roster_path, body)
    assert answer.status_code == 200
    assert answer.get_json()["data"]["metadata"] == {"a": 1, "takerLink": "kept", "synthetic": {"runId": "r"}}
    assert sorted(answer.get_json()["meta"]["preservedKeys"]) == ["synthetic", "takerLink"]


@pytest.mark.parametrize(
    ("stored", "body", "expected"),
    [
        ({}, {"segments": {"site": "Lyon"}}, {"segments": {"site": "Lyon"}}),
        ({"segments": {"a": "1", "b": "2"}}, {"segments": {"a": None, "c": "3"}}, {"segments": {"b": "2", "c": "3"}}),
        ({"segments": {"a": "1"}}, {"metadata": {"segments": None}}, {}),
        ({"segments": {"a": "1"}}, {"metadata": {"segments": None}, "segments": {"b": "2"}}, {"segments": {"b": "2"}}),
        ({"segments": {"a": "1"}}, {"metadata": {"segments": {"x": "y"}}, "segments": {"b": "2"}},
         {"segments": {"x": "y", "b": "2"}}),
        ({}, {"segments": {"a": None}}, {}),
    ],
)  # fmt: skip
def test_segments(caller, roster_path, stored, body, expected):
    upsert(caller, roster_path, email="a@b.test", metadata=stored)
    assert upsert(caller, roster_path, email="a@b.test", **body)["data"]["metadata"] == expected


def test_absent_leaves_alone_and_null_clears(caller, roster_path):
    upsert(caller, roster_path, email="a@b.test", firstName="A", lastName="B", language="pt-BR")
    kept = upsert(caller, roster_path, email="a@b.test")["data"]
    assert (kept["firstName"], kept["lastName"], kept["language"]) == ("A", "B", "pt-BR")
    cleared = upsert(caller, roster_path, email="a@b.test", firstName=None, lastName=None, language=None)["data"]
    assert not {"firstName", "lastName", "language"} & cleared.keys()


def test_a_call_that_changes_nothing_leaves_updated_at_alone(caller, roster_path):
    first = upsert(caller, roster_path, email="a@b.test", firstName="A", metadata={"x": 1})["data"]
    again = upsert(caller, roster_path, email="a@b.test", firstName="A", metadata={"x": 1})["data"]
    assert first == again


def test_the_50th_key_fits_and_the_51st_does_not(caller, roster_path):
    upsert(caller, roster_path, email="a@b.test", metadata={f"k{n}": n for n in range(50)})
    answer = caller.post(roster_path, {"email": "a@b.test", "metadata": {"one more": 1}})
    assert answer.status_code == 400
    assert answer.get_json()["details"][0]["path"] == "metadata"
    assert "50" in answer.get_json()["error"]
    assert upsert(caller, roster_path, email="a@b.test", metadata={"k0": None, "one more": 1, "synthetic": 1})
    assert (
        caller.post(roster_path, {"email": "c@b.test", "metadata": {f"k{n}": None for n in range(51)}}).status_code
        == 400
    )


@pytest.mark.parametrize(
    ("body", "path", "word"),
    [
        ({}, "email", "required"),
        ({"email": "nobody"}, "email", "e-mail"),
        ({"email": 5}, "email", "text"),
        ({"email": None}, "email", "text"),
        ({"email": "a@b.test", "accountId": "x"}, "accountId", "accepted are"),
        ({"email": "a@b.test", "createdAt": 1}, "createdAt", "firstName"),
        ({"email": "a@b.test", "status": "completed"}, "status", "not a property"),
        ({"email": "a@b.test", "metadata": None}, "metadata", "object"),
        ({"email": "a@b.test", "metadata": []}, "metadata", "object"),
        ({"email": "a@b.test", "segments": None}, "segments", "object"),
        ({"email": "a@b.test", "segments": {"site": 5}}, "segments.site", "text"),
        ({"email": "a@b.test", "language": "de"}, "language", "pt-BR"),
        ({"email": "a@b.test", "language": "FR"}, "language", "one of"),
        ({"email": "a@b.test", "firstName": ["A"]}, "firstName", "text"),
        ({"email": "a@b.test", "firstName": "x" * 201}, "firstName", "200"),
    ],
)
def test_a_body_that_does_not_fit_is_told_at_its_place_and_writes_nothing(caller, roster_path, body, path, word):
    answer = caller.post(roster_path, body)
    assert answer.status_code == 400
    told = answer.get_json()
    assert told["code"] == "INVALID_BODY"
    assert [detail["path"] for detail in told["details"]] == [path]
    assert word in told["details"][0]["message"]
    assert db.session.scalars(select(Participant)).all() == []


def test_special_use_domains_pass(caller, roster_path):
    for domain in ("b.test", "x.example", "printer.local", "nothing.invalid"):
        assert caller.post(roster_path, {"email": f"a@{domain}"}).status_code == 201


def test_every_call_stands_in_the_audit_log_as_made_by_the_public_api(caller, roster_path):
    upsert(caller, roster_path, email="a@b.test")
    upsert(caller, roster_path, email="a@b.test")
    entries = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "participant.upserted")).all()
    assert [(entry.via, entry.actor_kind) for entry in entries] == [("v2_public_api", "token")] * 2


def test_a_new_row_raises_participant_joined_once_and_without_the_taker_link(caller, roster_path):
    data = upsert(caller, roster_path, email="a@b.test", metadata={"x": 1})["data"]
    upsert(caller, roster_path, email="a@b.test")
    joined = db.session.scalars(select(Event).where(Event.name == "participant.joined")).all()
    assert [event.payload for event in joined] == [{"participant": data}]


def test_the_roster_s_size_is_kept(app, world, caller, roster_path):
    for number in range(3):
        upsert(caller, roster_path, email=f"a{number}@b.test")
    upsert(caller, roster_path, email="a0@b.test")
    assert db.session.scalar(select(Campaign.roster_size).where(Campaign.id == world.campaign_id)) == 3


def test_v1_changes_one_participant_and_null_clears_the_language(app, world, caller, roster_path):
    from tests import world as worlds
    from tests.api.client import Caller

    made = upsert(caller, roster_path, email="a@b.test", language="fr", metadata={"lang": "es"})["data"]
    v1 = Caller(app, f"/api/v1/accounts/{world.account_id}", worlds.token(app, world, "participants:write"))
    path = f"{roster_path}/{made['participantId']}"
    answer = v1.patch(path, {"language": None, "segments": {"site": "Lyon"}})
    assert answer.status_code == 200
    assert "language" not in answer.get_json()["data"]
    assert answer.get_json()["data"]["metadata"] == {"lang": "es", "segments": {"site": "Lyon"}}
    assert v1.patch(path, {}).status_code == 400
    assert v1.patch(path, {"email": "b@b.test"}).status_code == 400
    assert v1.patch(f"{roster_path}/par_00000000000000000000000000", {"language": "fr"}).status_code == 404


def test_v1_takes_a_signed_in_member_with_the_csrf_token_alone(app, world, bob, charlie, stranger, caller, roster_path):
    made = upsert(caller, roster_path, email="a@b.test")["data"]
    url = f"/api/v1/accounts/{world.account_id}{roster_path}/{made['participantId']}"
    assert bob.patch(url, json={"language": "es"}).status_code == 400
    csrf = csrf_of(bob)
    assert (
        bob.patch(url, json={"language": "es"}, headers={"X-CSRF-Token": csrf}).get_json()["data"]["language"] == "es"
    )
    assert charlie.patch(url, json={"language": "fr"}, headers={"X-CSRF-Token": csrf_of(charlie)}).status_code == 403
    assert stranger.patch(url, json={"language": "fr"}).status_code == 401


def csrf_of(client):
    import re

    page = client.get("/me/profile").get_data(as_text=True)
    found = re.search(r'name="csrf-token" content="([^"]+)"', page)
    assert found, "the page carries no CSRF token"
    return found.group(1)
