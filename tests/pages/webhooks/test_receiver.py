"""The receiver kit: its code in four languages tells a delivery from everything else, and its checker says why."""

from __future__ import annotations

import html
import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from blueprints.admin.webhooks import receiver as kit
from core import clock
from domain.events.delivery import record
from outbound import signing
from tests.jobs import hooks
from tests.jobs.hooks import SECRET
from tests.pages.form import send
from tests.pages.webhooks.rows import USUAL, at, visible
from tests.world import World

FIVE_MINUTES = 5 * clock.MINUTE_MS
NODE = """
const cases = JSON.parse(require("node:fs").readFileSync(0));
console.log(JSON.stringify(cases.map((each) =>
  isGenuine(each.secret, each.signature === null ? {} : { "x-service-signature-v2": each.signature },
    Buffer.from(each.body), each.now ?? undefined))));
"""
PHP = """
echo json_encode(array_map(
    fn ($each) => is_genuine($each['secret'], $each['signature'] ?? '', $each['body'], $each['now']),
    json_decode(stream_get_contents(STDIN), true)));
"""
GO = """package main

import (
	"encoding/json"
	"os"
	"time"

	"kit/receiver"
)

func main() {
	var cases []struct {
		Secret, Signature, Body string
		Now                     *int64
	}
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	said := []bool{}
	for _, each := range cases {
		now := time.Now()
		if each.Now != nil {
			now = time.UnixMilli(*each.Now)
		}
		said = append(said, receiver.IsGenuine(each.Secret, each.Signature, []byte(each.Body), now))
	}
	json.NewEncoder(os.Stdout).Encode(said)
}
"""


@dataclass(frozen=True)
class Case:
    """What a receiver gets, the time it takes for the present (None asks its clock), and whether it is genuine."""

    name: str
    secret: str
    signature: str | None
    body: str
    now: int | None
    is_genuine: bool


def cases() -> list[Case]:
    """The kit's own vector and a delivery of this moment, as they came and as they never came."""
    vector, fresh = kit.vector("acc_1", "webhook.test"), '{"note":"é"}'
    signature, moment = vector.headers[signing.SIGNATURE_V2], kit.EXAMPLE_AT
    of_now = signing.headers("webhook.test", "dlv_1", clock.now_ms(), fresh.encode(), SECRET)[signing.SIGNATURE_V2]
    digest = signature.partition("sha256=")[2]

    def vectors(name: str, is_genuine: bool = False, **changes: Any) -> Case:
        asked = {"secret": vector.secret, "signature": signature, "body": vector.body, "now": moment, **changes}
        return Case(name, is_genuine=is_genuine, **asked)

    return [
        Case("sent this moment", SECRET, of_now, fresh, None, True),
        vectors("as it came", True),
        vectors("five minutes late", True, now=moment + FIVE_MINUTES),
        vectors("too late", now=moment + FIVE_MINUTES + 1),
        vectors("too early", now=moment - FIVE_MINUTES - 1),
        vectors("long ago by the receiver's own clock", now=None),
        vectors("another secret", secret=vector.secret + "x"),
        vectors("no secret", secret=""),
        vectors("a body with a space more", body=vector.body + " "),
        vectors("a body with another value", body=vector.body.replace("quotes", "quoted")),
        vectors("no body", body=""),
        vectors("a later time put in", signature=f"t={moment + 1},sha256={digest}"),
        vectors("the digest of another", signature=f"t={moment},sha256={'0' * 64}"),
        vectors("the first version's signature", signature=vector.headers[signing.SIGNATURE]),
        vectors("unsigned", signature=None),
        *(
            vectors(f"signed with {text!r}", signature=text)
            for text in (
                "",
                "t",
                "t=,sha256=",
                "t=x,sha256=é",
                "t=1,sha256=00",
                f"t=-1,sha256={digest}",
                signature + "\n",
            )
        ),
    ]


def by_python(asked: str, _folder: Path, _cache: Path) -> list[bool]:
    code: dict[str, Any] = {}
    exec(kit.sample("python"), code)
    return [
        code["is_genuine"](
            each["secret"],
            {} if each["signature"] is None else {"x-service-signature-v2": each["signature"]},
            each["body"].encode(),
            each["now"],
        )
        for each in json.loads(asked)
    ]


def by_node(asked: str, _folder: Path, _cache: Path) -> Any:
    return json.loads(run(["node", "-e", kit.sample("node") + NODE], asked))


def by_php(asked: str, _folder: Path, _cache: Path) -> Any:
    return json.loads(run(["php", "-r", kit.sample("php").removeprefix("<?php") + PHP], asked))


def by_go(asked: str, folder: Path, cache: Path) -> Any:
    """The build cache is kept from run to run: filling it is what takes its time."""
    (folder / "receiver").mkdir()
    (folder / "go.mod").write_text("module kit\n\ngo 1.17\n")
    (folder / "main.go").write_text(GO)
    (folder / "receiver" / "receiver.go").write_text(kit.sample("go"))
    alone = {"GOCACHE": str(cache), "GOPATH": str(folder / "path"), "GOPROXY": "off", "GOTOOLCHAIN": "local"}
    return json.loads(run(["go", "run", "."], asked, cwd=folder, env={**os.environ, **alone}))


def run(command: list[str], asked: str, **more: Any) -> str:
    """What the program prints when it is asked; what it complains of fails the test."""
    done = subprocess.run(command, input=asked, capture_output=True, text=True, encoding="utf-8", timeout=300, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


ASKED = (by_python, by_node, by_php, by_go)


@pytest.mark.parametrize("ask", ASKED)
def test_the_code_of_the_kit_takes_what_is_genuine_and_nothing_else(
    ask: Callable[[str, Path, Path], list[bool]], tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    wanted = cases()
    said = ask(json.dumps([vars(each) for each in wanted]), tmp_path, pytestconfig.cache.mkdir("go-build"))
    wrong = [each.name for each, one in zip(wanted, said, strict=True) if one is not each.is_genuine]
    assert not wrong


def test_every_language_of_the_kit_is_tried() -> None:
    assert {f"by_{key}" for key in kit.LANGUAGES} == {each.__name__ for each in ASKED}


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
    assert "No X-Service- header with a value" in send(alice, here, **{**good, "headers": "Host: example.com"}).text
    kept = send(alice, here, **{**good, "body": "<b>no JSON</b>"}).text
    assert "The body is not JSON." in kept and "&lt;b&gt;no JSON&lt;/b&gt;" in kept
    nothing = send(alice, here, headers="", body="", secret="")
    assert nothing.status_code == 400 and "Paste the headers and the body" in nothing.text


def test_headers_that_cannot_be_read_are_not_taken_for_an_unsigned_request(alice: FlaskClient, world: World) -> None:
    page = send(alice, at(world, "receiver"), **captured(world, headers="what our firewall <b>wrote</b>"))
    assert page.status_code == 400 and "what our firewall &lt;b&gt;wrote&lt;/b&gt;" in page.text
    assert "No header could be read. Paste one in a line, name: value." in visible(page.text)
    assert 'id="field-headers-error"' in page.text and "has no signature" not in page.text and SECRET not in page.text


def test_a_whole_request_in_the_first_field_is_checked_and_kept_as_it_was_pasted(
    alice: FlaskClient, world: World
) -> None:
    good = captured(world)
    whole = f"POST /in HTTP/1.1\r\nHost: example.com\r\n{good['headers']}\r\n\r\n{good['body']}"
    page = send(alice, at(world, "receiver"), headers=whole, body="", secret=SECRET)
    assert page.text.count('tone-success">Good') == 2 and ">Wrong<" not in page.text
    assert "The body was read from after the blank line." in page.text
    assert whole.replace("\r\n", "\n") in html.unescape(page.text)


def test_a_body_that_begins_with_a_line_break_is_checked_again_as_it_was_pasted(
    alice: FlaskClient, world: World
) -> None:
    good = captured(world)
    spaced = {**good, "body": f"\r\n{good['body']}"}
    page = send(alice, at(world, "receiver"), **spaced).text
    assert "fits the body with other space at its ends" in visible(page)
    # A browser takes no line break that follows the tag for a part of the text.
    written = page.partition('<textarea class="form-control" id="field-body"')[2].partition("</textarea>")[0]
    shown = html.unescape(written.partition(">")[2]).replace("\r\n", "\n").removeprefix("\n")
    assert shown == f"\n{good['body']}"


@pytest.fixture
def sent(world: World) -> dict[str, str]:
    """A delivery of Acme as its receiver got it; its keys do not stand in the order of the alphabet."""
    hooks.subscribe(world, USUAL)
    hooks.happen(world, zeal="é", amount=1)
    delivery, now = hooks.rows()[0], clock.now_ms()
    body = record.body(delivery.id, delivery.event_id, delivery.event, delivery.account_id, now, delivery.payload)
    headers = signing.headers(delivery.event, delivery.id, now, body, SECRET)
    return {"headers": json.dumps(headers), "body": body.decode(), "secret": SECRET}


def test_a_body_that_was_sorted_on_the_way_is_known_by_the_delivery(
    alice: FlaskClient, world: World, sent: dict[str, str]
) -> None:
    here, sorted_body = at(world, "receiver"), json.dumps(json.loads(sent["body"]), sort_keys=True)
    found = visible(send(alice, here, **{**sent, "body": sorted_body}).text)
    assert "it was parsed and written again" in found and "does not fit" not in found
    found = visible(send(alice, here, **{**sent, "secret": "the secret before the rotation"}).text)
    assert "it was rotated in the meantime" in found and "The body is the one that was sent" in found
    found = visible(send(alice, here, **sent).text)
    assert "Signature V1 fits." in found and "byte for byte" not in found


def test_nobody_learns_of_the_deliveries_of_another_account(
    charlie: FlaskClient, world: World, sent: dict[str, str]
) -> None:
    here = f"/accounts/{world.other_account_id}/webhooks/receiver"
    found = visible(send(charlie, here, **{**sent, "secret": "another secret altogether"}).text)
    assert "Signature V1 does not fit" in found and "that was sent" not in found


LARGEST = kit.LONGEST_CAPTURED - len(SECRET)
GARBAGE = (
    "\0" * 1000, "X-Service-Delivery: dlv_\0\n" * 100, "X-Service-Delivery: " + "é" * 26, "x: y\n" * 50_000,
    "\n" * LARGEST, "[" * LARGEST, '{"id":' * 9_999, "X-Service-Event: a\n" * 10_000, "\\u003d\\ud800" * 9_999,
    '{"id": "\\ud800", "timestamp": 1e999}', '{"id": "dlv_00000000000000000000000000", "timestamp": -1}',
    json.dumps({"id": "7" * 4_000, "timestamp": 10**4_000}),
)  # fmt: skip


@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
def test_whatever_is_pasted_gets_its_page(alice: FlaskClient, world: World, garbage: str) -> None:
    good = captured(world)
    for fields in (
        {"headers": garbage, "body": "", "secret": SECRET},
        {"headers": "", "body": garbage, "secret": SECRET},
        {**good, "body": garbage[:9_000]},
        {**good, "secret": garbage[:9_000]},
    ):
        assert send(alice, at(world, "receiver"), **fields).status_code in (200, 400)


@pytest.mark.parametrize("field", ["headers", "body", "secret"])
def test_what_is_too_long_is_said_where_it_stands(alice: FlaskClient, world: World, field: str) -> None:
    page = send(alice, at(world, "receiver"), **captured(world, **{field: "x" * (kit.LONGEST_CAPTURED + 1)}))
    assert page.status_code == 400 and page.text.count("Paste one request alone.") == 1
    assert f'id="field-{field}-error"' in page.text
