"""`/developers`: what it says is complete, and what it shows really works."""

from __future__ import annotations

import json
import re
import shlex
from html import unescape
from typing import Any

import pytest
import time_machine
from flask_babel import lazy_gettext
from pydantic import TypeAdapter

from blueprints.admin.webhooks.words import GROUPS
from blueprints.api import docstrings
from blueprints.api.examples import EXAMPLES, PAYLOAD_EXAMPLES
from blueprints.api_v1 import operations as v1
from blueprints.api_v2 import operations as v2
from blueprints.developers import event_words, words
from contract.contacts import ContactWrite
from contract.envelope import ErrorCode
from contract.events import CATALOGUE, EVENTS, PAYLOADS, STILL_TO_COME
from contract.webhooks import DeliveryEnvelope, WebhookRegister
from core.db import transaction
from domain.accounts.permissions import SCOPES
from domain.campaigns import contacts
from domain.events import subscription
from domain.events.audit import COMMAND_LINE
from outbound import signing
from tests import world as worlds

DECLARED = [*v2.declared, *v1.declared]


@pytest.fixture
def page(stranger):
    answer = stranger.get("/developers?lang=en")
    assert answer.status_code == 200
    return answer.get_data(as_text=True)


@pytest.fixture
def shell(app, world):
    """The variables that the page asks a reader to set, for the account of the tests."""
    with transaction():
        contacts.create(world.account_id, ContactWrite.model_validate({"email": "c@x.example"}), COMMAND_LINE)
    return {
        "ASSESSOR": "http://localhost",
        "TOKEN": worlds.token(app, world),
        "ACCOUNT": world.account_id,
        "CAMPAIGN": world.campaign_id,
        "SUBSCRIPTION": _webhook(world),
        "PARTICIPANT": worlds.add_participant(world, "somebody@example.com", language="fr"),
    }


def _webhook(world):
    body = WebhookRegister(url="https://hooks.example.com/", events=["participant.joined"])
    with transaction():
        return subscription.register(world.account_id, body, COMMAND_LINE).id


def blocks(page, kind):
    """Id and text of every block of code of one kind."""
    found = re.findall(rf'<pre id="([^"]+)"[^>]*data-kind="{kind}"><code>(.*?)</code></pre>', page, re.DOTALL)
    return {name: unescape(text) for name, text in found}


def blocks_by_id(page):
    """Id and text of every block of code."""
    found = re.findall(r'<pre id="([^"]+)"[^>]*><code>(.*?)</code></pre>', page, re.DOTALL)
    return {name: unescape(text) for name, text in found}


def send(client, curl, shell):
    """What the pasted command would do, through the test client."""
    text = re.sub(r"\$([A-Z]+)", lambda found: shell[found[1]], curl.replace("\\\n", " "))
    command, *words_of = shlex.split(text)
    assert command == "curl"
    method, headers, body, url = None, {}, None, None
    arguments = iter(words_of)
    for word in arguments:
        if word == "-X":
            method = next(arguments)
        elif word == "-H":
            name, _, value = next(arguments).partition(": ")
            headers[name] = value
        elif word == "-d":
            body = next(arguments)
        else:
            assert url is None, f"curl would take {word!r} for a second address"
            url = word
    assert url is not None
    return client.open(url, method=method or ("POST" if body else "GET"), headers=headers, data=body)


def test_every_pasted_example_works_and_answers_as_shown(stranger, page, shell):
    calls, answers = blocks(page, "curl"), blocks(page, "answer")
    assert calls.keys() == {"start-call"} | {f"{declared.name}-call" for declared in DECLARED}
    assert answers.keys() == {f"{declared.name}-answer" for declared in DECLARED}
    for name, curl in sorted(calls.items(), key=lambda call: "-X DELETE" in call[1]):
        answer = send(stranger, curl, shell)
        assert answer.status_code < 300, (name, answer.get_json())
        shown = answers.get(name.replace("-call", "-answer"))
        if shown is not None:
            assert answer.status_code == EXAMPLES[name.removesuffix("-call")].status
            assert json.loads(shown).keys() == answer.get_json().keys()
            assert json.loads(shown)["meta"].keys() == answer.get_json()["meta"].keys()


def test_the_upsert_answers_exactly_what_its_example_shows(stranger, page, shell):
    shown = json.loads(blocks(page, "answer")["upsertParticipant-answer"])["data"]
    given = send(stranger, blocks(page, "curl")["upsertParticipant-call"], shell).get_json()["data"]
    changing = {"participantId", "campaignId", "createdAt", "updatedAt"}
    assert {key: value for key, value in given.items() if key not in changing} == {
        key: value for key, value in shown.items() if key not in changing
    }
    assert given.keys() == shown.keys()


def test_it_names_the_address_of_this_installation(app, page):
    assert f"export ASSESSOR=&#34;{app.config['SETTINGS'].base_url}&#34;" in page


def test_every_code_scope_and_operation_stands_on_it(page):
    assert words.ERRORS.keys() == set(ErrorCode.__args__)
    assert tuple(words.SCOPES) == SCOPES
    for name in (*words.ERRORS, *words.SCOPES):
        assert f"<code>{name}</code>" in page
    for declared in DECLARED:
        assert f'id="{declared.name}"' in page


def test_the_code_it_shows_verifies_the_request_it_shows(page):
    head, _, body = blocks_by_id(page)["deliveries-request"].partition("\n\n")
    headers = dict(line.split(": ", 1) for line in head.splitlines()[1:])
    code: dict[str, Any] = {}
    exec(blocks_by_id(page)["deliveries-python"], code)
    sent, secret = int(headers["X-Service-Timestamp"]) / 1000, "put-a-long-random-text-here"
    with time_machine.travel(sent + 299, tick=False):
        assert code["is_genuine"](secret, headers, body.encode())
        assert code["is_genuine"](secret, {name.lower(): value for name, value in headers.items()}, body.encode())
        assert not code["is_genuine"](secret, headers, body.encode() + b" ")
        assert not code["is_genuine"](secret, {}, body.encode())
        assert not code["is_genuine"](secret, {"x-service-signature-v2": "t=é,sha256=é"}, body.encode())
    for seconds in (301, -301):
        with time_machine.travel(sent + seconds, tick=False):
            assert not code["is_genuine"](secret, headers, body.encode())
    found = signing.explain(headers, body.encode(), secret, round(sent * 1000))
    assert [each.code for each in found] == ["V1_OK", "V2_OK"]
    assert json.loads(body).keys() == DeliveryEnvelope.__annotations__.keys()


def test_every_event_of_the_catalogue_is_told_with_its_payload_and_what_raises_it(page):
    assert event_words.RAISED_BY.keys() == EVENTS
    assert GROUPS.keys() == CATALOGUE.keys()
    for name, sentence in event_words.RAISED_BY.items():
        assert str(words.coded(sentence)) in told_of(page, name)
    shown = {name.removeprefix("payload-"): json.loads(text) for name, text in blocks(page, "payload").items()}
    assert shown == PAYLOAD_EXAMPLES


def test_an_event_that_is_still_to_come_says_so(page):
    assert {name for name in EVENTS if "Not sent yet." in told_of(page, name)} == STILL_TO_COME


def test_the_objects_that_payloads_hold_are_told_property_by_property(page):
    held = {name: shape for each in PAYLOADS.values() for name, shape in _objects_in(each).items()}
    assert re.findall(r'<details class="event" id="object-(\w+)">', page) == sorted(held)
    for name, shape in held.items():
        assert f"<code>{name}</code></span></td>" in page, "the payload's table names it"
        told = page.partition(f'id="object-{name}">')[2].partition("</details>")[0]
        for property_name in shape["properties"]:
            assert f"<code>{property_name}</code>" in told, name


def _objects_in(payload):
    return TypeAdapter(payload).json_schema()["$defs"]


def told_of(page, name):
    """What is in sight of one event while its payload is closed."""
    return page.partition(f'<details class="event" id="event-{name}">')[2].partition("</summary>")[0]


def test_the_headers_of_a_delivery_are_those_that_are_sent_and_their_meaning_is_told_once(page, stranger):
    signed, unsigned = (signing.headers("webhook.test", "dlv_1", 1, b"{}", secret) for secret in ("a secret", None))
    document = stranger.get("/api/v2/public/contracts/webhooks.json").get_json()
    told = list(document["components"]["parameters"].values())
    assert [each["name"] for each in told] == list(signed)
    assert [each["name"] for each in told if each["required"]] == list(unsigned)
    for each in told:
        assert f'<code>{each["name"]}</code></th><td class="wrap"><span>{words.coded(each["description"])}' in page


def test_the_links_within_it_lead_somewhere(stranger, page):
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)
    for url in set(re.findall(r'href="(/api/[^"]+)"', page)):
        assert stranger.get(url).status_code == 200


def test_it_has_no_inline_script_or_style(page):
    assert not re.search(r"<script(?![^>]*src=)|<style|style=\"|\son\w+=\"", page)


def test_signed_in_people_read_it_with_their_own_menu(alice):
    page = alice.get("/developers").get_data(as_text=True)
    assert "Alice" in page
    assert "/logout" in page


@pytest.mark.parametrize("declared", DECLARED, ids=lambda declared: declared.name)
def test_the_words_of_operations_come_into_the_catalogues(declared):
    with open(declared.view.__code__.co_filename, "rb") as source:
        found = {message for _, _, message, _ in docstrings.extract(source, [], [], {})}
    assert set(docstrings.paragraphs(declared.view.__doc__)) <= found


def test_a_lazy_sentence_is_no_markup_either(app):
    with app.test_request_context():
        assert words.coded(lazy_gettext("`<b>`")) == "<code>&lt;b&gt;</code>"


def test_a_sentence_s_names_are_set_as_code_and_nothing_else_is_markup():
    assert words.coded("Use `a<b` & <i>this</i>") == ("Use <code>a&lt;b</code> &amp; &lt;i&gt;this&lt;/i&gt;")
