"""Bundles: accounts come in whole, matched by their keys, and go out as they came."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from blueprints import bundle_file
from contract.bundle import Bundle, Role
from contract.participants import PARTICIPANT_STATUSES
from core.db import Model, db, transaction
from core.errors import Refused
from core.i18n import LANGUAGES
from domain import bundle as bundles
from domain.accounts import people
from domain.accounts.account import Account
from domain.accounts.people import Membership
from domain.accounts.permissions import ROLES
from domain.bundle import demo
from domain.campaigns.campaign import Campaign
from domain.campaigns.roster import Participant
from domain.events.event import Event
from tests.conftest import _empty

DEMO = Path(__file__).parent.parent.parent / "demo"


def acme(**properties: Any) -> dict[str, Any]:
    """A bundle of one account that has something of everything that is stored."""
    return {
        "bundle": 1,
        "accounts": [
            {
                "key": "acme",
                "name": "Acme",
                "languages": ["fr", "en"],
                "organisations": [{"key": "north", "name": "North"}, {"key": "south", "name": "South"}],
                "labelGroups": [
                    {"key": "zone", "name": "A zone", "labels": [{"key": "b", "name": "B"}, {"key": "a", "name": "A"}]},
                    {"key": "department", "name": "Department", "labels": [{"key": "eng", "name": "Engineering"}]},
                ],
                "users": [
                    {"email": "zoe@acme.example", "name": "Zoé", "password": "first password", "role": "auditor"},
                    {"email": "alice@acme.example", "name": "Alice", "role": "account_admin", "language": "fr"},
                ],
                "contacts": [
                    {"email": "c@x.example", "firstName": "C", "company": "X", "language": "es"},
                    {"email": "b@x.example"},
                ],
                "campaigns": [
                    {"key": "q4", "name": "Q4"},
                    {
                        "key": "q3",
                        "name": "Q3",
                        "status": "active",
                        "enablePasscode": True,
                        "participants": people_of(),
                    },
                ],
                **properties,
            }
        ],
    }


def people_of() -> list[dict[str, Any]]:
    return [
        {
            "email": "zed@acme.example",
            "firstName": "Zed",
            "language": "pt-BR",
            "status": "invited",
            "organisation": "south",
            "labels": {"zone": ["a", "b"], "department": ["eng"]},
            "metadata": {"takerLink": "https://x.test/t", "z": 1.0, "a": {"b": None}, "synthetic": {"seed": "1"}},
        },
        {"email": "amy@acme.example", "metadata": {"lang": "français"}},
        {"email": "cleared@acme.example", "language": None, "metadata": {"lang": "es"}},
    ]


def load(value: dict[str, Any]) -> dict[str, Any]:
    with transaction():
        return bundles.load(Bundle.model_validate(value)).ids


def stored() -> dict[str, list[Any]]:
    """Every row of every table but the audit log, which has an entry for each load."""
    db.session.rollback()
    return {
        table.name: sorted(map(repr, db.session.execute(select(table))))
        for table in Model.metadata.sorted_tables
        if table.name != "audit_entry"
    }


def refused_at(value: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises(Refused) as refusal:
        load(value)
    return refusal.value.code, refusal.value.path


def test_the_ids_are_given_in_the_nesting_of_the_bundle(app: Flask) -> None:
    ids = load(acme())["accounts"]["acme"]
    assert ids["id"].startswith("acc_")
    assert list(ids["organisations"]) == ["north", "south"]
    assert list(ids["labelGroups"]) == ["zone", "department"]
    assert list(ids["users"]) == ["zoe@acme.example", "alice@acme.example"]
    assert ids["contacts"]["c@x.example"].startswith("con_")
    assert (ids["templates"], ids["scales"]) == ({}, {})
    campaign = ids["campaigns"]["q3"]
    assert (campaign["assessments"], campaign["submissions"]) == ({}, {})
    assert db.session.get_one(Participant, campaign["participants"]["amy@acme.example"]).email == "amy@acme.example"


def test_a_loaded_person_has_everything_that_the_bundle_says(app: Flask) -> None:
    ids = load(acme())["accounts"]["acme"]
    person = db.session.scalars(select(Participant).where(Participant.email == "zed@acme.example")).one()
    assert (person.first_name, person.language, person.status) == ("Zed", "pt-BR", "invited")
    assert person.organisation_id == ids["organisations"]["south"]
    assert person.labels == {ids["labelGroups"]["zone"]: ["a", "b"], ids["labelGroups"]["department"]: ["eng"]}
    assert json.dumps(person.bag) == json.dumps(people_of()[0]["metadata"])


def test_the_size_of_the_roster_stays_exact(app: Flask) -> None:
    for _ in range(2):
        ids = load(acme())
        campaign = db.session.get_one(Campaign, ids["accounts"]["acme"]["campaigns"]["q3"]["id"])
        assert campaign.roster_size == 3
        assert campaign.passcode


def test_loading_raises_no_event(app: Flask) -> None:
    load(acme())
    load(acme())
    assert db.session.scalar(select(func.count()).select_from(Event)) == 0


def test_loading_again_changes_nothing(app: Flask) -> None:
    first = load(acme())
    before = stored()
    assert load(acme()) == first
    assert stored() == before


def test_loading_again_leaves_a_password_alone(app: Flask) -> None:
    load(acme())
    zoe = people.find("zoe@acme.example")
    with transaction():
        people.change_password(people.find("zoe@acme.example"), "the second password")
    load(acme())
    zoe = people.find("zoe@acme.example")
    assert people.password_fits(zoe, "the second password")
    assert not people.password_fits(zoe, "first password")


def test_a_user_without_a_password_can_sign_in_with_none(app: Flask) -> None:
    load(acme())
    alice = people.find("alice@acme.example")
    assert alice is not None
    assert not people.password_fits(alice, "")
    assert not people.password_fits(alice, "first password")


def test_a_second_bundle_leaves_alone_what_it_does_not_name(app: Flask) -> None:
    load(acme())
    load({"bundle": 1, "accounts": [{"key": "acme", "name": "Acme", "campaigns": [{"key": "q3", "name": "Autumn"}]}]})
    out = bundles.dump(db.session.scalars(select(Account.id)).one())["accounts"][0]
    assert [campaign["name"] for campaign in out["campaigns"]] == ["Q4", "Autumn"]
    assert out["campaigns"][1]["status"] == "active"
    assert len(out["campaigns"][1]["participants"]) == 3
    assert out["languages"] == ["fr", "en"]


def test_a_role_that_changed_is_changed(app: Flask) -> None:
    load(acme())
    load(acme(users=[{"email": "Zoe@Acme.example", "name": "Zoé", "role": "campaign_manager", "operator": True}]))
    zoe = people.find("zoe@acme.example")
    assert zoe is not None and zoe.is_operator
    assert db.session.scalars(select(Membership.role).where(Membership.user_id == zoe.id)).one() == "campaign_manager"


def test_a_dump_loads_elsewhere_and_comes_out_the_same(app: Flask, tmp_path: Path) -> None:
    ids = load(acme())
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    bundle_file.write(bundles.dump(ids["accounts"]["acme"]["id"]), first)
    _empty()
    with transaction():
        loaded = bundles.load(bundle_file.read(first.read_bytes()))
    bundle_file.write(bundles.dump(loaded.ids["accounts"]["acme"]["id"]), second)
    assert first.read_bytes() == second.read_bytes()
    assert b"password" not in first.read_bytes()


def test_a_dump_holds_the_bundle_that_was_loaded(app: Flask) -> None:
    given_bundle = acme()
    out = bundles.dump(load(given_bundle)["accounts"]["acme"]["id"])
    account = given_bundle["accounts"][0]
    for name in ("key", "name", "languages", "organisations", "labelGroups", "contacts"):
        assert out["accounts"][0][name] == account[name]
    shown = out["accounts"][0]["campaigns"][1]["participants"]
    assert [{"status": "added", **person} for person in people_of()] == shown
    assert [list(person["metadata"]) for person in shown] == [list(person["metadata"]) for person in people_of()]


def test_an_account_made_on_the_screens_answers_to_its_id(app: Flask, world: Any) -> None:
    out = bundles.dump(world.account_id)
    assert out["accounts"][0]["key"] == world.account_id
    assert load(out)["accounts"][world.account_id]["id"] == world.account_id
    assert load(out)["accounts"][world.account_id]["campaigns"][world.campaign_id]["id"] == world.campaign_id
    _empty()
    load(out)
    account_id = db.session.scalars(select(Account.id)).one()
    assert bundles.dump(account_id) == out


def test_lists_of_parts_not_built_yet_are_named_and_skipped(app: Flask) -> None:
    with transaction():
        loaded = bundles.load(bundle_file.read((DEMO / "later.json").read_bytes()))
    assert "accounts[0].scales (2)" in loaded.skipped
    assert "accounts[0].campaigns[0].submissions (26)" in loaded.skipped
    assert not any("campaigns (" in place for place in loaded.skipped)


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        ((), {"zap": 1}, "zap"),
        (("accounts", 0), {"zap": 1}, "accounts[0].zap"),
        (
            ("accounts", 0, "campaigns", 1, "participants", 2),
            {"zap": 1},
            "accounts[0].campaigns[1].participants[2].zap",
        ),
        (
            ("accounts", 0, "campaigns", 1, "participants", 2),
            {"language": "xx"},
            "accounts[0].campaigns[1].participants[2].language",
        ),
        (("accounts", 0), {"scales": [{"key": "s", "name": "S"}]}, "accounts[0].scales[0].points"),
        (("accounts", 0), {"templates": [{"key": "t", "title": {"xx": ""}, "body": {}}]}, "accounts[0].templates[0]"),
        (("accounts", 0, "users", 1), {"role": "owner"}, "accounts[0].users[1].role"),
    ],
)
def test_a_key_outside_the_contract_is_refused_by_its_place(path: tuple[Any, ...], value: Any, place: str) -> None:
    bundle = acme()
    here: Any = bundle
    for step in path:
        here = here[step]
    here.update(value)
    with pytest.raises(bundle_file.Unreadable) as refusal:
        bundle_file.read(json.dumps(bundle).encode())
    assert str(refusal.value).startswith(place)


@pytest.mark.parametrize("raw", [b"", b"[]", b"nothing", b'{"bundle": 1, "bundle": 1}', b'{"bundle": 2}', b"\xff{}"])
def test_a_file_that_is_no_bundle_is_refused(raw: bytes) -> None:
    with pytest.raises(bundle_file.Unreadable):
        bundle_file.read(raw)


def test_whatever_breaks_a_rule_is_refused_at_its_place_and_nothing_is_written(app: Flask) -> None:
    before = stored()
    q3 = "accounts[0].campaigns[1].participants"
    for change, place in (
        ({"organisation": "west"}, f"{q3}[1].organisation"),
        ({"labels": {"rank": []}}, f"{q3}[1].labels.rank"),
        ({"labels": {"zone": ["a", "c"]}}, f"{q3}[1].labels.zone[1]"),
        ({"email": "ZED@acme.example "}, f"{q3}[1].email"),
    ):
        value = acme()
        value["accounts"][0]["campaigns"][1]["participants"][1].update(change)
        assert refused_at(value)[1] == place
    assert refused_at(acme(users=[{"email": "x@acme.example", "name": "X"}]))[1] == "accounts[0].users[0].role"
    assert refused_at(acme(languages=["en", "fr", "en"]))[1] == "accounts[0].languages[2]"
    assert stored() == before


def test_a_bag_that_grows_beyond_fifty_keys_is_refused_at_its_place(app: Flask) -> None:
    value = acme()
    person = value["accounts"][0]["campaigns"][1]["participants"][1]
    person["metadata"] = {f"a{number}": number for number in range(50)}
    load(value)
    person["metadata"] = {"one more": 1}
    place = "accounts[0].campaigns[1].participants[1].metadata"
    assert refused_at(value) == ("TOO_MANY_METADATA_KEYS", place)


def test_the_demo_fills_an_empty_installation_once(app: Flask) -> None:
    assert demo.sign_ins() == []
    with transaction():
        assert demo.load_into_empty()
    with transaction():
        assert not demo.load_into_empty()
    assert {each.email for each in demo.sign_ins()} == {
        "ada@brumelac.example",
        "helena@ipelume.example",
        "operator@assessor.example",
    }


def test_the_roles_of_a_bundle_are_the_roles_of_the_product() -> None:
    assert get_args(Role) == ROLES


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
persons = st.fixed_dictionaries(
    {"email": st.sampled_from([f"p{number}@acme.example" for number in range(6)])},
    optional={
        "firstName": st.none() | texts,
        "language": st.none() | st.sampled_from(LANGUAGES),
        "status": st.sampled_from(PARTICIPANT_STATUSES),
        "organisation": st.none() | st.sampled_from(["north", "south"]),
        "labels": st.dictionaries(st.just("zone"), st.lists(st.sampled_from(["a", "b"]))),
        "metadata": st.dictionaries(
            st.sampled_from(["lang", "takerLink", "synthetic", "x", "y"]),
            st.none() | st.integers(-9, 9) | st.booleans() | st.floats(-1, 1) | texts | st.just({"a": None}),
        ),
    },
)
rosters = st.lists(persons, max_size=5, unique_by=lambda person: person["email"])


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=rosters, second=rosters)
def test_any_roster_loaded_twice_is_as_loaded_once(app: Flask, first: list[Any], second: list[Any]) -> None:
    _empty()
    for roster in (first, second):
        value = acme(campaigns=[{"key": "q3", "name": "Q3", "participants": roster}], users=[])
        ids = load(value)
        before = stored()
        assert load(value) == ids
        assert stored() == before
    account_id = ids["accounts"]["acme"]["id"]
    out = bundles.dump(account_id)
    people_out = out["accounts"][0]["campaigns"][0]["participants"]
    assert db.session.scalars(select(Campaign.roster_size)).one() == len(people_out)
    _empty()
    again = load(out)
    assert json.dumps(bundles.dump(again["accounts"]["acme"]["id"])) == json.dumps(out)
