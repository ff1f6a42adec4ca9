"""A real SMTP server on loopback (aiosmtpd, in a thread of its own) that does what a test tells it."""

from __future__ import annotations

import datetime
import email
import email.policy
import ipaddress
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import trio
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.patience import PATIENCE_SECONDS

HOST = "127.0.0.1"


class Postbox:
    """What the server has taken, and how it answers.

    `replies` are answers to RCPT by recipient, `data_replies` to the message itself; one that is not named is welcome.
    """

    def __init__(self) -> None:
        self.messages: list[EmailMessage] = []
        self.recipients: list[str] = []
        self.replies: dict[str, str] = {}
        self.data_replies: dict[str, str] = {}
        self.connections: set[int] = set()
        self.accounts: dict[str, str] = {}
        self.protected: list[bool] = []
        self.attempts = 0

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        self.attempts += 1
        if address in self.replies:
            return self.replies[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        recipient = envelope.rcpt_tos[0]
        if recipient in self.data_replies:
            return self.data_replies[recipient]
        assert isinstance(envelope.content, bytes)
        self.messages.append(email.message_from_bytes(envelope.content, policy=email.policy.SMTP))  # type: ignore[arg-type]
        self.recipients.append(recipient)
        self.connections.add(id(session))
        self.protected.append(session.ssl is not None)
        return "250 taken"

    def authenticate(
        self, server: SMTP, session: Session, _envelope: Envelope, _mechanism: str, data: Any
    ) -> AuthResult:
        name, password = data.login.decode(), data.password.decode()
        return AuthResult(success=self.accounts.get(name) == password, handled=False)

    async def wait_for(self, count: int, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait until `count` messages have come."""
        with trio.fail_after(seconds):
            while len(self.messages) < count:  # noqa: ASYNC110 - they come in another thread
                await trio.sleep(0.01)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        return int(listener.getsockname()[1])


@contextmanager
def smtp_server(postbox: Postbox, port: int, **options: Any) -> Iterator[None]:
    """The server, while the block lasts. `options` are aiosmtpd's."""
    # Without a name of its own it would ask the network for one.
    controller = Controller(postbox, hostname=HOST, port=port, server_hostname="mail.example", **options)
    controller.start()
    try:
        yield
    finally:
        controller.stop()


def certificate(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """A certificate for 127.0.0.1 that its own key has signed: the file to trust, and a server's context."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "mail test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(HOST))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate_file, key_file = folder / "certificate.pem", folder / "key.pem"
    certificate_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate_file, key_file)
    return certificate_file, context
