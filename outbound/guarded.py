"""A POST to an address that somebody else chose: guarded against where it leads and what it answers.

The parsing and writing of HTTP is the standard library's `http.client`; the socket under it is ours, because the
address that was checked must be the one connected to, and because one deadline stands over the whole. Neither a
proxy nor a netrc of the environment is looked at, and a connection serves one POST.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, LineTooLong
from typing import cast
from unicodedata import category

import certifi

from outbound.resolve import (
    Lookup,
    NotResolved,
    Target,
    UrlRefused,
    addresses,
    check_url,
    lacks_resources,
    system_lookup,
)
from outbound.wire import CutInHeaders, Deadline, HeadersTooLarge, Wire

ANSWER_KEPT = 1024
LOCATION_KEPT = 2_000  # characters
ERROR_CODES = frozenset(
    {
        "URL_REFUSED",
        "ADDRESS_REFUSED",
        "DNS_FAILED",
        "DNS_TIMEOUT",
        "CONNECT_REFUSED",
        "CONNECT_TIMEOUT",
        "CONNECT_FAILED",  # no route, or reset while connecting
        "TLS_EXPIRED",
        "TLS_NOT_YET_VALID",
        "TLS_WRONG_HOST",
        "TLS_UNTRUSTED",
        "TLS_FAILED",  # no TLS at that port, or none that both sides speak
        "TIMEOUT",
        "CUT",  # closed or reset before the headers ended
        "GARBAGE",  # not HTTP/1
        "HEADERS_TOO_LARGE",
        "REDIRECT",
        "BAD_STATUS",
        "NO_RESOURCES",  # this machine was out of sockets or threads: the receiver was never asked
    }
)
_INTERIM_AT_MOST = 20
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_TLS_CODES = {9: "TLS_NOT_YET_VALID", 10: "TLS_EXPIRED", 62: "TLS_WRONG_HOST", 64: "TLS_WRONG_HOST"}  # X509_V_ERR_*


def _system_trust() -> ssl.SSLContext:
    """The machine's certificate authorities, where a company adds its own, and Mozilla's for a machine without any."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_default_certs()
    context.load_verify_locations(certifi.where())
    return context


# Loaded once, which takes some 20 ms, and before anything else: a process that has run out of files could not, and
# what of it is missing then, OpenSSL does not say. Threads may share it.
_TRUST = _system_trust()


@dataclass(frozen=True)
class Sent:
    """What came of one POST.

    `error` is None for a 2xx whose headers ended in time, else of `ERROR_CODES`. `status` is absent where no final
    headers came in time. `answer` is the first KiB of the body as it came over the wire (never unpacked), empty for
    a redirect. `address` is the one last tried. `location` is where a redirect would have led: text to look at, with
    nothing unseen in it, cut to `LOCATION_KEPT`; it was neither read as a URL nor asked.
    """

    status: int | None
    error: str | None
    milliseconds: int
    answer: bytes
    address: str | None
    location: str | None = None


class _NotHttp(Exception):
    """What came is not an answer of HTTP/1."""


class _Failed(Exception):
    def __init__(self, code: str, address: str | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.address = address


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    timeout_seconds: float,
    allow_private: bool,
    lookup: Lookup = system_lookup,
    trust: ssl.SSLContext = _TRUST,
) -> Sent:
    """Send `body` once, within `timeout_seconds` for everything together. Whatever the receiver does, it returns.

    `lookup` stands in for this machine's resolver, `trust` for its certificate authorities. Raises ValueError for
    `headers` that no request can carry (line breaks, characters outside Latin-1): those are the caller's.
    """
    deadline = Deadline(timeout_seconds)
    try:
        target = _target(url, allow_private)
        found = _addresses(target, allow_private, deadline, lookup)
        connected, address = _connect(found, target.port, deadline)
        with _secured(connected, target, deadline, trust, address) as secured:
            response, answer = _exchange(secured, target, body, headers, deadline, address)
    except _Failed as failed:
        return Sent(None, failed.code, deadline.milliseconds(), b"", failed.address)
    judged = _judged(response.status)
    return Sent(response.status, judged, deadline.milliseconds(), answer, address, _location(response))


def headers_sent(target: Target, body: bytes, headers: Mapping[str, str]) -> dict[str, str]:
    """Every header of the request, in order: ours over the caller's."""
    return {
        "Host": target.authority,
        "User-Agent": "Assessor-Webhooks/1",
        "Accept": "*/*",
        "Accept-Encoding": "identity",
        "Connection": "close",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        **headers,
    }


def _target(url: str, allow_private: bool) -> Target:
    try:
        return check_url(url, allow_private=allow_private)
    except UrlRefused as refused:
        raise _Failed("ADDRESS_REFUSED" if refused.code == "ADDRESS_REFUSED" else "URL_REFUSED") from None


def _addresses(target: Target, allow_private: bool, deadline: Deadline, lookup: Lookup) -> tuple[str, ...]:
    try:
        return addresses(target, allow_private=allow_private, timeout_seconds=deadline.left(), lookup=lookup)
    except UrlRefused:
        raise _Failed("ADDRESS_REFUSED") from None
    except NotResolved as failed:
        raise _Failed(failed.code) from None
    except TimeoutError:
        raise _Failed("TIMEOUT") from None


def _connect(found: Sequence[str], port: int, deadline: Deadline) -> tuple[socket.socket, str]:
    """A connection to the first address that takes one; each gets its share of the time, so that one in a hole
    does not eat what the next would need."""
    failed = _Failed("DNS_FAILED")
    for position, address in enumerate(found):
        try:
            share = deadline.left() / (len(found) - position)
            return _connected(address, port, share), address
        except OSError as error:
            failed = _Failed(_connect_code(error), address)
    raise failed


def _connected(address: str, port: int, seconds: float) -> socket.socket:
    made = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.settimeout(seconds)
        made.connect((address, port))
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError:
        made.close()
        raise
    return made


def _connect_code(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return "CONNECT_TIMEOUT"
    if isinstance(error, ConnectionRefusedError):
        return "CONNECT_REFUSED"
    return "NO_RESOURCES" if lacks_resources(error) else "CONNECT_FAILED"


@contextmanager
def _secured(
    connected: socket.socket, target: Target, deadline: Deadline, trust: ssl.SSLContext, address: str
) -> Iterator[socket.socket]:
    """The connection, under TLS where the URL says so: name and certificate are the host's, not the address's."""
    with connected:
        if target.scheme == "http":
            yield connected
            return
        with _handshaken(connected, target.host, deadline, trust, address) as secured:
            yield secured


def _handshaken(
    connected: socket.socket, host: str, deadline: Deadline, trust: ssl.SSLContext, address: str
) -> ssl.SSLSocket:
    try:
        connected.settimeout(deadline.left())
        return trust.wrap_socket(connected, server_hostname=host)
    except TimeoutError:
        raise _Failed("TIMEOUT", address) from None
    except ssl.SSLCertVerificationError as error:
        raise _Failed(_TLS_CODES.get(error.verify_code, "TLS_UNTRUSTED"), address) from None
    except OSError as error:
        raise _Failed("NO_RESOURCES" if lacks_resources(error) else "TLS_FAILED", address) from None
    except ValueError:  # a host that can be no server name
        raise _Failed("TLS_FAILED", address) from None


def _exchange(
    connected: socket.socket, target: Target, body: bytes, headers: Mapping[str, str], deadline: Deadline, address: str
) -> tuple[HTTPResponse, bytes]:
    """The answer's head, and what is kept of the body. Raises _Failed where the headers do not end well and in time."""
    wire = Wire(connected, deadline)
    try:
        _write(wire, target, body, headers)
        response = _read_headers(wire)
        deadline.left()  # a status that was read after the time is not an answer
    except TimeoutError:
        raise _Failed("TIMEOUT", address) from None
    except (CutInHeaders, OSError):
        raise _Failed("CUT", address) from None
    except HeadersTooLarge:
        raise _Failed("HEADERS_TOO_LARGE", address) from None
    except _NotHttp:
        raise _Failed("GARBAGE", address) from None
    return response, b"" if _is_redirect(response.status) else _read_body(wire, response)


def _write(wire: Wire, target: Target, body: bytes, headers: Mapping[str, str]) -> None:
    """Headers and body in one piece: the library alone would send two, and wake the receiver twice."""
    written = _Written()
    connection = HTTPConnection(target.host, target.port)
    connection.sock = written
    connection.request("POST", target.path, body, headers_sent(target, body, headers))
    try:
        wire.sendall(written.data)
    except (BrokenPipeError, ConnectionResetError):
        return  # it may have answered before it closed: whoever refuses a long body does


class _Written:
    def __init__(self) -> None:
        self.data = bytearray()

    def sendall(self, data: bytes) -> None:
        self.data += data


def _read_headers(wire: Wire) -> HTTPResponse:
    """The first answer that is not an interim one. Raises HeadersTooLarge, _NotHttp, CutInHeaders and OSError."""
    response = HTTPResponse(cast(socket.socket, wire), method="POST")
    for _ in range(_INTERIM_AT_MOST):
        _begin(response)
        if not 100 <= response.status < 200 or response.status == 101:
            return response
        response.headers = None  # type: ignore[assignment]  # so that it begins again
    raise HeadersTooLarge


def _begin(response: HTTPResponse) -> None:
    try:
        response.begin()
    except LineTooLong:
        raise HeadersTooLarge from None
    except (HTTPException, ValueError) as error:
        # The library's plain HTTPException says that there were more than a hundred headers; its heirs say the rest.
        raise (HeadersTooLarge if type(error) is HTTPException else _NotHttp) from None


def _read_body(wire: Wire, response: HTTPResponse) -> bytes:
    """The first KiB. The rest is read to the limit, so that an honest receiver is not cut off, and forgotten."""
    wire.body_begins()
    kept = b""
    try:
        while len(kept) < ANSWER_KEPT and (part := response.read1(ANSWER_KEPT - len(kept))):
            kept += part
        while response.read1(16 * 1024):
            pass
    except (OSError, HTTPException, ValueError):
        pass  # the headers have ended: nothing that follows changes the result
    return kept


def _location(response: HTTPResponse) -> str | None:
    written = response.getheader("Location") if _is_redirect(response.status) else None
    if not written:
        return None
    text = str(written).encode("latin-1", "replace").decode("utf-8", "replace")
    return visible(text[:LOCATION_KEPT])


def visible(text: str, but: str = "") -> str:
    """What a stranger wrote, with a picture for each character that cannot be seen, except for those in `but`."""
    return "".join(each if each in but else _pictured(each) for each in text)


def _pictured(character: str) -> str:
    code = ord(character)
    if code < 32:
        return chr(0x2400 + code)
    return "\u2421" if code == 127 else "\ufffd" if category(character) in _UNSEEN else character


def _is_redirect(status: int) -> bool:
    return 300 <= status < 400


def _judged(status: int) -> str | None:
    if 200 <= status < 300:
        return None
    return "REDIRECT" if _is_redirect(status) else "BAD_STATUS"
