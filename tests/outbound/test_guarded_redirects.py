"""Answers that point elsewhere: nobody goes there, and where it would have led is kept to be read."""

from __future__ import annotations

import pytest

from tests.outbound.receivers import Caller, answers, receiver
from tests.outbound.test_guarded import ALL_THE_TIME_MS, after_reading, send, sent_to


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308])
@pytest.mark.parametrize("location", ["http://169.254.169.254/latest/meta-data/", "/elsewhere"])
def test_a_redirect_is_a_failure_and_is_not_followed(status: int, location: str) -> None:
    with receiver(answers(b"HTTP/1.1 %d Go\r\nLocation: %s\r\n\r\nbody" % (status, location.encode()))) as there:
        sent = send(there.url())
    assert (sent.status, sent.error, sent.answer) == (status, "REDIRECT", b"")
    assert sent.location == location
    assert there.connections == 1


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (b"/caf\xc3\xa9", "/caf\u00e9"),
        (b"/\xff", "/\ufffd"),
        (b"/a\x00b\x1bc\x7fd", "/a\u2400b\u241bc\u2421d"),
        ("/\u202efdp".encode(), "/\ufffdfdp"),
        (b"/" + b"a" * 5_000, "/" + "a" * 1_999),
        (b"", None),
    ],
)
def test_where_a_redirect_would_have_led_is_text_that_can_be_seen(written: bytes, kept: str | None) -> None:
    sent = sent_to(answers(b"HTTP/1.1 302 Go\r\nLocation: " + written + b"\r\n\r\n"))
    assert (sent.error, sent.location) == ("REDIRECT", kept)


def test_only_a_redirect_leads_somewhere() -> None:
    assert sent_to(answers(b"HTTP/1.1 201 Made\r\nLocation: /made\r\nContent-Length: 0\r\n\r\n")).location is None


def test_the_body_of_a_redirect_is_not_read() -> None:
    def flood(caller: Caller) -> None:
        caller.say(b"HTTP/1.1 307 Go\r\nLocation: /\r\n\r\n")
        caller.without_end(b"a" * 65_536)

    sent = sent_to(after_reading(flood))
    assert sent.error == "REDIRECT"
    assert sent.milliseconds < ALL_THE_TIME_MS
