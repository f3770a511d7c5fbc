"""Signatures over the exact bytes, checked by code of the test's own; and what a captured request is told."""

from __future__ import annotations

import hashlib
import json

import pytest

from outbound import signing
from outbound.signing import FINDING_CODES, explain, headers

SECRET = "correct horse battery staple é"
NOW = 1_790_000_000_000
BODY = json.dumps(
    {"id": "dlv_1", "eventId": "evt_1", "event": "participant.joined", "timestamp": NOW, "payload": {"name": "Zoë"}},
    separators=(",", ":"),
    ensure_ascii=False,
).encode()


def hmac_by_hand(key: bytes, message: bytes) -> str:
    """RFC 2104, without the standard library's module."""
    block = (hashlib.sha256(key).digest() if len(key) > 64 else key).ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in block) + message).digest()
    return hashlib.sha256(bytes(byte ^ 0x5C for byte in block) + inner).hexdigest()


def signed(**changes: str) -> dict[str, str]:
    """What a receiver captured, in lower case as many frameworks give it."""
    sent = headers("participant.joined", "dlv_1", NOW, BODY, SECRET)
    return {name.lower(): value for name, value in sent.items()} | changes


def codes(captured: dict[str, str], body: bytes = BODY, secret: str | None = SECRET, now: int = NOW) -> list[str]:
    found = explain(captured, body, secret, now)
    assert {finding.code for finding in found} <= FINDING_CODES
    return [finding.code for finding in found]


@pytest.mark.parametrize("secret", ["a secret of sixteen", "clé ✓ 秘密 secret", "s" * 256])
def test_both_signatures_cover_the_exact_bytes(secret: str) -> None:
    sent = headers("campaign.created", "dlv_9", NOW, BODY, secret)
    assert sent == {
        "X-Service-Event": "campaign.created",
        "X-Service-Delivery": "dlv_9",
        "X-Service-Timestamp": str(NOW),
        "X-Service-Signature": "sha256=" + hmac_by_hand(secret.encode(), BODY),
        "X-Service-Signature-V2": f"t={NOW},sha256=" + hmac_by_hand(secret.encode(), f"{NOW}.".encode() + BODY),
    }


def test_the_signature_of_a_known_vector() -> None:
    sent = headers("webhook.test", "dlv_1", 1, b"what do ya want for nothing?", "Jefe")
    assert sent["X-Service-Signature"] == (
        "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"  # RFC 4231, case 2
    )


@pytest.mark.parametrize("secret", [None, ""])
def test_without_a_secret_there_is_no_signature(secret: str | None) -> None:
    assert set(headers("webhook.test", "dlv_1", NOW, BODY, secret)) == {
        "X-Service-Event",
        "X-Service-Delivery",
        "X-Service-Timestamp",
    }


def test_a_request_as_it_was_sent_is_found_right() -> None:
    found = explain(signed(), BODY, SECRET, NOW)
    assert [finding.code for finding in found] == ["V1_OK", "V2_OK"]
    assert all(finding.is_good for finding in found)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"x-service-signature": "sha1=abc"}, ["V1_SCHEME", "V2_OK"]),
        ({"x-service-signature": "0" * 64}, ["V1_SCHEME", "V2_OK"]),
        ({"x-service-signature-v2": "v1=" + "0" * 64}, ["V1_OK", "V2_SCHEME"]),
        ({"x-service-signature": "sha256=" + "0" * 64}, ["V1_MISMATCH", "V2_OK"]),
        ({"x-service-timestamp": str(NOW + 1)}, ["V1_OK", "V2_OK", "TIMESTAMP_ALTERED"]),
        ({"x-service-timestamp": "yesterday"}, ["V1_OK", "V2_OK", "TIMESTAMP_SCHEME"]),
        ({"x-service-delivery": "dlv_2"}, ["V1_OK", "V2_OK", "DELIVERY_DIFFERS_FROM_BODY"]),
        ({"x-service-event": "campaign.created"}, ["V1_OK", "V2_OK", "EVENT_DIFFERS_FROM_BODY"]),
    ],
)
def test_one_header_that_was_changed_is_named(changes: dict[str, str], expected: list[str]) -> None:
    assert codes(signed(**changes)) == expected


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        (("x-service-signature",), ["V1_MISSING", "V2_OK"]),
        (("x-service-signature-v2",), ["V1_OK", "V2_MISSING"]),
        (("x-service-signature", "x-service-signature-v2"), ["UNSIGNED"]),
        (("x-service-timestamp",), ["V1_OK", "V2_OK", "TIMESTAMP_MISSING"]),
    ],
)
def test_one_header_that_is_gone_is_named(gone: tuple[str, ...], expected: list[str]) -> None:
    assert codes({name: value for name, value in signed().items() if name not in gone}) == expected


def test_a_v2_whose_time_was_moved_forward_no_longer_fits() -> None:
    later = signed()["x-service-signature-v2"].replace(str(NOW), str(NOW + 60_000))
    captured = signed(**{"x-service-signature-v2": later, "x-service-timestamp": str(NOW + 60_000)})
    assert codes(captured) == ["V1_OK", "V2_MISMATCH", "TIMESTAMP_DIFFERS_FROM_BODY"]


def test_another_secret_or_another_body_cannot_be_told_apart() -> None:
    assert codes(signed(), secret="another secret altogether") == ["V1_MISMATCH", "V2_MISMATCH"]
    assert codes(signed(), body=BODY.replace(b"evt_1", b"evt_2")) == ["V1_MISMATCH", "V2_MISMATCH"]


@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":")])
def test_a_body_that_a_framework_wrote_anew_is_recognised(separators: tuple[str, str]) -> None:
    body = json.dumps(json.loads(BODY), separators=separators).encode()
    assert codes(signed(), body=body) == ["BODY_RESERIALISED", "BODY_RESERIALISED"]


def test_space_that_pasting_added_is_recognised() -> None:
    assert codes(signed(), body=BODY + b"\r\n") == ["BODY_WHITESPACE", "BODY_WHITESPACE"]
    assert codes(signed(), secret=f" {SECRET}\n") == ["SECRET_WHITESPACE", "SECRET_WHITESPACE"]


def test_without_the_secret_a_signed_request_cannot_be_checked() -> None:
    assert codes(signed(), secret=None) == ["SECRET_NEEDED"]


@pytest.mark.parametrize(
    ("later_ms", "expected"),
    [(300_000, []), (300_001, ["TIMESTAMP_OLD"]), (-300_000, []), (-300_001, ["TIMESTAMP_AHEAD"])],
)
def test_five_minutes_is_the_tolerance_both_ways(later_ms: int, expected: list[str]) -> None:
    assert codes(signed(), now=NOW + later_ms) == ["V1_OK", "V2_OK", *expected]


def test_under_v1_alone_the_age_is_read_from_the_body() -> None:
    captured = signed(**{"x-service-timestamp": str(NOW + 600_000)})
    del captured["x-service-signature-v2"]
    found = codes(captured, now=NOW + 600_000)
    assert found == ["V1_OK", "V2_MISSING", "TIMESTAMP_DIFFERS_FROM_BODY", "TIMESTAMP_OLD"]


LATER = NOW + 60_000


def sent_at(time: int) -> bytes:
    return BODY.replace(str(NOW).encode(), str(time).encode())


def known(delivery_id: str) -> signing.AsSent | None:
    """Whoever asks knows what is sent for one delivery."""
    return sent_at if delivery_id == "dlv_1" else None


def codes_of_known(captured: dict[str, str], body: bytes, secret: str | None = SECRET) -> list[str]:
    found = explain(captured, body, secret, NOW, find=known)
    assert {finding.code for finding in found} <= FINDING_CODES
    return [finding.code for finding in found]


SORTED = json.dumps(json.loads(BODY), sort_keys=True).encode()
FLOATING = BODY.replace(str(NOW).encode(), b"1.79e12")


@pytest.mark.parametrize("body", [SORTED, FLOATING])
def test_a_body_that_was_written_anew_is_told_by_the_bytes_that_were_sent(body: bytes) -> None:
    assert codes_of_known(signed(), body) == ["SIGNED_AS_SENT", "BODY_REWRITTEN"]
    assert codes_of_known(signed(), body, None) == ["SECRET_NEEDED", "BODY_REWRITTEN"]
    assert codes_of_known(signed(), body, "another secret altogether") == ["SECRET_DIFFERS", "BODY_REWRITTEN"]
    assert codes(signed(), body) == ["V1_MISMATCH", "V2_MISMATCH"]


@pytest.mark.parametrize(
    ("body", "also"), [(BODY.replace(b"Zo", b"Jo"), []), (BODY[:-9], ["BODY_NOT_JSON"]), (b"[" * 9, ["BODY_NOT_JSON"])]
)
def test_a_body_that_says_something_else_is_told_so(body: bytes, also: list[str]) -> None:
    assert codes_of_known(signed(), body) == ["SIGNED_AS_SENT", "BODY_CHANGED", *also]


def test_where_the_body_is_as_it_was_sent_the_secret_is_another() -> None:
    assert codes_of_known(signed(), BODY, "another secret altogether") == ["SECRET_DIFFERS", "BODY_AS_SENT"]
    assert codes_of_known(signed(), BODY + b"\n", "another secret altogether") == ["SECRET_DIFFERS", "BODY_SPACED"]
    assert codes_of_known(signed(), BODY, None) == ["SECRET_NEEDED", "BODY_AS_SENT"]


def test_what_fits_needs_no_comparison_and_space_is_still_named() -> None:
    assert codes_of_known(signed(), BODY) == ["V1_OK", "V2_OK"]
    assert codes_of_known(signed(), BODY + b"\n") == ["BODY_WHITESPACE", "BODY_WHITESPACE"]
    assert codes_of_known(signed(**{"x-service-signature": "sha256=" + "0" * 64}), BODY) == ["V1_MISMATCH", "V2_OK"]


def test_a_header_that_was_written_wrongly_stays_named_beside_the_body() -> None:
    captured = signed(**{"x-service-signature": "sha1=abc"})
    assert codes_of_known(captured, SORTED) == ["V1_SCHEME", "SIGNED_AS_SENT", "BODY_REWRITTEN"]


def test_headers_and_body_of_two_attempts_are_told_so() -> None:
    second = headers("participant.joined", "dlv_1", LATER, sent_at(LATER), SECRET)
    assert codes_of_known(second, BODY) == ["ATTEMPTS_MIXED", "BODY_AS_SENT", "TIMESTAMP_DIFFERS_FROM_BODY"]


def test_an_altered_time_is_not_laid_on_the_secret() -> None:
    moved = signed()["x-service-signature-v2"].replace(str(NOW), str(LATER))
    captured = {"x-service-delivery": "dlv_1", "x-service-timestamp": str(LATER), "x-service-signature-v2": moved}
    found = codes_of_known(captured, BODY)
    assert found == ["V1_MISSING", "V2_MISMATCH", "BODY_AS_SENT", "TIMESTAMP_DIFFERS_FROM_BODY"]


def test_the_delivery_is_known_by_the_header_where_the_body_names_none() -> None:
    assert codes_of_known(signed(), b"") == ["SIGNED_AS_SENT", "BODY_NOT_JSON"]
    assert codes_of_known(signed(), BODY[:-9]) == ["SIGNED_AS_SENT", "BODY_CHANGED", "BODY_NOT_JSON"]
    assert codes_of_known(signed(**{"x-service-delivery": "dlv_2"}), BODY[:-9]) == [
        "V1_MISMATCH", "V2_MISMATCH", "BODY_NOT_JSON",
    ]  # fmt: skip


@pytest.mark.parametrize("captured", [{}, {"host": "example.com"}, {"x-service-event": " "}])
def test_without_one_header_of_a_delivery_nothing_is_said_of_signatures(captured: dict[str, str]) -> None:
    assert codes(captured) == ["HEADERS_GONE"]
    assert codes_of_known(captured, BODY) == ["HEADERS_GONE", "BODY_AS_SENT"]


@pytest.mark.parametrize(
    "body", [b"", b"\xff\xfe", b"[]", b"null", b"[" * 100_000, b"1" * 5_000, b'{"timestamp": true}']
)
def test_whatever_was_pasted_is_answered(body: bytes) -> None:
    found = codes(headers("webhook.test", "dlv_1", NOW, body, SECRET), body=body)
    assert found[:2] == ["V1_OK", "V2_OK"]
    assert ("BODY_NOT_JSON" in found) == (not body.startswith(b"{"))


@pytest.mark.parametrize("time", [-1, 10**16, 1.5, True, "1790000000000", None])
def test_a_time_that_is_none_is_not_measured(time: object) -> None:
    body = json.dumps({"timestamp": time}).encode()
    captured = headers("webhook.test", "dlv_1", NOW, body, SECRET)
    del captured[signing.SIGNATURE_V2], captured[signing.TIMESTAMP]
    assert codes(captured, body=body) == ["V1_OK", "V2_MISSING", "TIMESTAMP_MISSING"]


def test_a_secret_that_has_no_utf8_form_is_a_mismatch_not_a_crash() -> None:
    assert codes(signed(), secret="\ud800" * 16) == ["V1_MISMATCH", "V2_MISMATCH"]


def test_header_names_are_the_ones_of_the_reference() -> None:
    assert signing.SIGNATURE_V2 == "X-Service-Signature-V2"
