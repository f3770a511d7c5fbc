"""The headers of a delivery (service.md 6.1), and what is wrong with one that a receiver captured."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

EVENT = "X-Service-Event"
DELIVERY = "X-Service-Delivery"
TIMESTAMP = "X-Service-Timestamp"
SIGNATURE = "X-Service-Signature"
SIGNATURE_V2 = "X-Service-Signature-V2"
NAMES = (EVENT, DELIVERY, TIMESTAMP, SIGNATURE_V2, SIGNATURE)

TOLERANCE_MS = 5 * 60_000
FINDING_CODES = frozenset(
    {
        "V1_OK",
        "V2_OK",
        "V1_MISSING",
        "V2_MISSING",
        "V1_SCHEME",  # not `sha256=` and 64 hexadecimal digits
        "V2_SCHEME",  # not `t=<digits>,sha256=` and 64 hexadecimal digits
        "V1_MISMATCH",  # another secret or another body: which of the two cannot be told
        "V2_MISMATCH",
        "BODY_RESERIALISED",  # the signature fits this JSON written another way
        "BODY_WHITESPACE",  # the signature fits this body without, or with other, space at its ends
        "SECRET_WHITESPACE",  # the signature fits the secret without the space around it
        "SECRET_NEEDED",  # signed, and no secret was given to check with
        "UNSIGNED",  # no signature at all: the subscription had no secret, or something took the headers off
        "HEADERS_GONE",  # not one header of a delivery
        "SIGNED_AS_SENT",  # the signature fits the body that was sent, and not this one
        "SECRET_DIFFERS",  # the signature does not fit the body that was sent: another secret, or one before a rotation
        "ATTEMPTS_MIXED",  # the headers of one attempt and the body of another
        "TIMESTAMP_MISSING",
        "TIMESTAMP_SCHEME",
        "TIMESTAMP_ALTERED",  # the header is not the time that V2 signed
        "TIMESTAMP_DIFFERS_FROM_BODY",
        "TIMESTAMP_OLD",
        "TIMESTAMP_AHEAD",  # a clock is wrong
        "DELIVERY_DIFFERS_FROM_BODY",
        "EVENT_DIFFERS_FROM_BODY",
        "BODY_NOT_JSON",
        # What the bytes that were sent say, where the delivery is known and no signature fits the body.
        "BODY_AS_SENT",
        "BODY_SPACED",  # as it was sent, but for the space at its ends
        "BODY_REWRITTEN",  # the same JSON, but other bytes
        "BODY_CHANGED",
    }
)
_GOOD = frozenset({"V1_OK", "V2_OK", "SIGNED_AS_SENT", "BODY_AS_SENT"})
_MISMATCHES = frozenset({"V1_MISMATCH", "V2_MISMATCH"})
_UNFIT = _MISMATCHES | {"V1_MISSING", "V2_MISSING", "V1_SCHEME", "V2_SCHEME", "SECRET_NEEDED", "UNSIGNED"}
_V1 = re.compile(r"sha256=([0-9a-fA-F]{64})")
_V2 = re.compile(r"t=([0-9]{1,16}),sha256=([0-9a-fA-F]{64})")
_DIGITS = re.compile(r"[0-9]{1,16}")
# The exact body of one delivery as it goes out at a time (epoch ms).
AsSent = Callable[[int], bytes]


def headers(event: str, delivery_id: str, timestamp_ms: int, body: bytes, secret: str | None) -> dict[str, str]:
    """The `X-Service-` headers of one attempt; without a secret neither signature is among them (service.md 6.1)."""
    named = {EVENT: event, DELIVERY: delivery_id, TIMESTAMP: str(timestamp_ms)}
    if not secret:
        return named
    key = secret.encode()
    return named | {
        SIGNATURE: f"sha256={_v1(key, body)}",
        SIGNATURE_V2: f"t={timestamp_ms},sha256={_v2(key, str(timestamp_ms), body)}",
    }


def _v1(key: bytes, body: bytes) -> str:
    return hmac.digest(key, body, "sha256").hex()


def _v2(key: bytes, timestamp: str, body: bytes) -> str:
    return hmac.digest(key, timestamp.encode() + b"." + body, "sha256").hex()


@dataclass(frozen=True)
class Finding:
    """One thing seen in a captured request: a code of `FINDING_CODES`, and the values its sentence needs."""

    code: str
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_good(self) -> bool:
        return self.code in _GOOD


def explain(
    captured: Mapping[str, str],
    body: bytes,
    secret: str | None,
    now_ms: int,
    tolerance_ms: int = TOLERANCE_MS,
    find: Callable[[str], AsSent | None] = lambda _delivery_id: None,
) -> list[Finding]:
    """What a receiver should know of a request it captured: signatures first, then body, names and times.

    `captured` has the header names in any case. Old is older than `tolerance_ms` at `now_ms`, by the time signed in V2,
    else by the body's, else by the header's, since V1 does not cover the header (service.md 6.1). `find` knows what is
    sent for a delivery id, which may be any text; with it a body that was changed is told from another secret.
    """
    given = {name.strip().lower(): value.strip() for name, value in captured.items()}
    seen = {name.lower(): given[name.lower()] for name in NAMES if given.get(name.lower())}
    envelope = _envelope(body)
    sent = _sent(seen, envelope or {}, find)
    on_signatures = _on_signatures(seen, body, secret)
    is_unfit = all(each.code in _UNFIT for each in on_signatures)
    return [
        *(_told_apart(on_signatures, seen, body, secret, sent) if seen else [Finding("HEADERS_GONE")]),
        *_on_body(body, envelope, sent if is_unfit else []),
        *_on_names(seen, envelope or {}),
        *(_on_times(seen, envelope or {}, now_ms, tolerance_ms) if seen else []),
    ]


def _envelope(body: bytes) -> dict[str, Any] | None:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def _on_signatures(seen: Mapping[str, str], body: bytes, secret: str | None) -> list[Finding]:
    v1, v2 = seen.get(SIGNATURE.lower()), seen.get(SIGNATURE_V2.lower())
    if v1 is None and v2 is None:
        return [Finding("UNSIGNED")]
    if not secret:
        return [Finding("SECRET_NEEDED")]
    return _on_v1(v1, body, secret) + _on_v2(v2, body, secret)


def _on_v1(value: str | None, body: bytes, secret: str) -> list[Finding]:
    if value is None:
        return [Finding("V1_MISSING")]
    parts = _V1.fullmatch(value)
    if parts is None:
        return [Finding("V1_SCHEME", {"value": _shown(value)})]
    return _fits("V1", parts[1].lower(), None, body, secret)


def _on_v2(value: str | None, body: bytes, secret: str) -> list[Finding]:
    if value is None:
        return [Finding("V2_MISSING")]
    parts = _V2.fullmatch(value)
    if parts is None:
        return [Finding("V2_SCHEME", {"value": _shown(value)})]
    return _fits("V2", parts[2].lower(), parts[1], body, secret)


def _fits(version: str, digest: str, timestamp: str | None, body: bytes, secret: str) -> list[Finding]:
    """OK, or the one change that would make it fit, or a mismatch that nothing explains."""
    for reason, secret_tried, body_tried in _tries(body, secret):
        key = secret_tried.encode("utf-8", "surrogatepass")
        expected = _v1(key, body_tried) if timestamp is None else _v2(key, timestamp, body_tried)
        if hmac.compare_digest(expected, digest):
            return [Finding(reason or f"{version}_OK", {"version": version} if reason else {})]
    return [Finding(f"{version}_MISMATCH")]


def _tries(body: bytes, secret: str) -> Iterator[tuple[str, str, bytes]]:
    yield "", secret, body
    yield "SECRET_WHITESPACE", secret.strip(), body
    stripped = body.strip()
    for variant in (stripped, stripped + b"\n", stripped.replace(b"\r\n", b"\n")):
        yield "BODY_WHITESPACE", secret, variant
    for variant in _rewritten(body):
        yield "BODY_RESERIALISED", secret, variant


def _rewritten(body: bytes) -> Iterator[bytes]:
    """The same JSON as the common writers would write it."""
    try:
        parsed = json.loads(body)
        for separators in ((",", ":"), (", ", ": ")):
            for ascii_only in (False, True):
                yield json.dumps(parsed, separators=separators, ensure_ascii=ascii_only).encode()
    except (ValueError, RecursionError):  # not JSON, too deep, or a lone surrogate that has no bytes
        return


def _sent(seen: Mapping[str, str], envelope: Mapping[str, Any], find: Callable[[str], AsSent | None]) -> list[bytes]:
    """What was sent at each of the times that the request tells; nothing where it names no delivery that is known."""
    named = (each for each in (envelope.get("id"), seen.get(DELIVERY.lower())) if isinstance(each, str))
    as_sent = next(filter(None, map(find, named)), None)
    times = (_written_time(envelope), _signed_time(seen), _header_time(seen))
    return [as_sent(time) for time in dict.fromkeys(times) if time is not None] if as_sent else []


def _told_apart(
    found: list[Finding], seen: Mapping[str, str], body: bytes, secret: str | None, sent: list[bytes]
) -> list[Finding]:
    """Instead of a mismatch what the bytes that were sent say of it, where the delivery is known."""
    codes = {each.code for each in found}
    if not sent or not codes & _MISMATCHES or codes - _UNFIT:
        return found
    others = [each for each in found if each.code not in _MISMATCHES]
    if any(each.is_good for version in sent for each in _on_signatures(seen, version, secret)):
        return [*others, Finding("ATTEMPTS_MIXED" if body in sent else "SIGNED_AS_SENT")]
    if len(sent) > 1:  # the time was altered, perhaps: then the secret may be right
        return found
    return [*others, Finding("SECRET_DIFFERS")]


def _on_body(body: bytes, envelope: Mapping[str, Any] | None, sent: list[bytes]) -> list[Finding]:
    if body in sent:
        return [Finding("BODY_AS_SENT")]
    if body.strip() in sent:
        return [Finding("BODY_SPACED")]
    if envelope is not None and any(_envelope(version) == envelope for version in sent):
        return [Finding("BODY_REWRITTEN")]
    return [
        *([Finding("BODY_CHANGED")] if sent and body.strip() else []),
        *([] if envelope is not None else [Finding("BODY_NOT_JSON")]),
    ]


def _on_names(seen: Mapping[str, str], envelope: Mapping[str, Any]) -> list[Finding]:
    pairs = ((DELIVERY, "id", "DELIVERY_DIFFERS_FROM_BODY"), (EVENT, "event", "EVENT_DIFFERS_FROM_BODY"))
    return [
        Finding(code, {"header": _shown(seen[name.lower()]), "body": _shown(envelope[key])})
        for name, key, code in pairs
        if name.lower() in seen and key in envelope and seen[name.lower()] != envelope[key]
    ]


def _shown(value: object) -> str:
    """The beginning of what was pasted; a lone surrogate, which no page can hold, is a question mark."""
    return str(value)[:200].encode(errors="replace").decode()


def _on_times(seen: Mapping[str, str], envelope: Mapping[str, Any], now_ms: int, tolerance_ms: int) -> list[Finding]:
    header, signed, written = _header_time(seen), _signed_time(seen), _written_time(envelope)
    findings = []
    if header is None:
        findings.append(Finding("TIMESTAMP_SCHEME" if TIMESTAMP.lower() in seen else "TIMESTAMP_MISSING"))
    elif signed is not None and header != signed:
        findings.append(Finding("TIMESTAMP_ALTERED", {"header": header, "signed": signed}))
    elif written is not None and header != written:
        findings.append(Finding("TIMESTAMP_DIFFERS_FROM_BODY", {"header": header, "body": written}))
    trusted = next((time for time in (signed, written, header) if time is not None), None)
    return findings + ([] if trusted is None else _on_age(now_ms - trusted, tolerance_ms))


def _header_time(seen: Mapping[str, str]) -> int | None:
    value = seen.get(TIMESTAMP.lower(), "")
    return int(value) if _DIGITS.fullmatch(value) else None


def _signed_time(seen: Mapping[str, str]) -> int | None:
    parts = _V2.fullmatch(seen.get(SIGNATURE_V2.lower(), ""))
    return None if parts is None else int(parts[1])


def _written_time(envelope: Mapping[str, Any]) -> int | None:
    value = envelope.get("timestamp")
    is_time = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**16
    return value if is_time else None


def _on_age(age_ms: int, tolerance_ms: int) -> list[Finding]:
    if abs(age_ms) <= tolerance_ms:
        return []
    code = "TIMESTAMP_OLD" if age_ms > 0 else "TIMESTAMP_AHEAD"
    return [Finding(code, {"age_seconds": abs(age_ms) // 1000, "tolerance_seconds": tolerance_ms // 1000})]
