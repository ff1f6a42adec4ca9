"""DTLS 1.2 as the server, between buffers in memory, and the keys for SRTP that come out of it (RFC 5764)."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from OpenSSL import SSL
from pylibsrtp import Policy, Session

from chat.classes import define, frozen

PROFILES: Final = {
    b"SRTP_AEAD_AES_128_GCM": (Policy.SRTP_PROFILE_AEAD_AES_128_GCM, 16, 12),
    b"SRTP_AES128_CM_SHA1_80": (Policy.SRTP_PROFILE_AES128_CM_SHA1_80, 16, 14),
}
"""What may be agreed on, the better first: libsrtp's name, and the bytes of key and salt."""

EXPORTER: Final = b"EXTRACTOR-dtls_srtp"
DATAGRAM_BYTES: Final = 1_200
DTLS_1_2: Final = 0xFEFD
RECORD_HEADER_BYTES: Final = 13
VALID_DAYS: Final = 365
REPLAY_WINDOW: Final = 1_024

HASHES: Final[dict[str, Callable[[], hashes.HashAlgorithm]]] = {
    "sha-256": hashes.SHA256,
    "sha-384": hashes.SHA384,
    "sha-512": hashes.SHA512,
}
"""What a description may name its certificate's fingerprint by."""


@frozen
class Identity:
    """The certificate of this server's life, which the descriptions name by its fingerprint."""

    context: SSL.Context
    fingerprint: str
    """SHA-256, hexadecimal bytes with colons."""


def make_identity(now: datetime.datetime) -> Identity:
    """A key and a certificate signed with itself, and what OpenSSL needs to be told."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "voice")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=VALID_DAYS))
        .sign(key, hashes.SHA256())
    )
    context = SSL.Context(SSL.DTLS_METHOD)
    context.set_min_proto_version(DTLS_1_2)
    context.use_privatekey(key)
    context.use_certificate(certificate)
    # Its certificate is signed by nobody: the fingerprint says whether it is the right one.
    context.set_verify(SSL.VERIFY_PEER | SSL.VERIFY_FAIL_IF_NO_PEER_CERT, lambda *_: True)
    context.set_tlsext_use_srtp(b":".join(PROFILES))
    context.set_options(SSL.OP_NO_QUERY_MTU | SSL.OP_NO_TICKET)
    return Identity(context, written(certificate.fingerprint(hashes.SHA256())))


def written(digest: bytes) -> str:
    """A fingerprint as descriptions have it."""
    return digest.hex(":").upper()


class HandshakeFailed(Exception):
    """The peer cannot be spoken with; the text says why."""


@frozen
class MediaKeys:
    """SRTP in both directions."""

    received: Session
    sent: Session


@define(eq=False)
class DtlsServer:
    """One association. Feed it datagrams, send what it has to say, and look at `finished`."""

    _connection: SSL.Connection
    finished: bool = False
    closed: bool = False
    """The peer said goodbye."""

    @staticmethod
    def begin(identity: Identity) -> DtlsServer:
        """Wait for a client."""
        connection = SSL.Connection(identity.context, None)
        connection.set_accept_state()
        connection.set_ciphertext_mtu(DATAGRAM_BYTES)
        return DtlsServer(connection)

    def receive(self, datagram: bytes) -> list[bytes]:
        """Take a datagram; returns what to send. Raises HandshakeFailed."""
        self._connection.bio_write(datagram)
        self._advance()
        return self._outgoing()

    def timeout(self) -> float | None:
        """In how many seconds `tick` wants to be called."""
        return None if self.finished else self._connection.DTLSv1_get_timeout()

    def tick(self) -> list[bytes]:
        """Time went by: what got no answer is sent again. Raises HandshakeFailed after too many attempts."""
        try:
            self._connection.DTLSv1_handle_timeout()
        except SSL.Error as error:
            raise HandshakeFailed("no answer came") from error
        return self._outgoing()

    def _advance(self) -> None:
        try:
            if self.finished:
                self._connection.recv(1)  # there is no data: it sees alerts
            else:
                self._connection.do_handshake()
                self.finished = True
        except SSL.WantReadError:
            pass
        except SSL.ZeroReturnError:
            self.closed = True
        except SSL.Error as error:
            raise HandshakeFailed(str(error)) from error

    def _outgoing(self) -> list[bytes]:
        flight = b""
        with contextlib.suppress(SSL.WantReadError):
            while True:
                flight += self._connection.bio_read(16_384)
        return _datagrams(flight)

    def peer_has(self, algorithm: str, fingerprint: str) -> bool:
        """Whether the peer showed the certificate that its description promised."""
        kind, certificate = HASHES.get(algorithm), self._connection.get_peer_certificate(as_cryptography=True)
        if kind is None or certificate is None:
            return False
        return written(certificate.fingerprint(kind())) == fingerprint

    def keys(self) -> MediaKeys:
        """What media is encrypted with, after the handshake. Raises HandshakeFailed where no profile was agreed on."""
        profile = PROFILES.get(self._connection.get_selected_srtp_profile())
        if profile is None:
            raise HandshakeFailed("no SRTP profile in common")
        name, key_bytes, salt_bytes = profile
        material = self._connection.export_keying_material(EXPORTER, 2 * (key_bytes + salt_bytes))
        keys, salts = material[: 2 * key_bytes], material[2 * key_bytes :]
        client = keys[:key_bytes] + salts[:salt_bytes]
        server = keys[key_bytes:] + salts[salt_bytes:]
        return MediaKeys(
            Session(_policy(client, Policy.SSRC_ANY_INBOUND, name)),
            Session(_policy(server, Policy.SSRC_ANY_OUTBOUND, name)),
        )

    def close(self) -> list[bytes]:
        """Say goodbye."""
        with contextlib.suppress(SSL.Error):
            self._connection.shutdown()
        return self._outgoing()


def _datagrams(flight: bytes) -> list[bytes]:
    """Whole records, as many in a datagram as fit: the buffer keeps no boundaries."""
    datagrams: list[bytes] = []
    while flight:
        record = flight[: RECORD_HEADER_BYTES + int.from_bytes(flight[11:13], "big")]
        flight = flight[len(record) :]
        if datagrams and len(datagrams[-1]) + len(record) <= DATAGRAM_BYTES:
            datagrams[-1] += record
        else:
            datagrams.append(record)
    return datagrams


def _policy(key: bytes, direction: int, profile: int) -> Policy:
    policy = Policy(key=key, ssrc_type=direction, srtp_profile=profile)
    policy.window_size = REPLAY_WINDOW
    return policy
