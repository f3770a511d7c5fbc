"""Receivers that answer without end: what they pour out is left in time, and the sender's memory stays flat."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack

import pytest

from tests.outbound.receivers import Behaviour, Caller, receiver
from tests.outbound.test_guarded import ALL_THE_TIME_MS, OK, after_reading, sent_to

# Headers


def floods_headers(caller: Caller) -> None:
    caller.say(b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % number for number in range(100_000)) + b"\r\n")


def says_one_long_header(caller: Caller) -> None:
    caller.say(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 1_000_000 + b"\r\n\r\n")


def says_a_line_without_end(caller: Caller) -> None:
    caller.without_end(b"HTTP/1.1 200 " * 1_000)


def says_interim_answers_without_end(caller: Caller) -> None:
    caller.without_end(b"HTTP/1.1 103 Early Hints\r\n\r\n")


def continues_without_end(caller: Caller) -> None:
    caller.without_end(b"HTTP/1.1 100 Continue\r\n\r\n")


def says_101_headers(caller: Caller) -> None:
    caller.say(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 101 + b"\r\n")


def says_long_headers(caller: Caller) -> None:
    caller.say(b"HTTP/1.1 200 OK\r\n" + (b"X: " + b"y" * 30_000 + b"\r\n") * 50 + b"\r\n")


@pytest.mark.parametrize(
    "say",
    [
        floods_headers,
        says_one_long_header,
        says_long_headers,
        says_101_headers,
        says_a_line_without_end,
        says_interim_answers_without_end,
        continues_without_end,
    ],
)
def test_headers_without_measure_are_refused_at_once(say: Behaviour) -> None:
    sent = sent_to(after_reading(say))
    assert (sent.status, sent.error) == (None, "HEADERS_TOO_LARGE")
    assert sent.milliseconds < ALL_THE_TIME_MS


# Bodies, and memory


def floods_the_body(caller: Caller) -> None:
    caller.say(b"HTTP/1.1 200 OK\r\n\r\n")
    caller.without_end(b"a" * 1_000_000)


def floods_with_small_chunks(caller: Caller) -> None:
    caller.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    caller.without_end((b"1;" + b"x" * 30_000 + b"\r\na\r\n") * 10)


def floods_with_one_chunk(caller: Caller) -> None:
    caller.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n")
    caller.without_end(b"a" * 1_000_000)


def floods_with_trailers(caller: Caller) -> None:
    caller.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n")
    caller.without_end(b"X: y\r\n" * 1_000)


@pytest.mark.parametrize(
    "say", [floods_the_body, floods_with_one_chunk, floods_with_small_chunks, floods_with_trailers]
)
def test_gigabytes_after_a_2xx_are_not_read(say: Behaviour) -> None:
    sent = sent_to(after_reading(say))
    assert (sent.status, sent.error) == (200, None)
    assert sent.milliseconds < ALL_THE_TIME_MS


MEMORY_OF_A_SENDER = r"""
import pathlib, re, sys, threading
from outbound.guarded import post

def peak_kib():  # of this process alone: getrusage would begin with its parent's
    return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path("/proc/self/status").read_text())[1])

def send(url):
    post(url, b"{}", {}, timeout_seconds=5, allow_private=True)

def all_of(urls):
    threads = [threading.Thread(target=send, args=(url,)) for url in urls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

all_of(sys.argv[1:2])
before = peak_kib()
all_of(sys.argv[1:] * 10)
print(peak_kib() - before)
"""


def test_memory_stays_flat_under_sixty_hostile_receivers_at_once() -> None:
    says = [
        floods_headers,
        says_one_long_header,
        says_long_headers,
        floods_the_body,
        floods_with_small_chunks,
        floods_with_one_chunk,
    ]
    with ExitStack() as open_now:
        urls = [open_now.enter_context(receiver(after_reading(say))).url() for say in [accepts, *says]]
        program = [sys.executable, "-c", MEMORY_OF_A_SENDER, *urls]
        run = subprocess.run(program, capture_output=True, text=True, check=True, timeout=20)
    assert int(run.stdout) < 30 * 1024, f"grew by {run.stdout.strip()} KiB"


def accepts(caller: Caller) -> None:
    caller.say(OK)
