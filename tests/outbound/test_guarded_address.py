"""Where a POST leads: to an address that was checked, past the environment, and nowhere else."""

from __future__ import annotations

import os
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from outbound.guarded import Sent, post
from tests.outbound.receivers import answers, receiver

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
BODY = b'{"id":"dlv_1"}'


def send(url: str, limit: float = 5.0) -> Sent:
    return post(url, BODY, {}, timeout_seconds=limit, allow_private=True)


def counting(found: dict[int, list[str]]) -> tuple[Callable[[str, int], list[str]], list[str]]:
    """A name server whose answer changes from question to question, and what it was asked."""
    asked: list[str] = []

    def lookup(host: str, _port: int) -> list[str]:
        asked.append(host)
        return found[min(len(asked), max(found))]

    return lookup, asked


def test_a_name_that_changes_its_address_between_check_and_connect_is_not_asked_twice() -> None:
    with receiver(answers(OK)) as there:
        lookup, asked = counting({1: ["198.51.100.1"], 2: ["127.0.0.1"]})
        sent = post(there.url(host="rebinding.test"), BODY, {}, timeout_seconds=5, allow_private=False, lookup=lookup)
        assert (sent.error, asked, there.connections) == ("ADDRESS_REFUSED", ["rebinding.test"], 0)
        lookup, asked = counting({1: ["127.0.0.1"], 2: ["127.0.0.2"]})
        sent = post(there.url(host="rebinding.test"), BODY, {}, timeout_seconds=5, allow_private=True, lookup=lookup)
    assert (sent.error, sent.address, asked, there.connections) == (None, "127.0.0.1", ["rebinding.test"], 1)
    assert b"\r\nHost: rebinding.test:%d\r\n" % there.port in there.requests[0]


@pytest.mark.parametrize("found", [["127.0.0.1"], ["8.8.8.8", "127.0.0.1"], ["127.0.0.1", "8.8.8.8"], ["::1"]])
def test_a_name_that_leads_home_is_refused_without_connecting(found: list[str]) -> None:
    with receiver(answers(OK)) as there:
        url = there.url(host="hooks.example.com")
        sent = post(url, BODY, {}, timeout_seconds=5, allow_private=False, lookup=lambda _host, _port: found)
    assert (sent.error, sent.address, there.connections) == ("ADDRESS_REFUSED", None, 0)


@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "localhost", "127.0.0.1."])
def test_a_stored_url_that_leads_home_is_refused_at_each_send(host: str) -> None:
    with receiver(answers(OK)) as there:
        sent = post(there.url(host=host), BODY, {}, timeout_seconds=5, allow_private=False)
        assert sent.error in {"ADDRESS_REFUSED", "URL_REFUSED"}
        assert there.connections == 0


def test_the_next_address_is_tried_where_one_takes_nobody() -> None:
    with receiver(answers(OK)) as there:
        url = there.url(host="hooks.example.com")
        found = ["::1", "127.0.0.2", "127.0.0.1"]
        sent = post(url, BODY, {}, timeout_seconds=5, allow_private=True, lookup=lambda _host, _port: found)
    assert (sent.error, sent.address) == (None, "127.0.0.1")


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    sent = send(f"http://127.0.0.1:{port}/")
    assert (sent.status, sent.error, sent.address) == (None, "CONNECT_REFUSED", "127.0.0.1")


def test_a_name_that_does_not_resolve_is_a_failed_attempt() -> None:
    def failing(_host: str, _port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    sent = post("http://hooks.example.com/", BODY, {}, timeout_seconds=5, allow_private=False, lookup=failing)
    assert (sent.error, sent.address) == ("DNS_FAILED", None)


@contextmanager
def files_left(number: int) -> Iterator[None]:
    """This process may open so many files more, sockets among them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    held = []
    try:
        with suppress(OSError):
            while True:
                held.append(os.open(os.devnull, os.O_RDONLY))
        for _ in range(number):
            os.close(held.pop())
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in held:
            os.close(descriptor)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "hooks.example.com"])
def test_no_socket_left_here_is_not_the_receivers_failure(host: str) -> None:
    with receiver(answers(OK)) as there:
        with files_left(0):
            sent = send(there.url(host=host))
        assert sent.error == "NO_RESOURCES"
        assert there.connections == 0


def test_the_only_file_left_is_enough_for_a_handshake() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, files_left(1):
        sent = send(f"https://127.0.0.1:{silent.getsockname()[1]}/", limit=0.3)
    assert (sent.error, sent.address) == ("TIMEOUT", "127.0.0.1")


def test_no_memory_for_the_resolver_is_not_the_receivers_failure() -> None:
    def failing(_host: str, _port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_MEMORY, "Memory allocation failure")

    sent = post("http://hooks.example.com/", BODY, {}, timeout_seconds=5, allow_private=False, lookup=failing)
    assert sent.error == "NO_RESOURCES"


def test_proxies_and_netrc_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login somebody password a-secret\ndefault login a password b\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    with receiver(answers(OK)) as proxy, receiver(answers(OK)) as there:
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url(""))
        assert send(there.url()).error is None
    assert proxy.connections == 0
    assert b"authorization" not in there.requests[0].lower()
    assert there.requests[0].startswith(b"POST /hook HTTP/1.1\r\n")


def test_a_header_with_a_line_break_is_the_callers_mistake() -> None:
    with receiver(answers(OK)) as there, pytest.raises(ValueError, match="header"):
        post(there.url(), BODY, {"X-A": "b\r\nX-C: d"}, timeout_seconds=5, allow_private=True)


def test_many_threads_at_once_leave_no_socket_open() -> None:
    with receiver(answers(OK)) as there:
        send(there.url())
        before = len(os.listdir("/proc/self/fd"))
        results: list[Sent] = []
        threads = [threading.Thread(target=lambda: results.append(send(there.url()))) for _ in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        time.sleep(0.1)
        assert len(os.listdir("/proc/self/fd")) <= before
    assert [sent.error for sent in results] == [None] * 40
