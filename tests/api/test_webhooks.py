"""service.md 4.1, 4.2 and 4.4, contract 2: webhooks over the API."""

import json
import socket
from dataclasses import replace

import pytest
from sqlalchemy import select, update

from core import vault
from core.db import db, transaction
from domain.bundle.dump import dump
from domain.events import event, subscription
from domain.events.audit import COMMAND_LINE, AuditEntry
from domain.events.delivery import Delivery
from domain.events.subscription import Subscription
from tests import world as worlds
from tests.api.client import Caller

URL = "https://hooks.example.com/assessor"
SECRET = "a secret that nobody may see"
NOWHERE = "whk_00000000000000000000000000"


@pytest.fixture
def other(app, world):
    """A caller whose token reaches Charlie's account alone."""
    token = worlds.token(app, world, accounts=[world.other_account_id])
    return Caller(app, f"/api/v2/public/accounts/{world.other_account_id}", token)


@pytest.fixture
def v1(app, world):
    return Caller(app, f"/api/v1/accounts/{world.account_id}", worlds.token(app, world))


@pytest.fixture
def webhook(caller):
    """The id of a signed webhook for `campaign.updated`."""
    return register(caller).get_json()["data"]["subscriptionId"]


def register(caller, **changes):
    return caller.post("/webhooks", {"url": URL, "events": ["campaign.updated"], "secret": SECRET, **changes})


def code_of(answer):
    return answer.status_code, answer.get_json()["code"]


def places_of(answer):
    return [detail["path"] for detail in answer.get_json()["details"]]


def listed(caller):
    return caller.get("/webhooks").get_json()


def row(subscription_id):
    db.session.rollback()
    return db.session.get(Subscription, subscription_id, populate_existing=True)


def audited():
    db.session.rollback()
    query = select(AuditEntry).where(AuditEntry.action.startswith("webhook.")).order_by(AuditEntry.id)
    return list(db.session.scalars(query))


def test_a_webhook_is_registered_listed_switched_and_removed(caller):
    answer = register(caller)
    assert answer.status_code == 201
    made = answer.get_json()["data"]
    assert {**made, "subscriptionId": "", "createdAt": 0, "updatedAt": 0} == {
        "subscriptionId": "", "url": URL, "events": ["campaign.updated"], "isActive": True, "deliveryFailureCount": 0,
        "signed": True, "createdAt": 0, "updatedAt": 0,
    }  # fmt: skip
    path = f"/webhooks/{made['subscriptionId']}"
    assert listed(caller)["data"] == [made]
    switched = caller.patch(path, {"isActive": False}).get_json()["data"]
    assert switched["isActive"] is False
    assert listed(caller)["data"] == [switched]
    gone = caller.send("DELETE", path, b"")
    assert (gone.status_code, gone.get_json()["data"]) == (200, {"subscriptionId": made["subscriptionId"]})
    assert listed(caller)["data"] == []
    assert code_of(caller.send("DELETE", path, b"")) == (404, "NOT_FOUND")
    assert code_of(caller.patch(path, {"isActive": True})) == (404, "NOT_FOUND")


def test_the_list_is_whole_in_the_order_of_registration_and_has_no_pages(caller):
    made = [register(caller, url=f"{URL}/{number}").get_json()["data"] for number in range(60)]
    assert listed(caller) == {"success": True, "data": made, "meta": {}}
    assert caller.get("/webhooks", page="2", limit="1").get_json()["data"] == made


def test_the_secret_is_in_no_answer_no_log_and_no_audit_entry(caller, caplog, capfd, world):
    made = register(caller)
    path = f"/webhooks/{made.get_json()['data']['subscriptionId']}"
    answers = [made, caller.get("/webhooks"), caller.patch(path, {"isActive": False})]
    answers += [register(caller, secret=SECRET[:10]), register(caller, secret=SECRET, url="ftp://x.example")]
    answers += [caller.patch(path, {"isActive": True, "secret": SECRET}), register(caller, secret=[SECRET])]
    assert not [answer for answer in answers if SECRET[:10] in answer.get_data(as_text=True)]
    entries = audited()
    assert [entry.action for entry in entries] == ["webhook.registered", "webhook.updated"]
    assert {entry.via for entry in entries} == {"v2_public_api"}
    assert not [entry for entry in entries if SECRET in f"{entry.subject_label}{entry.changes}"]
    said = capfd.readouterr()
    assert SECRET not in f"{caplog.text}{said.out}{said.err}"


def test_the_secret_is_encrypted_at_rest(caller, webhook):
    sealed = row(webhook).sealed_secret
    assert SECRET not in sealed
    assert vault.unseal(sealed) == SECRET


@pytest.mark.parametrize("body", [{}, {"secret": None}])
def test_without_a_secret_a_webhook_is_unsigned(caller, body):
    answer = caller.post("/webhooks", {"url": URL, "events": ["webhook.test"], **body})
    assert answer.get_json()["data"]["signed"] is False


@pytest.mark.parametrize(("length", "status"), [(15, 400), (16, 201), (256, 201), (257, 400)])
def test_a_secret_has_16_to_256_characters(caller, length, status):
    answer = register(caller, secret="é" * length)
    assert answer.status_code == status
    if status == 400:
        assert code_of(answer) == (400, "INVALID_BODY")
        assert places_of(answer) == ["secret"]


@pytest.mark.parametrize(
    "secret", [" " * 16, f"{SECRET}\n", f"{SECRET}\r\n", f" {SECRET}", f"\ufeff{SECRET}", f"{SECRET}\u00a0"]
)
def test_a_secret_that_was_pasted_with_blanks_around_it_is_refused_with_the_reason(caller, secret):
    answer = register(caller, secret=secret)
    assert code_of(answer) == (400, "INVALID_BODY")
    assert answer.get_json()["error"] == "secret: must not begin or end with white space or a line break"
    assert SECRET not in answer.get_data(as_text=True) and listed(caller)["data"] == []
    assert register(caller, secret="correct horse\tbattery staple").status_code == 201


def test_no_events_are_refused_in_words_of_the_api(caller):
    assert register(caller, events=[]).get_json()["error"] == "events: must have 1 or more entries; it has 0"


def test_a_rotation_takes_no_properties(v1, webhook):
    answer = v1.post(f"/webhooks/{webhook}/rotate-secret", {"secret": SECRET})
    assert answer.get_json()["error"] == "secret: is not a property of this body; it takes no properties"


def test_of_many_unknown_events_the_sentence_names_a_few_and_the_list_all(caller):
    names = [f"no.such.event.{number}" for number in range(5_000)] + ["x" * 10_000]
    answer = register(caller, events=names[::-1]).get_json()
    assert answer["unknownEvents"] == names[::-1]
    assert answer["error"].endswith("no.such.event.4996 and 4,996 more.") and len(answer["error"]) < 400


def test_unknown_events_are_refused_by_their_names_and_nothing_is_written(caller):
    answer = register(caller, events=["campaign.updated", "campaign.exploded", "Participant.Joined"])
    assert code_of(answer) == (400, "UNKNOWN_EVENT_TYPES")
    assert answer.get_json()["unknownEvents"] == ["campaign.exploded", "Participant.Joined"]
    assert "campaign.exploded" in answer.get_json()["error"]
    assert places_of(answer) == ["events"]
    assert listed(caller)["data"] == []
    assert audited() == []


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"events": []}, "events"), ({"events": ["webhook.test", "webhook.test"]}, "events"),
        ({"events": None}, "events"), ({"events": "webhook.test"}, "events"), ({"events": [1]}, "events[0]"),
        ({"url": None}, "url"), ({"url": 1}, "url"), ({"secret": ""}, "secret"), ({"isActive": True}, "isActive"),
        ({"name": "x"}, "name"),
    ],
)  # fmt: skip
def test_a_body_that_does_not_fit_is_told_its_place(caller, changes, place):
    answer = register(caller, **changes)
    assert code_of(answer) == (400, "INVALID_BODY")
    assert places_of(answer) == [place]


@pytest.mark.parametrize(
    "url",
    [
        "", "hooks.example.com", "ftp://hooks.example.com", "javascript:alert(1)", "https://user:pass@hooks.example.com/",
        "https://user@hooks.example.com/", "https:///path", "https://hooks.example.com:0/", "https://a b.example/",
        "https://hooks.example.com/\\x", "https://hooks.example.com/" + "x" * 2000, "http://localhost/",
        "http://LOCALHOST./", "http://x.localhost:8080", "http://127.0.0.1/", "http://2130706433/", "http://0x7f.1/",
        "http://[::1]/", "http://[::ffff:10.0.0.1]/", "http://10.1.2.3/", "http://169.254.169.254/latest/meta-data",
        "http://224.0.0.1/", "http://0.0.0.0/", "http://①②⑦.0.0.1/",
    ],
)  # fmt: skip
def test_a_url_that_no_webhook_may_have_is_refused(caller, url):
    answer = register(caller, url=url)
    assert code_of(answer) == (400, "WEBHOOK_URL_REFUSED")
    assert places_of(answer) == ["url"]
    assert answer.get_json()["error"] == answer.get_json()["details"][0]["message"]
    assert "not possible" not in answer.get_json()["error"]
    assert listed(caller)["data"] == []


def test_a_refusal_speaks_english_whatever_the_caller_reads(app, world):
    answer = app.test_client().post(
        f"{world.v2}/webhooks",
        json={"url": "ftp://x.example", "events": ["webhook.test"]},
        headers={"Authorization": f"Bearer {worlds.token(app, world)}", "Accept-Language": "fr"},
    )
    assert answer.get_json()["error"] == "The address must start with https:// or http://."


def test_a_name_that_does_not_resolve_is_accepted(caller):
    url = "https://does-not-exist.invalid/hook?x=1#part"
    assert register(caller, url=url).get_json()["data"]["url"] == url


def test_a_url_of_2000_characters_is_accepted(caller):
    url = "https://does-not-exist.invalid/".ljust(2000, "x")
    assert register(caller, url=url).status_code == 201


def test_of_a_webhook_only_is_active_can_be_changed(caller, webhook):
    before = listed(caller)["data"]
    for name in ("deliveryFailureCount", "accountId", "secret", "url", "events", "subscriptionId", "signed"):
        answer = caller.patch(f"/webhooks/{webhook}", {"isActive": False, name: 0})
        assert code_of(answer) == (400, "INVALID_BODY")
        assert places_of(answer) == [name]
    for body in ({}, {"isActive": None}, {"isActive": "false"}, {"isActive": 0}):
        assert places_of(caller.patch(f"/webhooks/{webhook}", body)) == ["isActive"]
    assert listed(caller)["data"] == before


def test_switching_to_where_it_stands_changes_nothing(caller, webhook):
    before = listed(caller)["data"][0]
    assert caller.patch(f"/webhooks/{webhook}", {"isActive": True}).get_json()["data"] == before
    assert [entry.action for entry in audited()] == ["webhook.registered"]


def test_the_failure_count_is_told(caller, webhook):
    with transaction() as session:
        session.execute(update(Subscription).values(failure_count=7))
    assert listed(caller)["data"][0]["deliveryFailureCount"] == 7


def test_what_waits_for_a_removed_webhook_is_cancelled(caller, webhook, world):
    with transaction():
        event.record(world.account_id, "campaign.updated", {"campaign": {}})
    caller.send("DELETE", f"/webhooks/{webhook}", b"")
    db.session.rollback()
    assert [delivery.state for delivery in db.session.scalars(select(Delivery))] == ["cancelled"]
    assert row(webhook).sealed_secret is None


def test_another_account_s_webhook_is_not_found(caller, other, webhook):
    assert listed(other)["data"] == []
    for subscription_id in (webhook, NOWHERE):
        assert code_of(other.patch(f"/webhooks/{subscription_id}", {"isActive": False})) == (404, "NOT_FOUND")
        assert code_of(other.send("DELETE", f"/webhooks/{subscription_id}", b"")) == (404, "NOT_FOUND")
    assert listed(caller)["data"][0]["isActive"] is True


def test_webhooks_need_their_own_scope(app, world):
    narrow = Caller(app, world.v2, worlds.token(app, world, "campaigns:read"))
    for answer in (narrow.get("/webhooks"), register(narrow), narrow.send("DELETE", f"/webhooks/{NOWHERE}", b"")):
        assert code_of(answer) == (403, "SCOPE_REQUIRED")
        assert answer.get_json()["requiredScope"] == "webhooks:manage"


@pytest.mark.parametrize("raw", ["", "{}", "  \n"])
def test_rotation_gives_the_new_secret_this_once(caller, v1, webhook, raw):
    before = row(webhook)
    answer = v1.send("POST", f"/webhooks/{webhook}/rotate-secret", raw)
    data = answer.get_json()["data"]
    assert (answer.status_code, data["subscriptionId"]) == (200, webhook)
    assert answer.headers["Cache-Control"] == "no-store"
    assert data["secret"] != SECRET
    assert 16 <= len(data["secret"]) <= 256
    assert vault.unseal(row(webhook).sealed_secret) == data["secret"]
    shown = listed(caller)["data"][0]
    assert (shown["url"], shown["events"], shown["isActive"]) == (before.url, before.events, True)
    entries = audited()
    assert (entries[-1].action, entries[-1].via) == ("webhook.secret.rotated", "v1_api")
    assert data["secret"] not in f"{listed(caller)}{[entry.changes for entry in entries]}"


def test_each_rotation_gives_another_secret(v1, webhook):
    secrets = {v1.send("POST", f"/webhooks/{webhook}/rotate-secret", "").get_json()["data"]["secret"] for _ in range(3)}
    assert len(secrets) == 3


def test_rotation_signs_a_webhook_that_was_unsigned(caller, v1):
    made = register(caller, secret=None).get_json()["data"]
    v1.send("POST", f"/webhooks/{made['subscriptionId']}/rotate-secret", "")
    assert listed(caller)["data"][0]["signed"] is True


def test_rotation_keeps_what_is_queued(v1, webhook, world):
    with transaction():
        event.record(world.account_id, "campaign.updated", {"campaign": {}})
    v1.send("POST", f"/webhooks/{webhook}/rotate-secret", "")
    db.session.rollback()
    assert [delivery.state for delivery in db.session.scalars(select(Delivery))] == ["queued"]


def test_rotation_takes_nothing_from_the_caller(v1, webhook):
    answer = v1.post(f"/webhooks/{webhook}/rotate-secret", {"secret": SECRET})
    assert code_of(answer) == (400, "INVALID_BODY")
    assert v1.send("POST", f"/webhooks/{webhook}/rotate-secret", "{").status_code == 400
    assert vault.unseal(row(webhook).sealed_secret) == SECRET


def test_rotation_passes_the_gate(app, world, v1, webhook):
    path = f"/webhooks/{webhook}/rotate-secret"
    narrow = Caller(app, f"/api/v1/accounts/{world.account_id}", worlds.token(app, world, "participants:write"))
    assert code_of(narrow.post(path, {})) == (403, "SCOPE_REQUIRED")
    foreign = worlds.token(app, world, accounts=[world.other_account_id])
    assert code_of(Caller(app, f"/api/v1/accounts/{world.account_id}", foreign).post(path, {})) == (
        403, "ACCOUNT_NOT_IN_SCOPE",
    )  # fmt: skip
    theirs = Caller(app, f"/api/v1/accounts/{world.other_account_id}", foreign)
    assert code_of(theirs.post(path, {})) == (404, "NOT_FOUND")
    assert code_of(v1.post(f"/webhooks/{NOWHERE}/rotate-secret", {})) == (404, "NOT_FOUND")
    assert vault.unseal(row(webhook).sealed_secret) == SECRET


@pytest.mark.parametrize("name", ["Alice", "Bob"])
def test_whoever_manages_webhooks_rotates_by_session(app, world, webhook, name):
    browser = worlds.sign_in(app, name)
    path = f"/api/v1/accounts/{world.account_id}/webhooks/{webhook}/rotate-secret"
    assert code_of(browser.post(path)) == (400, "INVALID_BODY")
    assert vault.unseal(row(webhook).sealed_secret) == SECRET
    page = browser.get("/me/profile").get_data(as_text=True)
    csrf = page.partition('name="csrf-token" content="')[2].partition('"')[0]
    answer = browser.post(path, headers={"X-CSRF-Token": csrf})
    assert vault.unseal(row(webhook).sealed_secret) == answer.get_json()["data"]["secret"]
    assert audited()[-1].actor_label == name


@pytest.mark.parametrize(
    ("name", "code"), [("Audrey", "FORBIDDEN"), ("Paula", "FORBIDDEN"), ("Charlie", "ACCOUNT_NOT_IN_SCOPE")]
)
def test_nobody_else_rotates_by_session(app, world, webhook, name, code):
    path = f"/api/v1/accounts/{world.account_id}/webhooks/{webhook}/rotate-secret"
    assert code_of(worlds.sign_in(app, name).post(path)) == (403, code)
    assert vault.unseal(row(webhook).sealed_secret) == SECRET


def test_a_deleted_webhook_cannot_be_rotated(v1, webhook, world):
    with transaction():
        subscription.delete(subscription.get(world.account_id, webhook), COMMAND_LINE)
    assert code_of(v1.post(f"/webhooks/{webhook}/rotate-secret", {})) == (404, "NOT_FOUND")


@pytest.fixture
def resolver(monkeypatch):
    """The world's names as the test says; `asked` notes each look-up. Any other name is looked up as ever."""
    names, asked, ask = {}, [], socket.getaddrinfo

    def look_up(host, port, *rest, **more):
        if host not in names:
            return ask(host, port, *rest, **more)
        asked.append(names["on_question"]())
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in names[host]]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    names["on_question"] = lambda: None
    return names, asked


def test_a_name_that_leads_to_a_private_address_is_refused(caller, resolver):
    names, _asked = resolver
    names["inside.example.com"] = ["10.0.0.7"]
    names["both.example.com"] = ["93.184.215.14", "127.0.0.1"]
    names["outside.example.com"] = ["93.184.215.14"]
    for host in ("inside", "both", "INSIDE"):
        answer = register(caller, url=f"https://{host}.example.com/")
        assert code_of(answer) == (400, "WEBHOOK_URL_REFUSED")
    assert register(caller, url="https://outside.example.com/").status_code == 201


def test_no_connection_to_the_database_waits_for_a_name(caller, resolver):
    names, asked = resolver
    pool = db.engine.pool
    names["slow.example.com"] = ["93.184.215.14"]
    names["on_question"] = pool.checkedout
    assert register(caller, url="https://slow.example.com/").status_code == 201
    assert asked == [0]


def test_a_private_receiver_is_taken_where_the_installation_allows_it(app, caller, monkeypatch):
    monkeypatch.setitem(app.config, "SETTINGS", replace(app.config["SETTINGS"], webhook_allow_private_hosts=True))
    assert register(caller, url="http://127.0.0.1:8080/").status_code == 201
    assert code_of(register(caller, url="ftp://127.0.0.1/")) == (400, "WEBHOOK_URL_REFUSED")


def test_the_secret_is_in_no_bundle(caller, webhook, world):
    dumped = json.dumps(dump(world.account_id))
    assert SECRET not in dumped
    assert row(webhook).sealed_secret not in dumped
