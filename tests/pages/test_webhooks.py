"""Webhooks on screen: registering, health, the log, sending again, the secret, and the receiver kit."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from flask_babel import force_locale
from sqlalchemy import select

from blueprints.admin.webhooks import receiver as kit
from blueprints.admin.webhooks import words
from blueprints.sentences import SENTENCES
from contract.webhooks import WebhookRegister
from core import clock, vault
from core.db import db, transaction
from domain.events import event, subscription
from domain.events.audit import COMMAND_LINE, AuditEntry
from domain.events.catalogue import CATALOGUE
from domain.events.delivery import Delivery, DeliveryAttempt, record
from domain.events.subscription import Subscription
from jobs import deliveries
from outbound import guarded, resolve, signing
from tests import world as worlds
from tests.jobs import hooks
from tests.pages.form import send
from tests.servers.receiver import Receiver, receiver
from tests.world import World

SECRET = "known to the receiver alone"
OPEN = "https://hooks.example.com/other"
USUAL = "https://hooks.example.com/in"


@pytest.fixture
def listener(app: Flask) -> Iterator[Receiver]:
    """A receiver that may be reached although it is private."""
    with hooks.settings(app), receiver() as made:
        yield made


def subscribe(
    world: World, url: str = "https://hooks.example.com/in", *events: str, secret: str | None = SECRET
) -> str:
    body = WebhookRegister(url=url, events=list(events or ("campaign.updated",)), secret=secret)
    with transaction():
        return subscription.register(world.account_id, body, COMMAND_LINE).id


def given_up(world: World, webhook: str, number: int = 1, name: str = "campaign.updated", **values: Any) -> list[str]:
    """Deliveries to the webhook that were given up, with their last attempt."""
    with transaction():
        event.record_many(world.account_id, name, [{"number": each} for each in range(number)])
        waiting = select(Delivery).where(Delivery.subscription_id == webhook, Delivery.state == "queued")
        ids = []
        for each in db.session.scalars(waiting).all():
            now = clock.now_ms()
            each.state, each.attempts, each.last_status, each.last_error = "exhausted", 3, 500, "BAD_STATUS"
            each.last_sent_at = each.settled_at = now
            for key, value in values.items():
                setattr(each, key, value)
            db.session.add(
                DeliveryAttempt(
                    delivery_id=each.id, round=1, number=3, at=now, milliseconds=12, status=500, error="BAD_STATUS",
                    answer=b"no <b>room</b>\x00", address="192.0.2.1",
                )
            )  # fmt: skip
            ids.append(each.id)
        return ids


def state_of(delivery_id: str) -> str:
    db.session.rollback()
    return db.session.scalars(select(Delivery.state).where(Delivery.id == delivery_id)).one()


def only(world: World) -> Subscription:
    db.session.rollback()
    return db.session.scalars(select(Subscription).where(Subscription.account_id == world.account_id)).one()


def at(world: World, webhook: str = "", *more: str) -> str:
    return "/".join((f"{world.acme}/webhooks", *([webhook] if webhook else []), *more))


def visible(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_an_empty_list_offers_to_register(alice: FlaskClient, world: World) -> None:
    page = alice.get(at(world)).text
    assert "No webhooks yet" in page and f'href="{at(world, "new")}"' in page


def test_bob_registers_a_webhook_for_an_event_and_a_group(bob: FlaskClient, world: World) -> None:
    page = send(bob, at(world, "new"), url=f" {OPEN} ", events=["participant.joined"], groups=["Files"], secret=SECRET)
    made = only(world)
    assert (made.url, made.is_active) == (OPEN, True)
    assert made.events == ["participant.joined", *CATALOGUE["Files"]]
    assert vault.unseal(made.sealed_secret or "") == SECRET
    assert "The webhook is registered." in page.text and SECRET not in page.text


def test_without_a_secret_it_is_unsigned_and_the_list_says_so(alice: FlaskClient, world: World) -> None:
    send(alice, at(world, "new"), url=OPEN, events=["participant.joined"], secret="")
    assert only(world).sealed_secret is None
    assert "unsigned" in alice.get(at(world)).text


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"url": ""}, "Enter the URL that is to be called."),
        ({"url": "ftp://hooks.example.com/"}, "The address must start with https:// or http://."),
        ({"url": "https://localhost/hook"}, "The address leads to this machine itself."),
        ({"url": "http://10.1.2.3/hook"}, "The host is or leads to 10.1.2.3,"),
        ({"url": "https://me:you@hooks.example.com/"}, "The address holds a user name or a password."),
        ({"url": "https://hooks.example.com/" + "x" * 2000}, "Use at most 2000 characters."),
        ({"events": []}, "Choose at least one event."),
        ({"events": ["campaign.exploded"]}, "The event catalogue has no campaign.exploded."),
        ({"secret": "not-quite-16"}, "Use 16 to 256 characters."),
    ],
)
def test_a_mistake_stands_at_its_field_and_only_the_secret_is_not_kept(
    alice: FlaskClient, world: World, fields: dict[str, Any], sentence: str
) -> None:
    values = {"url": OPEN, "events": ["campaign.updated"], "secret": SECRET, **fields}
    answer = send(alice, at(world, "new"), **values)
    assert answer.status_code == 400
    assert sentence in visible(answer.text)
    assert values["secret"] not in answer.text
    assert html.escape(values["url"]) in answer.text
    if values["events"] == ["campaign.updated"]:
        assert 'value="campaign.updated" checked' in answer.text
    db.session.rollback()
    assert db.session.scalars(select(Subscription)).all() == []


def test_a_test_arrives_and_its_page_tells_everything_but_the_secret(
    alice: FlaskClient, world: World, listener: Receiver
) -> None:
    webhook = subscribe(world, listener.url)
    page = send(alice, at(world, webhook, "test"), page=at(world, webhook))
    assert "A test is on its way." in page.text
    assert deliveries.drain() == 1
    got = listener.got[0]
    shown = alice.get(page.request.path).text
    assert html.escape(got.body.decode(), quote=True) in shown.replace("&#34;", "&quot;")
    assert "Accepted" in shown and "webhook.test" in shown and ">ok<" in shown
    for name, value in got.headers.items():
        if "signature" not in name:
            assert value in html.unescape(shown), name
        else:
            assert value not in shown and name in shown.lower()
    assert SECRET not in shown
    assert alice.get(f"{page.request.path}/body.json").data == got.body
    listed = alice.get(at(world)).text
    assert "Healthy" in listed and "100%" in listed


def test_an_inactive_webhook_refuses_a_test(alice: FlaskClient, world: World) -> None:
    webhook = subscribe(world)
    page = send(alice, at(world, webhook, "activity"), page=at(world, webhook), active="0")
    assert "The webhook is inactive" in page.text and not only(world).is_active
    answer = send(alice, at(world, webhook, "test"), page=at(world, webhook))
    assert "The webhook is inactive. Activate it first." in answer.text
    assert db.session.scalars(select(Delivery)).all() == []
    send(alice, at(world, webhook, "activity"), page=at(world, webhook), active="1")
    assert only(world).is_active


def test_a_rotated_secret_is_on_one_answer_alone(alice: FlaskClient, world: World) -> None:
    webhook = subscribe(world)
    here = at(world, webhook, "rotation")
    seen = re.search(r'name="seen" value="(\d+)"', alice.get(at(world, webhook)).text)
    assert seen is not None
    asked = send(alice, here, page=at(world, webhook), seen=seen[1])
    assert "seven minutes" in asked.text and vault.unseal(only(world).sealed_secret or "") == SECRET
    answer = send(alice, here, page=at(world, webhook), confirmed="1", seen=seen[1])
    secret = vault.unseal(only(world).sealed_secret or "")
    assert secret != SECRET and secret in answer.text and answer.headers["Cache-Control"] == "no-store"
    assert "data-copy" in answer.text and secret not in str(answer.headers)
    assert secret not in alice.get(at(world, webhook)).text + alice.get(f"{world.acme}/audit").text
    assert secret not in str([entry.changes for entry in db.session.scalars(select(AuditEntry))])
    again = send(alice, here, page=at(world, webhook), confirmed="1", seen=seen[1])
    assert "signed with a new secret" in again.text, "a reload of the answer asks, and rotates nothing"
    assert vault.unseal(only(world).sealed_secret or "") == secret


def test_deleting_says_what_is_cancelled_and_the_log_stays(alice: FlaskClient, world: World) -> None:
    webhook = subscribe(world)
    hooks.happen(world, 2)
    asked = send(alice, at(world, webhook, "removal"), page=at(world, webhook))
    assert "2 deliveries that wait are cancelled" in asked.text
    page = send(alice, at(world, webhook, "removal"), page=at(world, webhook), confirmed="1")
    assert "is deleted. Its log stays." in page.text and at(world, webhook) in page.text
    log = alice.get(at(world, webhook)).text
    assert log.count("Cancelled</span>") == 2 and "Send a test" not in log
    for step in ("test", "activity", "rotation", "removal", "again", "again/range"):
        assert send(alice, at(world, webhook, step), page=at(world), confirmed="1").status_code == 404


def test_the_log_is_filtered_by_its_address(alice: FlaskClient, world: World) -> None:
    webhook = subscribe(world, "https://hooks.example.com/", "campaign.updated", "campaign.created")
    old = given_up(world, webhook, created_at=clock.instant("2026-01-05T10:30Z"))[0]
    hooks.happen(world, name="campaign.created")
    new = next(row for row in hooks.rows(webhook) if row.id != old)
    here = at(world, webhook)

    def found(query: str) -> set[str]:
        page = alice.get(f"{here}?{query}", headers={"HX-Request": "true"}).text
        return set(re.findall(r'id="open-(dlv_\w+)"', page))

    assert found("") == {old, new.id}
    assert found("state=exhausted") == {old} and found("event=campaign.created") == {new.id}
    assert found(f"id={new.event_id}") == {new.id} and found(f"id={old}") == {old} and found("id=nonsense") == set()
    assert found("since=2026-01-05T10:30&until=2026-01-05T10:30") == {old}
    assert found("until=2026-01-05T10:29") == set()
    page = alice.get(f"{here}?state=broken&event=no.event&since=yesterday&until=9999-99-99").text
    assert page.count("tone-warning") >= 4 and "no date and time" in page


def test_the_log_goes_by_keys(alice: FlaskClient, world: World) -> None:
    webhook = subscribe(world)
    hooks.happen(world, 120)
    pages, url = [], at(world, webhook)
    for _ in range(3):
        page = alice.get(url).text
        pages.append(re.findall(r'id="open-(dlv_\w+)"', page))
        older = re.search(r'id="older" href="([^"]+)"', page)
        url = html.unescape(older[1]) if older else ""
    assert [len(page) for page in pages] == [50, 50, 20] and not url
    shown = [each for page in pages for each in page]
    assert shown == sorted(set(shown), reverse=True)
    back = re.search(r'id="newer" href="([^"]+)"', page)
    assert back and re.findall(r'id="open-(dlv_\w+)"', alice.get(html.unescape(back[1])).text) == pages[1]


def test_a_failed_delivery_says_what_to_check(alice: FlaskClient, world: World) -> None:
    webhook = subscribe(world)
    delivery_id = given_up(world, webhook)[0]
    log, page = alice.get(at(world, webhook)).text, alice.get(at(world, webhook, "deliveries", delivery_id)).text
    assert "The receiver answered with an error: 500" in log
    assert "Anything but a 2xx counts as a failure." in page
    assert "no &lt;b&gt;room&lt;/b&gt;␀" in page and "192.0.2.1" in page


def test_a_delivery_that_was_given_up_is_sent_again_under_its_id(
    alice: FlaskClient, world: World, listener: Receiver
) -> None:
    webhook = subscribe(world, listener.url)
    delivery_id = given_up(world, webhook)[0]
    here = at(world, webhook, "deliveries", delivery_id)
    assert "keeps its id" in send(alice, f"{here}/again", page=here).text and state_of(delivery_id) == "exhausted"
    send(alice, f"{here}/again", page=here, confirmed="1")
    deliveries.drain()
    assert listener.ids == [delivery_id] and state_of(delivery_id) == "accepted"
    again = send(alice, f"{here}/again", page=here, confirmed="1")
    assert "Only a delivery that was given up can be sent again." in again.text
    assert "round 2" in again.text


def test_a_selection_is_sent_again(alice: FlaskClient, world: World) -> None:
    webhook = subscribe(world)
    ids = given_up(world, webhook, 3)
    here = at(world, webhook)
    assert "Tick the deliveries" in send(alice, f"{here}/again", page=here).text
    asked = send(alice, f"{here}/again", page=here, chosen=ids[:2])
    assert "Send 2 deliveries again?" in asked.text and all(each in asked.text for each in ids[:2])
    page = send(alice, f"{here}/again", page=here, chosen=ids[:2], confirmed="1")
    assert "2 deliveries are sent again." in page.text
    assert [state_of(each) for each in ids] == ["queued", "queued", "exhausted"]


def test_a_time_range_is_sent_again_once_its_number_was_seen(alice: FlaskClient, world: World) -> None:
    webhook = subscribe(world)
    inside = given_up(world, webhook, 2, created_at=clock.instant("2026-01-05T10:30Z") + 59_000)
    outside = given_up(world, webhook)
    here = at(world, webhook)
    span = {"since": "2026-01-05T10:00", "until": "2026-01-05T10:30"}

    def sent(**fields: str) -> str:
        return send(alice, f"{here}/again/range", page=here, **{**span, **fields}).text

    assert "Enter both times" in sent(until="") and "must come after" in sent(until="2026-01-05T09:00")
    assert "There is no event" in sent(event="no.event")
    assert "Nothing was given up in that time." in sent(event="campaign.created")
    kept = sent(until="2026-01-05T10:01")
    assert "Nothing was given up" in kept and 'value="2026-01-05T10:01"' in kept
    assert "Send 2 deliveries again?" in sent()
    assert "2 deliveries are sent again." in sent(confirmed="1")
    assert [state_of(each) for each in inside + outside] == ["queued", "queued", "exhausted"]


def test_charlie_and_audrey_see_nothing_of_it(app: Flask, charlie: FlaskClient, world: World) -> None:
    webhook = subscribe(world)
    delivery_id = given_up(world, webhook)[0]
    theirs = f"/accounts/{world.other_account_id}/webhooks"
    for address in (at(world, webhook), f"{theirs}/{webhook}", f"{theirs}/{webhook}/deliveries/{delivery_id}"):
        assert charlie.get(address).status_code == 404
    audrey = worlds.sign_in(app, "Audrey")
    assert audrey.get(at(world)).status_code == 403
    overview = audrey.get(world.acme).text
    assert "Webhook deliveries" not in overview and "/webhooks" not in overview


def test_a_delivery_is_found_under_its_own_webhook_alone(alice: FlaskClient, world: World) -> None:
    mine, other = subscribe(world), subscribe(world, OPEN, "file.uploaded")
    delivery_id = given_up(world, mine)[0]
    assert alice.get(at(world, other, "deliveries", delivery_id)).status_code == 404
    again = at(world, other, "deliveries", delivery_id, "again")
    assert send(alice, again, page=at(world), confirmed="1").status_code == 404
    send(alice, at(world, other, "again"), page=at(world), chosen=[delivery_id], confirmed="1")
    assert state_of(delivery_id) == "exhausted"


def test_the_overview_shows_the_health_of_deliveries_once_there_is_a_webhook(alice: FlaskClient, world: World) -> None:
    assert "Webhook deliveries" not in alice.get(world.acme).text
    webhook = subscribe(world)
    assert "Nothing sent yet" in alice.get(world.acme).text
    given_up(world, webhook, 3)
    hooks.happen(world, 2)
    page = visible(alice.get(world.acme).text)
    assert "Success rate in 24 hours 0% Failing Given up in 24 hours 3 Waiting now 2" in page


def captured(world: World, **changes: str) -> dict[str, str]:
    """A request that fits in every way, as it would be pasted."""
    now = clock.now_ms()
    body = record.body("dlv_1", "evt_1", "webhook.test", world.account_id, now, '{"note":"é"}')
    headers = signing.headers("webhook.test", "dlv_1", now, body, SECRET)
    lines = "\r\n".join(f"{name}: {value}" for name, value in headers.items())
    return {"headers": lines, "body": body.decode(), "secret": SECRET, **changes}


def test_the_checker_finds_a_good_request_good_and_keeps_no_secret(alice: FlaskClient, world: World) -> None:
    here = at(world, "receiver")
    page = send(alice, here, **captured(world)).text
    assert page.count('tone-success">Good') == 2 and ">Wrong<" not in page and SECRET not in page
    fields = captured(world)
    as_json = json.dumps(dict(line.split(": ", 1) for line in fields["headers"].splitlines()))
    assert send(alice, here, **{**fields, "headers": as_json}).text.count('tone-success">Good') == 2


def test_the_checker_says_what_is_wrong(alice: FlaskClient, world: World) -> None:
    here, good = at(world, "receiver"), captured(world)
    spaced = json.dumps(json.loads(good["body"]), ensure_ascii=False)
    assert "written another way" in send(alice, here, **{**good, "body": spaced}).text
    assert "Signature V2 does not fit" in send(alice, here, **{**good, "secret": "another secret altogether"}).text
    assert "Enter the secret to check it." in send(alice, here, **{**good, "secret": ""}).text
    assert "has no signature" in send(alice, here, **{**good, "headers": "X-Service-Event: webhook.test"}).text
    kept = send(alice, here, **{**good, "body": "<b>no JSON</b>"}).text
    assert "The body is not JSON." in kept and "&lt;b&gt;no JSON&lt;/b&gt;" in kept
    nothing = send(alice, here, headers="", body="", secret="")
    assert nothing.status_code == 400 and "Paste the headers and the body" in nothing.text


def test_every_finding_error_refusal_and_group_has_words(app: Flask) -> None:
    assert set(words.FINDINGS) == set(signing.FINDING_CODES)
    assert set(words.ERRORS) == set(guarded.ERROR_CODES) | {"INTERNAL", "SECRET_UNREADABLE"}
    assert set(words.STATES) == set(record.STATES)
    assert set(words.GROUPS) == set(CATALOGUE)
    assert set(SENTENCES) >= set(resolve.URL_REFUSAL_CODES)


def test_the_python_of_the_kit_accepts_its_vector_and_nothing_else(world: World) -> None:
    code: dict[str, Any] = {}
    exec(kit.sample("python"), code)
    made = kit.vector(world.account_id, "webhook.test")
    headers = {name.lower(): value for name, value in made.headers.items()}
    genuine, body = code["is_genuine"], made.body.encode()
    assert genuine(made.secret, headers, body, kit.EXAMPLE_AT)
    assert not genuine(made.secret, headers, body) and not genuine(made.secret + "x", headers, body, kit.EXAMPLE_AT)
    assert not genuine(made.secret, headers, body + b" ", kit.EXAMPLE_AT)
    for broken in ("", "t=,sha256=", "t=x,sha256=é", "t", "t=1,sha256=00"):
        assert not genuine(made.secret, {"x-service-signature-v2": broken}, body, kit.EXAMPLE_AT)


def test_a_share_never_claims_more_than_it_was_and_is_written_as_the_language_writes_it(app: Flask) -> None:
    with app.test_request_context():
        assert [words.share(each) for each in (None, 0.0, 0.5, 0.9996, 1.0)] == ["—", "0%", "50%", "99.9%", "100%"]
        with force_locale("fr"):
            assert words.share(0.125).replace("\u202f", " ").replace("\xa0", " ") == "12,5 %"


PHP_ASKS = """
[$secret, $signature, $body, $at] = json_decode(getenv('ASKED'));
echo json_encode([is_genuine($secret, $signature, $body, $at), is_genuine($secret, $signature, $body),
    is_genuine($secret . 'x', $signature, $body, $at), is_genuine($secret, $signature, $body . ' ', $at),
    is_genuine($secret, '', $body, $at), is_genuine($secret, 't=1,sha256=00', $body, $at)]);
"""
GO_ASKS = """package receiver

import (
	"testing"
	"time"
)

func TestVector(t *testing.T) {
	secret, signature, body, at := %s, %s, []byte(%s), time.UnixMilli(%d)
	said := []bool{IsGenuine(secret, signature, body, at), !IsGenuine(secret, signature, body, time.Now()),
		!IsGenuine(secret+"x", signature, body, at), !IsGenuine(secret, signature, append(body, ' '), at),
		!IsGenuine(secret, "", body, at), !IsGenuine(secret, "t=1,sha256=00", body, at)}
	for index, right := range said {
		if !right {
			t.Errorf("%%d is wrong", index)
		}
	}
}
"""


@pytest.mark.skipif(shutil.which("php") is None, reason="php is not installed")
def test_the_php_of_the_kit_accepts_its_vector_and_nothing_else(world: World) -> None:
    made = kit.vector(world.account_id, "webhook.test")
    asked = json.dumps([made.secret, made.headers[signing.SIGNATURE_V2], made.body, kit.EXAMPLE_AT])
    code = kit.sample("php").removeprefix("<?php") + PHP_ASKS
    said = subprocess.run(["php", "-r", code], env={"ASKED": asked}, capture_output=True, check=True, timeout=20)
    assert json.loads(said.stdout) == [True, False, False, False, False, False]


@pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")
def test_the_go_of_the_kit_accepts_its_vector_and_nothing_else(world: World, tmp_path: Path) -> None:
    made = kit.vector(world.account_id, "webhook.test")
    values = (json.dumps(each) for each in (made.secret, made.headers[signing.SIGNATURE_V2], made.body))
    (tmp_path / "go.mod").write_text("module receiver\n\ngo 1.20\n")
    (tmp_path / "receiver.go").write_text(kit.sample("go"))
    (tmp_path / "receiver_test.go").write_text(GO_ASKS % (*values, kit.EXAMPLE_AT))
    subprocess.run(["go", "test", "./..."], cwd=tmp_path, check=True, timeout=120)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_node_of_the_kit_accepts_its_vector_and_nothing_else(world: World) -> None:
    made = kit.vector(world.account_id, "webhook.test")
    headers = {name.lower(): value for name, value in made.headers.items()}
    asked = (
        f"const [secret, headers, body] = {json.dumps([made.secret, headers, made.body])};"
        f"const at = {kit.EXAMPLE_AT}, raw = Buffer.from(body);"
        "console.log(JSON.stringify([isGenuine(secret, headers, raw, at), isGenuine(secret, headers, raw),"
        "isGenuine(secret + 'x', headers, raw, at), isGenuine(secret, headers, Buffer.from(body + ' '), at),"
        "isGenuine(secret, {}, raw, at), isGenuine(secret, {'x-service-signature-v2': 't=1,sha256=00'}, raw, at)]))"
    )
    said = subprocess.run(["node", "-e", kit.sample("node") + asked], capture_output=True, check=True, timeout=20)
    assert json.loads(said.stdout) == [True, False, False, False, False, False]
