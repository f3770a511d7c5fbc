"""What a webhook's URL may be, in every spelling that tries to be something else."""

from __future__ import annotations

import ipaddress
import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outbound.addresses import KINDS, refused_kind
from outbound.resolve import (
    RESOLUTION_CODES,
    URL_REFUSAL_CODES,
    NotResolved,
    Target,
    UrlRefused,
    addresses,
    check_registration,
    check_url,
)


def refusal(url: str, *, allow_private: bool = False) -> str:
    """The code that a URL is refused with, or an empty text."""
    try:
        check_url(url, allow_private=allow_private)
    except UrlRefused as refused:
        assert refused.code in URL_REFUSAL_CODES
        return refused.code
    return ""


def answering(*found: str) -> Callable[[str, int], list[str]]:
    return lambda _host, _port: list(found)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://hooks.example.com/in", Target("https", "hooks.example.com", 443, "/in", False)),
        ("HTTP://Hooks.Example.COM", Target("http", "hooks.example.com", 80, "/", False)),
        ("https://hooks.example.com.:8443/a?b=c#d", Target("https", "hooks.example.com", 8443, "/a?b=c", False)),
        ("https://hooks.example.com?b=c", Target("https", "hooks.example.com", 443, "/?b=c", False)),
        ("https://hooks.example.com:/in", Target("https", "hooks.example.com", 443, "/in", False)),
        ("https://bücher.example/é%20%2F", Target("https", "xn--bcher-kva.example", 443, "/%C3%A9%20%2F", False)),
        ("http://my_service:8080/", Target("http", "my_service", 8080, "/", False)),
        ("http://8.8.8.8/", Target("http", "8.8.8.8", 80, "/", True)),
        ("http://134744072/", Target("http", "8.8.8.8", 80, "/", True)),
        ("https://[2606:4700:0::1111]/", Target("https", "2606:4700::1111", 443, "/", True)),
        ("https://[64:ff9b::808:808]/", Target("https", "64:ff9b::808:808", 443, "/", True)),
    ],
)
def test_a_url_is_read_once_and_in_one_spelling(url: str, target: Target) -> None:
    assert check_url(url, allow_private=False) == target


def test_the_host_header_names_a_port_that_is_not_the_schemes_own() -> None:
    assert check_url("https://[2606:4700::1111]:8443/", allow_private=False).authority == "[2606:4700::1111]:8443"
    assert check_url("https://hooks.example.com:443/", allow_private=False).authority == "hooks.example.com"
    assert check_url("http://hooks.example.com:443/", allow_private=False).authority == "hooks.example.com:443"


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("", "URL_SCHEME"),
        ("hooks.example.com", "URL_SCHEME"),
        ("//hooks.example.com/", "URL_SCHEME"),
        ("http:hooks.example.com", "URL_SCHEME"),
        ("http:/hooks.example.com", "URL_SCHEME"),
        ("ftp://hooks.example.com/", "URL_SCHEME"),
        ("file:///etc/passwd", "URL_SCHEME"),
        ("gopher://hooks.example.com/", "URL_SCHEME"),
        ("javascript://hooks.example.com/", "URL_SCHEME"),
        ("http+unix://%2Frun%2Fx/", "URL_SCHEME"),
        (" http://hooks.example.com/", "URL_CHARACTERS"),
        ("http://hooks.example.com/\n", "URL_CHARACTERS"),
        ("http://hooks.example.com/a\r\nX-Evil: 1", "URL_CHARACTERS"),
        ("http://hooks.example.com/a b", "URL_CHARACTERS"),
        ("http://hooks.example.com/\0", "URL_CHARACTERS"),
        ("http://hooks.example.com/\u2028", "URL_CHARACTERS"),
        ("http://hooks.example.com/\u202efdp.exe", "URL_CHARACTERS"),
        ("http://hooks.example.com/a\u200bb", "URL_CHARACTERS"),
        ("http://hooks\u2066.example.com/", "URL_CHARACTERS"),
        ("http://hooks.example.com/\ufeff", "URL_CHARACTERS"),
        ("http://lo\u00adcalhost/", "URL_CHARACTERS"),
        ("http://hooks.example.com/\ud800", "URL_CHARACTERS"),
        ("http://hooks.example.com\\@127.0.0.1/", "URL_CHARACTERS"),
        ("http:\\\\127.0.0.1\\", "URL_CHARACTERS"),
        ("http://user@hooks.example.com/", "URL_USER_INFO"),
        ("http://user:password@hooks.example.com/", "URL_USER_INFO"),
        ("http://@hooks.example.com/", "URL_USER_INFO"),
        ("http://hooks.example.com@127.0.0.1/", "URL_USER_INFO"),
        ("http:///path", "URL_HOST"),
        ("http://", "URL_HOST"),
        ("http://:80/", "URL_HOST"),
        ("http://./", "URL_HOST"),
        ("http://../", "URL_HOST"),
        ("http://hooks..example.com/", "URL_HOST"),
        ("http://.hooks.example.com/", "URL_HOST"),
        ("http://hooks.example.com../", "URL_HOST"),
        ("http://-hooks.example.com/", "URL_HOST"),
        ("http://%31%32%37.0.0.1/", "URL_HOST"),
        ("http://127.0.0.1%00.example.com/", "URL_HOST"),
        ("http://hooks.example.com,127.0.0.1/", "URL_HOST"),
        ("http://" + "a" * 64 + ".example.com/", "URL_HOST"),
        ("http://" + "a." * 130 + "example.com/", "URL_HOST"),
        ("http://[::1/", "URL_HOST"),
        ("http://::1/", "URL_HOST"),
        ("http://[]/", "URL_HOST"),
        ("http://[fe80::1%25eth0]/", "URL_HOST"),
        ("http://[fe80::1%eth0]/", "URL_HOST"),
        ("http://[2606:4700::1111]evil/", "URL_HOST"),
        ("http://[127.0.0.1]/", "URL_HOST"),
        ("http://1.2.3.4.5/", "URL_HOST"),
        ("http://08/", "URL_HOST"),
        ("http://0x/", "URL_HOST"),
        ("http://4294967296/", "URL_HOST"),
        ("http://hooks.0x7f/", "URL_HOST"),
        ("http://hooks.example.com:0/", "URL_PORT"),
        ("http://hooks.example.com:65536/", "URL_PORT"),
        ("http://hooks.example.com:9999999999999999999/", "URL_PORT"),
        ("http://hooks.example.com:-1/", "URL_PORT"),
        ("http://hooks.example.com:٨٠/", "URL_PORT"),
        ("http://hooks.example.com:http/", "URL_PORT"),
        ("http://hooks.example.com/" + "a" * 2_000, "URL_TOO_LONG"),
    ],
)
def test_a_url_that_is_none_is_refused_with_or_without_private_hosts(url: str, code: str) -> None:
    assert refusal(url) == code
    assert refusal(url, allow_private=True) == code


def test_two_thousand_characters_are_allowed() -> None:
    start = "https://hooks.example.com/"
    assert refusal(start + "a" * (2_000 - len(start))) == ""
    assert refusal(start + "a" * (2_001 - len(start))) == "URL_TOO_LONG"


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "LocalHost.:8080",
        "foo.localhost",
        "foo.LOCALHOST.",
        "localhost.localdomain",
        "ip6-localhost",
        "ｌｏｃａｌｈｏｓｔ",
        "localhost。",
        "Ⓛocalhost",
    ],
)
def test_localhost_is_refused_in_any_spelling(host: str) -> None:
    assert refusal(f"http://{host}/") == "URL_LOCALHOST"
    assert refusal(f"http://{host}/", allow_private=True) == ""


@pytest.mark.parametrize("host", ["localhost.example.com", "notlocalhost", "localhostess.example"])
def test_a_name_that_only_resembles_localhost_is_allowed(host: str) -> None:
    assert refusal(f"http://{host}/") == ""


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.0.0.1.",
        "127.255.255.254",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0X7F.1",
        "0x7f.0x0.0x0.0x1",
        "017700000001",
        "0177.0.0.1",
        "0000000177.0.0.1",
        "127.0.0.0x1",
        "１２７.０.０.１",
        "①②⑦.⓪.⓪.①",
        "127。0。0。1",
        "127．0．0．1",
        "0",
        "0.0.0.0",
        "10.1.2.3",
        "10.65535",
        "100.64.0.1",
        "100.127.255.255",
        "168.63.129.16",
        "169.254.169.254",
        "2852039166",
        "0xa9fea9fe",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.170",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.7",
        "203.0.113.7",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "[::]",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[0000:0000:0000:0000:0000:0000:0000:0001]",
        "[::127.0.0.1]",
        "[::8.8.8.8]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::FFFF:10.0.0.1]",
        "[::ffff:169.254.169.254]",
        "[::ffff:0:127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[64:ff9b::a9fe:a9fe]",
        "[64:ff9b:1::8.8.8.8]",
        "[64:ff9b:1:ffff::1]",
        "[100::1]",
        "[2001::1]",
        "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
        "[2001:2::1]",
        "[2001:10::1]",
        "[2001:20::1]",
        "[2001:db8::1]",
        "[2002:7f00:1::]",
        "[2002:808:808::1]",
        "[3fff::1]",
        "[5f00::1]",
        "[4000::1]",
        "[fc00::1]",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "[febf::1]",
        "[fec0::1]",
        "[ff02::1]",
        "[ff0e::1]",
    ],
)
def test_every_spelling_of_an_address_that_is_not_public_is_refused(host: str) -> None:
    assert refusal(f"http://{host}/") == "ADDRESS_REFUSED"
    assert refusal(f"https://{host}:8443/hook", allow_private=False) == "ADDRESS_REFUSED"
    assert check_url(f"http://{host}/", allow_private=True).is_literal


@given(st.integers(0, 2**32 - 1))
def test_whatever_the_standard_library_calls_not_global_is_refused_here_too(number: int) -> None:
    address = ipaddress.IPv4Address(number)
    kind = refused_kind(str(address))
    assert kind is None or kind in KINDS
    if not address.is_global or address.is_multicast or address.is_reserved:
        assert kind is not None
    for wrapped in (f"::ffff:{address}", f"64:ff9b::{address}"):
        assert refused_kind(wrapped) == kind


@given(st.integers(0, 2**128 - 1) | st.integers(0x2000 << 112, (0x4000 << 112) - 1))
def test_of_ipv6_only_global_unicast_is_reached(number: int) -> None:
    address = ipaddress.IPv6Address(number)
    if refused_kind(str(address)) is None:
        assert address.is_global
        assert not address.is_multicast


@given(
    st.text(max_size=40)
    | st.text(alphabet="htp:/@[]%.0x17flocas-#?\\１。", max_size=40).map(lambda rest: f"http://{rest}")
)
def test_any_text_is_a_target_or_refused_by_name(url: str) -> None:
    if refusal(url) == "":
        target = check_url(url, allow_private=False)
        again = check_url(f"{target.scheme}://{target.authority}{target.path}", allow_private=False)
        assert again == target


@pytest.mark.parametrize(
    "found",
    [("127.0.0.1",), ("8.8.8.8", "10.0.0.1"), ("10.0.0.1", "8.8.8.8"), ("8.8.8.8", "::1"), ("fe80::1%eth0",)],
)
def test_one_refused_address_among_the_answers_refuses_the_name(found: tuple[str, ...]) -> None:
    with pytest.raises(UrlRefused) as refused:
        check_registration("https://hooks.example.com/", allow_private=False, lookup=answering(*found))
    assert refused.value.code == "ADDRESS_REFUSED"
    assert refused.value.kind in KINDS
    check_registration("https://hooks.example.com/", allow_private=True, lookup=answering(*found))


def test_the_answers_are_tried_in_the_resolvers_order() -> None:
    target = check_url("https://hooks.example.com/", allow_private=False)
    found = ("2606:4700::1111", "8.8.8.8", "1.1.1.1")
    assert addresses(target, allow_private=False, timeout_seconds=1, lookup=answering(*found)) == found


def test_a_literal_asks_no_resolver() -> None:
    target = check_url("http://8.8.8.8/", allow_private=False)
    assert addresses(target, allow_private=False, timeout_seconds=1, lookup=failing) == ("8.8.8.8",)


def failing(_host: str, _port: int) -> list[str]:
    raise OSError("no such name")


def unencodable(_host: str, _port: int) -> list[str]:
    raise UnicodeError("label too long")


@pytest.mark.parametrize("lookup", [failing, unencodable, answering()])
def test_a_name_that_does_not_resolve_may_be_registered(lookup: Callable[[str, int], list[str]]) -> None:
    target = check_registration("https://hooks.example.com/", allow_private=False, lookup=lookup)
    with pytest.raises(NotResolved) as failed:
        addresses(target, allow_private=False, timeout_seconds=1, lookup=lookup)
    assert failed.value.code == "DNS_FAILED"


def test_a_resolver_that_hangs_is_left_behind_in_time() -> None:
    told = threading.Event()

    def hanging(_host: str, _port: int) -> list[str]:
        told.wait(60)
        return ["8.8.8.8"]

    target = check_url("https://hooks.example.com/", allow_private=False)
    try:
        with pytest.raises(NotResolved) as failed:
            addresses(target, allow_private=False, timeout_seconds=0.1, lookup=hanging)
    finally:
        told.set()
    assert failed.value.code == "DNS_TIMEOUT"
    assert failed.value.code in RESOLUTION_CODES


def test_the_machines_own_resolver_is_asked() -> None:
    target = check_url("http://localhost:8080/", allow_private=True)
    found = addresses(target, allow_private=True, timeout_seconds=5)
    assert set(found) <= {"127.0.0.1", "::1"}
    assert found
    with pytest.raises(UrlRefused):
        addresses(target, allow_private=False, timeout_seconds=5)
