"""Encrypting a push message for the one browser that subscribed (RFC 8291, with the encoding of RFC 8188), and how this
instance names itself to push services (VAPID, RFC 8292).

The push service that carries a message learns nothing but its size. The instance's key belongs to its secret, so it is
the same after every start: a subscription is bound to it. `cryptography` is imported by the first that needs it
(`chat.auth.keys`).
"""

from __future__ import annotations

import base64
import binascii
import collections
import functools
import struct
from typing import TYPE_CHECKING, Final

import attrs

from chat.auth.keys import Keys
from chat.classes import frozen
from chat.clock import Clock

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import ec

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


@frozen
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
            _public_key(point)
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
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def key_of(seed: bytes) -> ec.EllipticCurvePrivateKey:
    """A private key from SEED_BYTES of chance: enough for every key to be as likely as any other."""
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.derive_private_key(int.from_bytes(seed, "big") % (_ORDER - 1) + 1, ec.SECP256R1())


def _public_key(point: bytes) -> ec.EllipticCurvePublicKey:
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)


def encrypted(plain: bytes, receiver: Receiver, *, salt: bytes, key: ec.EllipticCurvePrivateKey) -> bytes:
    """The body of a push request. `key` and `salt` are for this message alone.

    :raises ValueError: for more than PLAIN_BYTES.
    """
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if len(plain) > PLAIN_BYTES:
        raise ValueError("the message is too long")
    own = public_bytes(key)
    shared = key.exchange(ec.ECDH(), _public_key(receiver.public_key))
    # RFC 8291, 3.3 and 3.4.
    keying = _derived(shared, receiver.auth, b"WebPush: info\0" + receiver.public_key + own, 32)
    content_key = _derived(keying, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(keying, salt, b"Content-Encoding: nonce\0", 12)
    header = salt + struct.pack(">IB", RECORD_BYTES, len(own)) + own
    return header + AESGCM(content_key).encrypt(nonce, plain + LAST_RECORD, None)


def _derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(secret)


TOKEN_MS: Final = 12 * 3_600_000
"""How long a token counts; push services accept up to a day."""

RENEWED_BEFORE_MS: Final = 3_600_000
ORIGINS_REMEMBERED: Final = 256


class Vapid:
    """Makes the Authorization of push requests. `contact` is where the operator of a push service may turn to."""

    def __init__(self, keys: Keys, clock: Clock, contact: str) -> None:
        self._keys = keys
        self._clock = clock
        self._contact = contact
        self._tokens: collections.OrderedDict[str, tuple[str, int]] = collections.OrderedDict()

    @functools.cached_property
    def _key(self) -> ec.EllipticCurvePrivateKey:
        return key_of(self._keys.of("web push, first half") + self._keys.of("web push, second half"))

    @functools.cached_property
    def public_key(self) -> str:
        """What a browser subscribes with (`applicationServerKey`), base64url."""
        return encoded(public_bytes(self._key))

    def authorization(self, origin: str) -> str:
        """The header for a push service."""
        import jwt  # a third of a second, which a server that sends nothing does not pay

        now_ms = self._clock.now_ms()
        token, ends_at = self._tokens.get(origin, ("", 0))
        if ends_at - RENEWED_BEFORE_MS <= now_ms or ends_at - TOKEN_MS > now_ms:
            ends_at = now_ms + TOKEN_MS
            claims = {"aud": origin, "exp": ends_at // 1_000, "sub": self._contact}
            token = jwt.encode(claims, self._key, algorithm="ES256")
            self._tokens[origin] = token, ends_at
            if len(self._tokens) > ORIGINS_REMEMBERED:
                self._tokens.popitem(last=False)
        return f"vapid t={token}, k={self.public_key}"
