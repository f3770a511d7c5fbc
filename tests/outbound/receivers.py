"""Receivers on loopback, one behaviour each: plain sockets, which can misbehave, and TLS with any certificate."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from threading import Event, Thread

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Behaviour = Callable[["Caller"], None]


@dataclass
class Receiver:
    """Where it listens, and every request it read."""

    port: int
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    over: Event = field(default_factory=Event)

    def url(self, path: str = "/hook", host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"


class Caller:
    """One connection as a behaviour sees it."""

    def __init__(self, connection: socket.socket, receiver: Receiver) -> None:
        self.connection = connection
        self.over = receiver.over
        self._receiver = receiver

    def read(self) -> bytes:
        """One whole request, remembered by the receiver."""
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._more()
        head, _, body = data.partition(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        while len(body) < length:
            body += self._more()
        self._receiver.requests.append(head + b"\r\n\r\n" + body)
        return self._receiver.requests[-1]

    def _more(self) -> bytes:
        part = self.connection.recv(65_536)
        if not part:
            raise ConnectionError
        return part

    def say(self, data: bytes) -> None:
        self.connection.sendall(data)

    def without_end(self, data: bytes, pause: float = 0.0) -> None:
        """The same bytes again and again until the other side is gone or the test is over."""
        while not self.over.wait(pause):
            self.say(data)


def answers(data: bytes) -> Behaviour:
    """Reads the request, says this, closes."""

    def behave(caller: Caller) -> None:
        caller.read()
        caller.say(data)

    return behave


@contextmanager
def receiver(behaviour: Behaviour, tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """A receiver that treats every connection alike, on a port of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        told = Receiver(listener.getsockname()[1])
        Thread(target=_listen, args=(listener, told, behaviour, tls), daemon=True).start()
        try:
            yield told
        finally:
            told.over.set()
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)


def _listen(listener: socket.socket, told: Receiver, behaviour: Behaviour, tls: ssl.SSLContext | None) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            told.connections += 1
            Thread(target=_serve, args=(connection, told, behaviour, tls), daemon=True).start()


def _serve(connection: socket.socket, told: Receiver, behaviour: Behaviour, tls: ssl.SSLContext | None) -> None:
    with suppress(OSError), connection:
        secured = tls.wrap_socket(connection, server_side=True) if tls else connection
        with secured:
            behaviour(Caller(secured, told))


class Authority:
    """A certificate authority that signs anything for any time, and the trust of those who believe it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "An authority of the tests")])
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        self._certificate = (
            self._drawn(self._name, self._key.public_key(), -1, 10).add_extension(constraints, critical=True)
        ).sign(self._key, hashes.SHA256())

    def trust(self) -> ssl.SSLContext:
        """What a client believes who believes this authority alone."""
        return ssl.create_default_context(cadata=self._certificate.public_bytes(serialization.Encoding.PEM).decode())

    def server(self, *names: str, from_days: int = -1, to_days: int = 10) -> ssl.SSLContext:
        """A server's side, with a certificate for these names or addresses, valid between these days from now."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "A receiver of the tests")])
        names_said = x509.SubjectAlternativeName([_general_name(name) for name in names])
        drawn = self._drawn(subject, key.public_key(), from_days, to_days).add_extension(names_said, critical=False)
        path = self._folder / f"{'-'.join(names).replace(':', '_')}{from_days}{to_days}.pem"
        path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + drawn.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context

    def _drawn(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey, from_days: int, to_days: int
    ) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + timedelta(days=from_days))
            .not_valid_after(now + timedelta(days=to_days))
        )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)
