"""The roster's screens: service.md 2.7, B.1 and B.3; contract 4."""

import html
import re

import pytest
from flask.testing import FlaskClient
from sqlalchemy import event, select

from contract.contacts import ContactWrite
from core.db import db, transaction
from domain.campaigns import campaign as campaigns
from domain.campaigns import contacts, roster
from domain.campaigns.campaign import Campaign
from domain.campaigns.roster import Participant
from domain.events.audit import COMMAND_LINE, AuditEntry
from tests import world as worlds


def csrf(client: FlaskClient, path: str) -> str:
    page = client.get(path).get_data(as_text=True)
    return re.search(r'<meta name="csrf-token" content="([^"]*)"', page).group(1)


def send(client, world, view, data=None, *, htmx=False, query=""):
    data = {"csrf_token": csrf(client, f"{world.campaign}/roster"), **(data or {})}
    headers = {"HX-Request": "true"} if htmx else {}
    return client.post(f"{world.campaign}/roster{view}{query}", data=data, headers=headers)


def text_of(answer) -> str:
    return html.unescape(answer.get_data(as_text=True))


def person(participant_id: str) -> Participant:
    return db.session.scalars(select(Participant).where(Participant.id == participant_id)).one()


def names_in(answer) -> list[str]:
    return re.findall(r'<th scope="row"><a [^>]*>([^<]*)</a>', text_of(answer))


@pytest.fixture
def ana(world):
    return worlds.add_participant(world, "ana@example.com", firstName="Ana", lastName="Lima")


@pytest.fixture
def helene(world):
    return worlds.add_participant(world, "hl@example.com", firstName="Hélène", lastName="Øster", language="fr")


def test_the_list_says_who_stands_on_the_roster_and_what_their_language_is(bob, world, ana, helene):
    page = text_of(bob.get(f"{world.campaign}/roster"))
    assert "2 people" in page
    assert "Ana Lima" in page
    assert '<option value="" selected>Not stated</option>' in page
    assert '<option value="fr" selected>French</option>' in page


def test_an_empty_roster_says_what_to_do_next(bob, world):
    page = text_of(bob.get(f"{world.campaign}/roster"))
    assert "Nobody is on the roster yet" in page
    assert f"{world.campaign}/import" in page


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("q=helene", ["Hélène Øster"]),
        ("q=LIMA+ana", ["Ana Lima"]),
        ("q=hl@ex", ["Hélène Øster"]),
        ("q=%25", []),
        ("language=none", ["Ana Lima"]),
        ("language=fr", ["Hélène Øster"]),
        ("language=xx&status=odd&sort=odd&organisation=odd&limit=x", ["Ana Lima", "Hélène Øster"]),
        ("status=invited", []),
        ("sort=-name", ["Hélène Øster", "Ana Lima"]),
        ("sort=language", ["Ana Lima", "Hélène Øster"]),
        ("sort=-language", ["Hélène Øster", "Ana Lima"]),
        ("sort=email&limit=1&page=2", ["Hélène Øster"]),
        ("page=9", []),
    ],
)
def test_filters_order_and_page_stand_in_the_address(bob, world, ana, helene, query, found):
    answer = bob.get(f"{world.campaign}/roster?{query}")
    assert answer.status_code == 200
    assert names_in(answer) == found


def test_htmx_gets_the_table_alone(bob, world, ana):
    answer = bob.get(f"{world.campaign}/roster?q=ana", headers={"HX-Request": "true"})
    assert text_of(answer).lstrip().startswith('<div id="roster-table"')
    assert "<html" not in text_of(answer)


def test_a_list_of_many_takes_as_many_queries_as_a_list_of_few(bob, world, ana):
    few = queries_of(lambda: bob.get(f"{world.campaign}/roster"))
    with transaction():
        campaign = campaigns.get(world.account_id, world.campaign_id)
        bodies = [worlds.ParticipantUpsert.model_validate({"email": f"p{n}@example.com"}) for n in range(60)]
        roster.upsert_many(campaign, bodies)
    assert queries_of(lambda: bob.get(f"{world.campaign}/roster")) == few
    assert few <= 16


def queries_of(call) -> int:
    seen: list[str] = []

    def note(_connection, _cursor, statement, *_rest):
        if statement.startswith("SELECT"):
            seen.append(statement)

    event.listen(db.engine, "before_cursor_execute", note)
    try:
        call()
    finally:
        event.remove(db.engine, "before_cursor_execute", note)
    return len(seen)


def test_the_language_column_saves_at_once_and_says_what_follows(bob, world, ana):
    answer = send(bob, world, f"/{ana}/language", {f"language-{ana}": "fr"}, htmx=True)
    assert answer.status_code == 200
    assert "Messages go out in French, because their Language is French." in text_of(answer)
    assert person(ana).language == "fr"


def test_without_scripts_the_language_column_comes_back_to_the_same_page_of_the_list(bob, world, ana):
    answer = send(bob, world, f"/{ana}/language", {f"language-{ana}": "es"}, query="?language=none&page=1")
    assert answer.status_code == 303
    assert answer.location.endswith("/roster?language=none&page=1")
    assert person(ana).language == "es"


def test_a_language_outside_the_four_is_told_at_the_cell(bob, world, ana):
    answer = send(bob, world, f"/{ana}/language", {f"language-{ana}": "de"}, htmx=True)
    assert answer.status_code == 422
    assert "Choose one of the list." in text_of(answer)
    assert person(ana).language is None


def test_clearing_puts_the_person_back_on_the_two_language_rule_and_ends_the_bag(bob, world):
    old = worlds.add_participant(world, "old@example.com", metadata={"lang": "es"})
    page = text_of(bob.get(f"{world.campaign}/roster/{old}"))
    assert "Messages go out in Spanish, because no Language is stated and their metadata says lang: es." in page
    send(bob, world, f"/{old}/language", {f"language-{old}": ""}, htmx=True)
    page = text_of(bob.get(f"{world.campaign}/roster/{old}"))
    assert "Messages go out in English and French, because no Language is stated" in page
    assert person(old).bag == {"lang": "es"}


def test_leaving_the_language_of_the_metadata_alone_keeps_it(bob, world):
    old = worlds.add_participant(world, "old@example.com", metadata={"lang": "es"})
    send(bob, world, f"/{old}/language", {f"language-{old}": "keep"}, htmx=True)
    assert person(old).bag_language_ended is False


def test_editing_names_leaves_the_language_of_the_metadata_alone(bob, world):
    old = worlds.add_participant(world, "old@example.com", metadata={"lang": "es"})
    shown = {"was_first_name": "", "was_last_name": "", "was_language": "keep"}
    answer = send(bob, world, f"/{old}", {**shown, "first_name": "Olda", "last_name": "", "language": "keep"})
    assert answer.status_code == 303
    assert (person(old).first_name, person(old).bag_language_ended) == ("Olda", False)


def test_an_old_page_changes_only_what_was_touched_on_it(bob, world, ana):
    worlds.add_participant(world, "ana@example.com", language="es", lastName="Lima Souza")
    shown = {"was_first_name": "Ana", "was_last_name": "Lima", "was_language": ""}
    send(bob, world, f"/{ana}", {**shown, "first_name": "Anna", "last_name": "Lima", "language": ""})
    assert (person(ana).first_name, person(ana).last_name, person(ana).language) == ("Anna", "Lima Souza", "es")


def test_a_name_that_is_too_long_is_told_at_its_field_and_kept(bob, world, ana):
    answer = send(bob, world, f"/{ana}", {"first_name": "A" * 201, "last_name": "Lima", "language": ""})
    assert answer.status_code == 400
    assert "Use at most 200 characters." in text_of(answer)
    assert "A" * 201 in text_of(answer)
    assert person(ana).first_name == "Ana"


def test_the_person_s_page_shows_the_metadata_and_marks_what_the_service_owns(bob, world):
    made = worlds.add_participant(world, "m@example.com", metadata={"plan": {"level": 3}}, segments={"site": "Lyon"})
    with transaction():
        person(made).bag = {**person(made).bag, "takerLink": "https://example.com/s/secret"}
        db.session.flush()
    page = text_of(bob.get(f"{world.campaign}/roster/{made}"))
    assert '"level": 3' in page
    assert "System-owned" in page
    assert "Lyon" in page
    assert "https://example.com/s/secret" in page


def test_who_may_only_look_does_not_see_the_link_that_answers_as_the_person(app, world):
    made = worlds.add_participant(world, "m@example.com")
    with transaction():
        person(made).bag = {"takerLink": "https://example.com/s/secret"}
        db.session.flush()
    page = text_of(worlds.sign_in(app, "Audrey").get(f"{world.campaign}/roster/{made}"))
    assert "secret" not in page
    assert "Save changes" not in page


def test_recent_changes_are_for_those_who_may_see_the_log(alice, bob, world, ana):
    worlds.add_participant(world, "else@example.com")
    send(bob, world, f"/{ana}/language", {f"language-{ana}": "fr"}, htmx=True)
    history = text_of(alice.get(f"{world.campaign}/roster/{ana}")).partition("Recent changes")[2]
    assert "Bob" in history
    assert history.count("Participant changed") == 1
    assert history.count("Participant added or brought up to date") == 1
    assert "Recent changes" not in text_of(bob.get(f"{world.campaign}/roster/{ana}"))


def test_a_new_user_joins_with_language_not_stated(bob, world):
    page = text_of(bob.get(f"{world.campaign}/roster/new"))
    assert "New User" in page and "Email language" in page
    data = {"tab": "new", "new-email": " New@Example.com", "new-first_name": "Nina", "new-language": ""}
    assert send(bob, world, "/new", data).status_code == 303
    made = db.session.scalars(select(Participant)).one()
    assert (made.email, made.first_name, made.language) == ("new@example.com", "Nina", None)
    assert made.bag_language_ended is False


@pytest.mark.parametrize("email", ["", "nobody", "x" * 300 + "@example.com"])
def test_a_bad_address_is_told_at_its_field_and_kept(bob, world, email):
    answer = send(bob, world, "/new", {"tab": "new", "new-email": email, "new-language": ""})
    assert answer.status_code == 400
    assert "This is not an e-mail address." in text_of(answer)


def test_somebody_on_the_roster_is_told_and_not_overwritten(bob, world, ana):
    data = {"tab": "new", "new-email": "ANA@example.com", "new-first_name": "Other", "new-language": "es"}
    answer = send(bob, world, "/new", data, htmx=True)
    assert answer.status_code == 422
    assert f"{world.campaign}/roster/{ana}" in text_of(answer)
    assert (person(ana).first_name, person(ana).language) == ("Ana", None)
    assert len(list(db.session.scalars(select(AuditEntry).where(AuditEntry.subject_id == ana)))) == 1


def test_a_contact_s_language_is_preselected_and_may_be_changed(bob, world):
    with transaction():
        body = ContactWrite.model_validate({"email": "carl@example.com", "firstName": "Carl", "language": "es"})
        contact = contacts.create(world.account_id, body, COMMAND_LINE)
    assert "Carl" in text_of(bob.get(f"{world.campaign}/roster/new?tab=contact&q=car"))
    chosen = text_of(bob.get(f"{world.campaign}/roster/new?tab=contact&contact={contact.id}"))
    assert re.search(r'id="contact-language".*?<option selected value="es">', chosen, re.S)
    send(bob, world, "/new", {"tab": "contact", "contact-contact_id": contact.id, "contact-language": "fr"})
    made = db.session.scalars(select(Participant)).one()
    assert (made.email, made.language) == ("carl@example.com", "fr")


def test_an_existing_user_joins_by_choice_and_a_stranger_s_id_is_refused(bob, world):
    page = bob.get(f"{world.campaign}/roster/new?tab=existing").get_data(as_text=True)
    paula = re.search(r'<option value="(usr_\w+)">Paula', page).group(1)
    assert "Charlie" not in page
    data = {"tab": "existing", "existing-language": ""}
    assert send(bob, world, "/new", {**data, "existing-user_id": "x"}).status_code == 400
    assert send(bob, world, "/new", {**data, "existing-user_id": paula}).status_code == 303
    assert db.session.scalars(select(Participant.email)).all() == ["paula@example.com"]


def bulk(client, world, data, *, query=""):
    return send(client, world, "/bulk", data, query=query)


def test_a_bulk_step_asks_first_and_states_count_and_consequence(bob, world, ana, helene):
    data = {"do": "language:none", "chosen": [ana, helene]}
    asked = text_of(bulk(bob, world, data))
    assert "Change the Language of 2 people to Not stated?" in asked
    assert "go out in English and French" in asked
    assert person(helene).language == "fr"
    bulk(bob, world, {**data, "confirmed": "1", "expected": "2"})
    assert person(helene).language is None
    assert person(helene).bag_language_ended is True


def test_all_who_fit_the_filters_are_those_of_the_address(bob, world, ana, helene):
    data = {"do": "remove", "all": "1", "confirmed": "1", "expected": "1"}
    answer = bulk(bob, world, data, query="?language=fr")
    assert answer.location.endswith("/roster?language=fr")
    assert db.session.scalars(select(Participant.id)).all() == [ana]
    assert db.session.scalar(select(Campaign.roster_size).where(Campaign.id == world.campaign_id)) == 1


def test_a_selection_that_changed_since_the_question_is_asked_about_again(bob, world, ana, helene):
    data = {"do": "remove", "all": "1", "confirmed": "1", "expected": "1"}
    assert "Remove 2 people from the roster?" in text_of(bulk(bob, world, data))
    assert len(db.session.scalars(select(Participant.id)).all()) == 2


def test_status_is_set_by_hand_to_withdrawn_or_added_alone(bob, world, ana):
    bulk(bob, world, {"do": "status:completed", "chosen": ana, "confirmed": "1", "expected": "1"})
    assert person(ana).status == "added"
    bulk(bob, world, {"do": "status:withdrawn", "chosen": ana, "confirmed": "1", "expected": "1"})
    assert person(ana).status == "withdrawn"
    send(bob, world, f"/{ana}/status", {"status": "added", "confirmed": "1"})
    assert person(ana).status == "added"


def test_somebody_on_another_roster_is_never_reached(charlie, world, ana):
    path = f"/accounts/{world.other_account_id}/campaigns/{world.other_campaign_id}/roster"
    data = {"csrf_token": csrf(charlie, path), "do": "remove", "chosen": ana, "confirmed": "1", "expected": "1"}
    charlie.post(f"{path}/bulk", data=data)
    assert charlie.post(f"{path}/{ana}/removal", data=data).status_code == 404
    assert charlie.get(f"{path}/{ana}").status_code == 404
    assert charlie.get(f"{world.campaign}/roster").status_code == 404
    assert person(ana).email == "ana@example.com"


def test_removal_asks_and_then_removes(bob, world, ana):
    assert "This cannot be undone." in text_of(send(bob, world, f"/{ana}/removal"))
    assert send(bob, world, f"/{ana}/removal", {"confirmed": "1"}).location.endswith("/roster")
    assert db.session.scalar(select(Participant.id)) is None


def test_an_auditor_looks_and_changes_nothing(app, world, ana):
    audrey = worlds.sign_in(app, "Audrey")
    page = text_of(audrey.get(f"{world.campaign}/roster"))
    assert "Ana Lima" in page and "Add participant" not in page and "checkbox" not in page
    assert send(audrey, world, f"/{ana}/language", {f"language-{ana}": "fr"}).status_code == 403
    assert bulk(audrey, world, {"do": "remove", "chosen": ana}).status_code == 403
    assert audrey.get(f"{world.campaign}/roster/new").status_code == 403


@pytest.mark.parametrize("view", ["/{id}", "/{id}/language", "/{id}/status", "/{id}/removal", "/bulk", "/new"])
def test_nothing_is_written_without_the_token(bob, world, ana, view):
    answer = bob.post(f"{world.campaign}/roster{view.format(id=ana)}", data={"confirmed": "1", "chosen": ana})
    assert answer.status_code == 400
    assert person(ana).first_name == "Ana"


@pytest.mark.parametrize(
    "query",
    ["_external=1", "_scheme=javascript", "_external=1&_scheme=javascript", "_anchor=a", "_method=POST", "endpoint=x",
     "account_id=x", "campaign_id=x&self=y"],
)  # fmt: skip
def test_parameters_of_an_address_stay_parameters(alice, world, query):
    for number in range(60):
        worlds.add_participant(world, f"p{number}@example.com")
    page = alice.get(f"{world.campaign}/roster?{query}", headers={"Host": "localhost:666"})
    assert page.status_code == 200
    assert ":666" not in page.text and "javascript:" not in page.text
    assert f"{world.campaign}/roster?{html.escape(query)}&amp;page=2" in page.text
    answer = send(alice, world, "/bulk", {"do": "nothing"}, query=f"?{query}")
    assert answer.location == f"{world.campaign}/roster?{query}"
