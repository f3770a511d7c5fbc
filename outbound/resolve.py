"""From the text of a URL to the addresses behind it, refusing what a webhook may not reach (contract 2).

A URL is read once, here; what is checked is what is connected to. Nothing is cached: a name is asked for at each send.
"""

from __future__ import annotations

import encodings.idna  # noqa: F401 - else loaded at the first name, from a file that may not be had by then
import errno
import re
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv6Address
from queue import Empty, SimpleQueue
from threading import Thread
from unicodedata import category
from urllib.parse import quote

import idna

from outbound.addresses import refused_kind

LONGEST_URL = 2_000
URL_REFUSAL_CODES = frozenset(
    {
        "URL_TOO_LONG",
        "URL_CHARACTERS",  # white space, control and format characters, backslashes
        "URL_SCHEME",
        "URL_USER_INFO",
        "URL_HOST",
        "URL_PORT",
        "URL_LOCALHOST",
        "ADDRESS_REFUSED",  # `address` and `kind` say which and why
    }
)
RESOLUTION_CODES = frozenset({"DNS_FAILED", "DNS_TIMEOUT", "NO_RESOURCES"})

# Takes a host and a port, answers numeric addresses in the order to try them, raises OSError. May block for long.
Lookup = Callable[[str, int], Iterable[str]]

_URL = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://([^/?#]*)([^?#]*)(\?[^#]*)?(?:#.*)?", re.DOTALL)
_AUTHORITY = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::([0-9]*))?")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_LOOPBACK_NAMES = frozenset({"localhost", "localhost.localdomain", "localhost6", "ip6-localhost", "ip6-loopback"})
_DEFAULT_PORTS = {"http": 80, "https": 443}
_OWN_SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.EADDRNOTAVAIL})
_KEPT_IN_PATH = "!$%&'()*+,/:;=?@[]~"


class UrlRefused(Exception):
    """A URL that may not be a webhook's. `code` is of `URL_REFUSAL_CODES`; `kind` of `addresses.KINDS` or empty."""

    def __init__(self, code: str, address: str = "", kind: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.address = address
        self.kind = kind


class NotResolved(Exception):
    """The name gave no address. `code` is of `RESOLUTION_CODES`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class Target:
    """A URL as it is used: host in lower-case ASCII without brackets or trailing dot, path with its query."""

    scheme: str
    host: str
    port: int
    path: str
    is_literal: bool

    @property
    def authority(self) -> str:
        """The Host header: brackets around IPv6, the port where it is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


def system_lookup(host: str, port: int) -> list[str]:
    """What this machine's resolver answers, in its order of preference."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(answer[4][0]) for answer in found))


def check_registration(
    url: str, *, allow_private: bool, timeout_seconds: float = 5.0, lookup: Lookup = system_lookup
) -> Target:
    """The target of a URL that may be registered; a name that does not resolve now is accepted (contract 2).

    Raises UrlRefused. Blocks up to `timeout_seconds`: never call it inside a transaction.
    """
    target = check_url(url, allow_private=allow_private)
    with suppress(NotResolved):
        addresses(target, allow_private=allow_private, timeout_seconds=timeout_seconds, lookup=lookup)
    return target


def check_url(url: str, *, allow_private: bool) -> Target:
    """The target of a URL, judged by its text alone: no name is looked up. Raises UrlRefused."""
    if len(url) > LONGEST_URL:
        raise UrlRefused("URL_TOO_LONG")
    if any(character == "\\" or category(character) in {"Cc", "Cf", "Cs", "Zs", "Zl", "Zp"} for character in url):
        raise UrlRefused("URL_CHARACTERS")
    parts = _URL.fullmatch(url)
    if parts is None or parts[1].lower() not in _DEFAULT_PORTS:
        raise UrlRefused("URL_SCHEME")
    scheme = parts[1].lower()
    written_host, port = _host_and_port(parts[2], scheme)
    host, is_literal = _canonical(written_host)
    path = quote((parts[3] or "/") + (parts[4] or ""), safe=_KEPT_IN_PATH)
    target = Target(scheme, host, port, path, is_literal)
    if not allow_private:
        _refuse_own_ground(target)
    return target


def addresses(
    target: Target, *, allow_private: bool, timeout_seconds: float, lookup: Lookup = system_lookup
) -> tuple[str, ...]:
    """The numeric addresses of a target, in the order to try them. One refused address refuses them all.

    Raises UrlRefused("ADDRESS_REFUSED") and NotResolved.
    """
    if target.is_literal:
        return (target.host,)  # judged by check_url
    found = _answers(target.host, target.port, timeout_seconds, lookup)
    if not allow_private:
        for address in found:
            _refuse_address(address)
    return found


def _host_and_port(authority: str, scheme: str) -> tuple[str, int]:
    if "@" in authority:
        raise UrlRefused("URL_USER_INFO")
    parts = _AUTHORITY.fullmatch(authority)
    if parts is None:
        raise UrlRefused("URL_PORT" if re.fullmatch(r"[^:\[\]]+:[^:]*", authority) else "URL_HOST")
    port = int(parts[2][:6]) if parts[2] else _DEFAULT_PORTS[scheme]
    if not 1 <= port <= 65_535:
        raise UrlRefused("URL_PORT")
    return parts[1], port


def _canonical(written: str) -> tuple[str, bool]:
    """The host in its one spelling, and whether it is an address."""
    if written.startswith("["):
        return _ipv6_literal(written[1:-1]), True
    name = _ascii_name(written)
    last_label = name.rpartition(".")[2]
    if _NUMBER.fullmatch(last_label):  # no top-level domain is a number: it is an address or it is nothing
        return _ipv4_literal(name), True
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in name.split(".")):
        raise UrlRefused("URL_HOST")
    return name, False


def _ipv6_literal(text: str) -> str:
    try:
        address = IPv6Address(text)
    except ValueError:
        raise UrlRefused("URL_HOST") from None
    if address.scope_id is not None:
        raise UrlRefused("URL_HOST")
    return str(address)


def _ipv4_literal(text: str) -> str:
    """Decimal, octal, hexadecimal and short forms, read as the system's own functions would read them."""
    try:
        return socket.inet_ntoa(socket.inet_aton(text))
    except OSError:
        raise UrlRefused("URL_HOST") from None


def _ascii_name(written: str) -> str:
    """Lower-case ASCII without the trailing dot; full-width digits, ideographic dots and the like become plain."""
    name = written
    if not written.isascii():
        try:
            name = idna.encode(written, uts46=True).decode("ascii")
        except idna.IDNAError:
            raise UrlRefused("URL_HOST") from None
    return name.lower().removesuffix(".")


def _refuse_own_ground(target: Target) -> None:
    if target.host in _LOOPBACK_NAMES or target.host.endswith(".localhost"):
        raise UrlRefused("URL_LOCALHOST")
    if target.is_literal:
        _refuse_address(target.host)


def _refuse_address(address: str) -> None:
    kind = refused_kind(address)
    if kind is not None:
        raise UrlRefused("ADDRESS_REFUSED", address, kind)


def _answers(host: str, port: int, timeout_seconds: float, lookup: Lookup) -> tuple[str, ...]:
    """What `lookup` answers within the limit. It runs in a thread that is left behind where it takes longer.

    Nothing can interrupt the system's resolver; a thread left behind ends with the resolver's own limit.
    """
    outcome: SimpleQueue[tuple[str, ...] | NotResolved] = SimpleQueue()
    try:
        Thread(target=_ask, args=(host, port, lookup, outcome), daemon=True, name="lookup").start()
    except RuntimeError:
        raise NotResolved("NO_RESOURCES") from None
    try:
        found = outcome.get(timeout=max(timeout_seconds, 0.0))
    except Empty:
        raise NotResolved("DNS_TIMEOUT") from None
    if isinstance(found, NotResolved):
        raise found
    return found


def _ask(host: str, port: int, lookup: Lookup, outcome: SimpleQueue[tuple[str, ...] | NotResolved]) -> None:
    try:
        found = tuple(lookup(host, port))
    except OSError as error:
        outcome.put(NotResolved("NO_RESOURCES" if lacks_resources(error) or _no_socket_is_left() else "DNS_FAILED"))
    except UnicodeError:
        outcome.put(NotResolved("DNS_FAILED"))
    else:
        outcome.put(found or NotResolved("DNS_FAILED"))


def lacks_resources(error: OSError) -> bool:
    """Whether this machine was out of files, sockets or memory, so that nobody else was even asked."""
    if isinstance(error, socket.gaierror):  # which has numbers of its own
        return error.errno == socket.EAI_MEMORY
    return error.errno in _OWN_SHORTAGES


def _no_socket_is_left() -> bool:
    """The resolver that could not open its files or its socket may say no more than that the name is unknown."""
    try:
        socket.socket().close()
    except OSError as error:
        return lacks_resources(error)
    return False
