"""The same POST under TLS: the certificate must be the host's, whatever address was connected to."""

from __future__ import annotations

from pathlib import Path

import pytest

from outbound.guarded import Sent, post
from tests.outbound.receivers import Authority, Behaviour, Caller, Receiver, answers, receiver
from tests.outbound.test_guarded import LIMIT, OK, SLACK_MS, drips_headers, never


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


def secured(there: Receiver, authority: Authority, host: str = "receiver.test", limit: float = 5.0) -> Sent:
    return post(
        there.url(host=host, scheme="https"),
        b'{"id":"dlv_1"}',
        {},
        timeout_seconds=limit,
        allow_private=True,
        lookup=lambda _host, _port: ["127.0.0.1"],
        trust=authority.trust(),
    )


def test_the_certificate_is_the_hosts_and_the_connection_the_addresss(authority: Authority) -> None:
    asked: list[str | None] = []
    tls = authority.server("receiver.test")
    tls.sni_callback = lambda _socket, name, _context: asked.append(name)
    with receiver(answers(OK), tls) as there:
        sent = secured(there, authority, "Receiver.test.")
    assert (sent.status, sent.error, sent.answer, sent.address) == (200, None, b"ok", "127.0.0.1")
    assert asked == ["receiver.test"]
    assert b"\r\nHost: receiver.test:%d\r\n" % there.port in there.requests[0]


def test_a_certificate_for_an_address_is_good_for_that_address(authority: Authority) -> None:
    with receiver(answers(OK), authority.server("127.0.0.1")) as there:
        assert secured(there, authority, "127.0.0.1").error is None


@pytest.mark.parametrize(
    ("names", "from_days", "to_days", "error"),
    [
        (("receiver.test",), -20, -1, "TLS_EXPIRED"),
        (("receiver.test",), 1, 20, "TLS_NOT_YET_VALID"),
        (("another.test",), -1, 20, "TLS_WRONG_HOST"),
        (("*.receiver.test",), -1, 20, "TLS_WRONG_HOST"),
        (("127.0.0.1",), -1, 20, "TLS_WRONG_HOST"),
    ],
)
def test_a_certificate_that_does_not_fit_is_named(
    authority: Authority, names: tuple[str, ...], from_days: int, to_days: int, error: str
) -> None:
    with receiver(answers(OK), authority.server(*names, from_days=from_days, to_days=to_days)) as there:
        sent = secured(there, authority)
    assert (sent.status, sent.error, sent.address) == (None, error, "127.0.0.1")
    assert there.requests == []


def test_a_certificate_for_another_address_is_for_another_host(authority: Authority) -> None:
    with receiver(answers(OK), authority.server("127.0.0.9")) as there:
        assert secured(there, authority, "127.0.0.1").error == "TLS_WRONG_HOST"


def test_an_authority_that_nobody_knows_is_not_trusted(authority: Authority, tmp_path: Path) -> None:
    with receiver(answers(OK), Authority(tmp_path).server("receiver.test")) as there:
        assert secured(there, authority).error == "TLS_UNTRUSTED"
    assert there.requests == []


def test_without_a_trust_of_its_own_the_machines_authorities_decide(authority: Authority) -> None:
    with receiver(answers(OK), authority.server("127.0.0.1")) as there:
        sent = post(there.url(scheme="https"), b"{}", {}, timeout_seconds=5, allow_private=True)
    assert sent.error == "TLS_UNTRUSTED"
    assert there.requests == []


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"220 mail.example.com ESMTP\r\n", b""])
def test_a_port_that_speaks_no_tls_is_named(authority: Authority, said: bytes) -> None:
    def speak(caller: Caller) -> None:
        caller.connection.recv(1_000)
        caller.say(said)

    with receiver(speak) as there:
        assert secured(there, authority).error == "TLS_FAILED"


def test_a_handshake_that_does_not_end_is_left_in_time(authority: Authority) -> None:
    with receiver(never) as there:
        sent = secured(there, authority, limit=LIMIT)
    assert sent.error == "TIMEOUT"
    assert sent.milliseconds < LIMIT * 1000 + SLACK_MS


@pytest.mark.parametrize("say", [never, drips_headers])
def test_under_tls_the_limit_of_time_is_the_same(authority: Authority, say: Behaviour) -> None:
    def behave(caller: Caller) -> None:
        caller.read()
        say(caller)

    with receiver(behave, authority.server("receiver.test")) as there:
        sent = secured(there, authority, limit=LIMIT)
    assert sent.error == "TIMEOUT"
    assert sent.milliseconds < LIMIT * 1000 + SLACK_MS


def test_under_tls_a_cut_is_a_cut(authority: Authority) -> None:
    with receiver(answers(b"HTTP/1.1 200 OK\r\nX: y\r\n"), authority.server("receiver.test")) as there:
        assert secured(there, authority).error == "CUT"
