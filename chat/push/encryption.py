"""Encrypting a push message for the one browser that subscribed (RFC 8291, with the encoding of RFC 8188).

The push service that carries it learns nothing but its size.
"""

from __future__ import annotations

import base64
import binascii
import struct
from typing import Final

import attrs
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

CURVE: Final = ec.SECP256R1()
RECORD_BYTES: Final = 4_096
"""What every push service takes (RFC 8030, 7.2): the whole message is one record."""

SEED_BYTES: Final = 64
_ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""Of the curve."""

SALT_BYTES: Final = 16
AUTH_BYTES: Final = 16
POINT_BYTES: Final = 65
TAG_BYTES: Final = 16
LAST_RECORD: Final = b"\x02"

PLAIN_BYTES: Final = RECORD_BYTES - (SALT_BYTES + 4 + 1 + POINT_BYTES) - TAG_BYTES - len(LAST_RECORD)
"""The longest message."""


@attrs.frozen
class Receiver:
    """Whom a message is for: the browser's public key (an uncompressed point) and what it shares with the sender."""

    public_key: bytes
    auth: bytes = attrs.field(repr=False)

    @classmethod
    def of(cls, p256dh: str, auth: str) -> Receiver:
        """The keys of a subscription, in base64.

        :raises ValueError: naming the member that is wrong: `p256dh` or `auth`.
        """
        try:
            point = decoded(p256dh)
            ec.EllipticCurvePublicKey.from_encoded_point(CURVE, point)
        except ValueError as error:
            raise ValueError("p256dh") from error
        if len(point) != POINT_BYTES:  # the compressed form is a point too
            raise ValueError("p256dh")
        try:
            secret = decoded(auth)
        except ValueError as error:
            raise ValueError("auth") from error
        if len(secret) != AUTH_BYTES:
            raise ValueError("auth")
        return cls(point, secret)


def decoded(text: str) -> bytes:
    """Bytes from base64, of either alphabet, padded or not.

    :raises ValueError: when it is none.
    """
    plain = text.rstrip("=").replace("+", "-").replace("/", "_")
    if not plain.isascii():
        raise ValueError("not base64")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError("not base64") from error


def encoded(data: bytes) -> str:
    """base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def public_bytes(key: ec.EllipticCurvePrivateKey) -> bytes:
    """The public half as an uncompressed point."""
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def key_of(seed: bytes) -> ec.EllipticCurvePrivateKey:
    """A private key from SEED_BYTES of chance: enough for every key to be as likely as any other."""
    return ec.derive_private_key(int.from_bytes(seed, "big") % (_ORDER - 1) + 1, CURVE)


def encrypted(plain: bytes, receiver: Receiver, *, salt: bytes, key: ec.EllipticCurvePrivateKey) -> bytes:
    """The body of a push request. `key` and `salt` are for this message alone.

    :raises ValueError: for more than PLAIN_BYTES.
    """
    if len(plain) > PLAIN_BYTES:
        raise ValueError("the message is too long")
    own = public_bytes(key)
    shared = key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(CURVE, receiver.public_key))
    # RFC 8291, 3.3 and 3.4.
    keying = _derived(shared, receiver.auth, b"WebPush: info\0" + receiver.public_key + own, 32)
    content_key = _derived(keying, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(keying, salt, b"Content-Encoding: nonce\0", 12)
    header = salt + struct.pack(">IB", RECORD_BYTES, len(own)) + own
    return header + AESGCM(content_key).encrypt(nonce, plain + LAST_RECORD, None)


def _derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(secret)
