"""One POST, to receivers that do what receivers do: answer, refuse, stall, drip, lie and vanish."""

from __future__ import annotations

import gzip
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outbound.guarded import ERROR_CODES, Sent, post
from tests.outbound.receivers import Behaviour, Caller, Receiver, answers, receiver

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
BODY = b'{"id":"dlv_1"}'
HEADERS = {"X-Service-Event": "webhook.test", "X-Service-Delivery": "dlv_1"}
LIMIT = 0.6
SLACK_MS = 5_000  # a busy machine; what is left in time here would go on without end


# What `send` would wait for a receiver that is not left before.
ALL_THE_TIME_MS = 8_000


def send(url: str, timeout_seconds: float = ALL_THE_TIME_MS / 1000, *, body: bytes = BODY) -> Sent:
    sent = post(url, body, HEADERS, timeout_seconds=timeout_seconds, allow_private=True)
    assert sent.error is None or sent.error in ERROR_CODES
    return sent


def sent_to(behaviour: Behaviour, timeout_seconds: float = ALL_THE_TIME_MS / 1000, *, body: bytes = BODY) -> Sent:
    with receiver(behaviour) as there:
        return send(there.url(), timeout_seconds, body=body)


def after_reading(say: Callable[[Caller], None]) -> Behaviour:
    def behave(caller: Caller) -> None:
        caller.read()
        say(caller)

    return behave


# What is sent, and what an honest receiver answers


def test_the_bytes_that_leave_are_these() -> None:
    with receiver(answers(OK)) as there:
        send(there.url("/in?a=b"))
    assert there.requests == [
        b"POST /in?a=b HTTP/1.1\r\n"
        b"Host: 127.0.0.1:%d\r\n"
        b"User-Agent: Assessor-Webhooks/1\r\n"
        b"Accept: */*\r\n"
        b"Accept-Encoding: identity\r\n"
        b"Connection: close\r\n"
        b"Content-Type: application/json\r\n"
        b"Content-Length: 14\r\n"
        b"X-Service-Event: webhook.test\r\n"
        b"X-Service-Delivery: dlv_1\r\n"
        b'\r\n{"id":"dlv_1"}' % there.port
    ]


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_2xx_is_accepted(status: int) -> None:
    sent = sent_to(answers(b"HTTP/1.1 %d Fine\r\nContent-Length: 0\r\n\r\n" % status))
    assert (sent.status, sent.error, sent.address) == (status, None, "127.0.0.1")


@pytest.mark.parametrize("status", [101, 400, 401, 404, 410, 418, 429, 500, 503, 999])
def test_any_other_status_is_a_failure_whose_answer_is_kept(status: int) -> None:
    sent = sent_to(answers(b"HTTP/1.1 %d No\r\n\r\n" % status + b"because"))
    assert (sent.status, sent.error) == (status, "BAD_STATUS")
    assert sent.answer == (b"" if status == 101 else b"because")


def test_the_first_kib_of_the_answer_is_kept_as_it_came() -> None:
    assert sent_to(answers(b"HTTP/1.1 200 OK\r\n\r\n" + b"a" * 5_000)).answer == b"a" * 1_024
    packed = gzip.compress(b"a" * 10_000_000)
    sent = sent_to(answers(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + packed))
    assert sent.answer == packed[:1_024]


def test_a_chunked_answer_is_put_together() -> None:
    sent = sent_to(answers(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n"))
    assert (sent.error, sent.answer) == (None, b"abc")


def test_an_honest_receiver_is_read_to_its_end() -> None:
    written: list[bool] = []

    def behave(caller: Caller) -> None:
        caller.read()
        caller.say(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n" + b"a" * 60_000)
        written.append(caller.connection.recv(1) == b"")  # closed, not reset

    with receiver(behave) as there:
        assert send(there.url()).error is None
        time.sleep(0.05)
    assert written == [True]


def test_a_large_body_arrives_whole() -> None:
    body = b"x" * 3_000_000
    with receiver(answers(OK)) as there:
        assert send(there.url(), body=body).error is None
    assert there.requests[0].endswith(b"\r\n\r\n" + body)


def test_interim_answers_are_passed_over() -> None:
    interim = (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"
    )
    sent = sent_to(answers(interim + OK))
    assert (sent.status, sent.error, sent.answer) == (200, None, b"ok")


def test_a_receiver_that_refuses_a_long_body_early_is_heard() -> None:
    def behave(caller: Caller) -> None:
        caller.connection.recv(1_000)
        caller.say(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        caller.connection.shutdown(socket.SHUT_WR)
        while caller.connection.recv(1_000_000):
            pass

    assert sent_to(behave, body=b"x" * 3_000_000).status == 413


# The limit of time


def never(caller: Caller) -> None:
    caller.over.wait()


def drips_headers(caller: Caller) -> None:
    caller.say(b"HTTP/1.1 200 OK\r\n")
    caller.without_end(b"X", pause=0.02)


def drips_the_status(caller: Caller) -> None:
    for byte in b"HTTP/1.1 200 OK\r\n\r\n":
        caller.over.wait(0.1)
        caller.say(bytes([byte]))


@pytest.mark.parametrize("say", [never, drips_headers, drips_the_status])
def test_headers_that_do_not_end_in_time_are_a_failure(say: Behaviour) -> None:
    sent = sent_to(after_reading(say), LIMIT)
    assert (sent.status, sent.error, sent.answer) == (None, "TIMEOUT", b"")
    assert LIMIT * 1000 - 5 <= sent.milliseconds < LIMIT * 1000 + SLACK_MS


def test_a_receiver_that_does_not_read_is_left_in_time() -> None:
    sent = sent_to(never, LIMIT, body=b"x" * 20_000_000)
    assert sent.error == "TIMEOUT"
    assert sent.milliseconds < LIMIT * 1000 + SLACK_MS


@pytest.mark.parametrize("status", [200, 500])
def test_a_body_that_drips_is_left_in_time_and_changes_nothing(status: int) -> None:
    def drip(caller: Caller) -> None:
        caller.say(b"HTTP/1.1 %d X\r\nContent-Length: 100000\r\n\r\n" % status)
        caller.without_end(b"a", pause=0.02)

    sent = sent_to(after_reading(drip), LIMIT)
    assert (sent.status, sent.error) == (status, None if status == 200 else "BAD_STATUS")
    assert sent.answer.startswith(b"aaa")
    assert sent.milliseconds < LIMIT * 1000 + SLACK_MS


def test_a_listener_that_accepts_nobody_is_a_connection_that_took_too_long() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        sent = send(f"http://127.0.0.1:{full.getsockname()[1]}/", LIMIT)
        for one in waiting:
            one.close()
    assert (sent.error, sent.address) == ("CONNECT_TIMEOUT", "127.0.0.1")
    assert sent.milliseconds < LIMIT * 1000 + SLACK_MS


def test_a_name_server_that_hangs_is_left_in_time() -> None:
    told = threading.Event()

    def hanging(_host: str, _port: int) -> list[str]:
        told.wait(60)
        return []

    sent = post("http://hooks.example.com/", BODY, {}, timeout_seconds=0.2, allow_private=False, lookup=hanging)
    told.set()
    assert (sent.error, sent.address) == ("DNS_TIMEOUT", None)
    assert sent.milliseconds < 200 + SLACK_MS


# Answers that are none


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"HTTP/1.1 200 OK",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n",
    ],
)
def test_an_answer_that_is_cut_before_its_headers_end_is_a_failure(said: bytes) -> None:
    sent = sent_to(answers(said))
    assert (sent.status, sent.error) == (None, "CUT")


def test_a_connection_that_is_reset_is_a_failure() -> None:
    def reset(caller: Caller) -> None:
        caller.read()
        caller.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    assert sent_to(reset).error == "CUT"


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 6_000 + b"\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n-5\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nffffffffffffffffffffff\r\n",
    ],
)
def test_a_body_that_breaks_changes_nothing(said: bytes) -> None:
    sent = sent_to(answers(said))
    assert (sent.status, sent.error, sent.answer[:2]) == (200, None, b"ab")


@pytest.mark.parametrize(
    "said",
    [
        b"ok\r\n",
        b"<html>HTTP/0.9 had no headers</html>\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"220 mail.example.com ESMTP\r\n",
        b"\x16\x03\x01\x02\x00\x01\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 99999 OK\r\n\r\n",
        b"HTTP/1.1\r\n\r\n",
        b"\r\n\r\n",
        os.urandom(2_000).replace(b"\n", b"") + b"\n",
    ],
)
def test_what_is_not_http_is_garbage(said: bytes) -> None:
    sent = sent_to(answers(said))
    assert (sent.status, sent.error) == (None, "GARBAGE")


@given(said=st.binary(max_size=200) | st.binary(max_size=200).map(lambda rest: b"HTTP/1.1 200 OK\r\n" + rest))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_bytes_come_back_the_result_has_a_name(open_mouth: list[bytes], there: Receiver, said: bytes) -> None:
    open_mouth[:] = [said]
    sent = send(there.url())
    assert sent.error in {None, "CUT", "GARBAGE", "HEADERS_TOO_LARGE", "BAD_STATUS", "REDIRECT"}


@pytest.fixture
def open_mouth() -> list[bytes]:
    return []


@pytest.fixture
def there(open_mouth: list[bytes]) -> Iterator[Receiver]:
    with receiver(after_reading(lambda caller: caller.say(open_mouth[0]))) as listening:
        yield listening
