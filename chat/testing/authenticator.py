"""A passkey authenticator in software, with the browser around it: honest, and able to lie.

It takes the options that the server answers with, as `navigator.credentials.create` and `.get` do, and gives back the
response object that a page would send:

    key = SoftwareAuthenticator("http://localhost:8080")
    options = (await bob.rest.post(f"{PASSKEYS}/registration-options", {"password": bob.password})).expect(200)
    body = {"response": key.create(options), "challenge": options["challenge"], "name": "Key"}
    (await bob.rest.post(PASSKEYS, body)).expect(204)

A `Lie` names what is to be wrong about one response: `key.get(options, Lie(origin="https://evil.example"))`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
from collections.abc import Mapping
from typing import Any, Final, Literal, TypedDict

import attrs
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.hashes import SHA256
from webauthn.helpers import encode_cbor

from chat.classes import define, frozen

Algorithm = Literal["ES256", "EdDSA"]

COSE_NUMBERS: Final[Mapping[str, int]] = {"ES256": -7, "EdDSA": -8}

AAGUID: Final = bytes.fromhex("c0ffee00c0ffee00c0ffee00c0ffee00")
"""The model that authenticators have unless told otherwise."""

CREDENTIAL_ID_BYTES: Final = 32
P256_ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551

_USER_PRESENT: Final = 0x01
_USER_VERIFIED: Final = 0x04
_CREDENTIAL_INCLUDED: Final = 0x40


class NotAllowed(Exception):
    """What a browser says when no passkey fits the options, or the authenticator has one that they exclude."""


@frozen(kw_only=True)
class Lie:
    """What is to be wrong about one response; None leaves the truth."""

    challenge: str | None = None
    """Another challenge than that of the options, in base64url."""
    origin: str | None = None
    rp_id: str | None = None
    type: str | None = None
    """The ceremony: `webauthn.create` or `webauthn.get`."""
    counter: int | None = None
    """The counter to send in place of the authenticator's own, which does not change by it."""
    signature: bytes | None = None
    user_handle: bytes | None = None
    credential_id: bytes | None = None
    user_present: bool = True
    user_verified: bool | None = None
    public_key: bytes | None = None
    """Of a registration: in place of the COSE key."""


HONEST: Final = Lie()


@define(eq=False)
class Passkey:
    """One credential that an authenticator holds."""

    credential_id: bytes
    rp_id: str
    user_handle: bytes
    private_key: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey = attrs.field(repr=False)
    counter: int = 0

    @property
    def public_key(self) -> bytes:
        """The public key as COSE has it."""
        if isinstance(self.private_key, ed25519.Ed25519PrivateKey):
            raw = self.private_key.public_key().public_bytes_raw()
            return encode_cbor({1: 1, 3: COSE_NUMBERS["EdDSA"], -1: 6, -2: raw})
        point = self.private_key.public_key().public_numbers()
        x, y = point.x.to_bytes(32, "big"), point.y.to_bytes(32, "big")
        return encode_cbor({1: 2, 3: COSE_NUMBERS["ES256"], -1: 1, -2: x, -3: y})

    def sign(self, data: bytes) -> bytes:
        if isinstance(self.private_key, ed25519.Ed25519PrivateKey):
            return self.private_key.sign(data)
        return self.private_key.sign(data, ec.ECDSA(SHA256()))


@define(eq=False)
class SoftwareAuthenticator:
    """An authenticator plugged into a browser that shows a page of `origin`.

    `counts` False makes one whose counter stays at zero; `verifies_user` is whether it knows who touches it. Keys and
    ids come from `chance`: the same seed gives the same.
    """

    origin: str
    algorithm: Algorithm = attrs.field(default="ES256", kw_only=True)
    aaguid: bytes = attrs.field(default=AAGUID, kw_only=True)
    counts: bool = attrs.field(default=True, kw_only=True)
    verifies_user: bool = attrs.field(default=True, kw_only=True)
    _chance: random.Random = attrs.field(factory=lambda: random.Random(0), kw_only=True)  # noqa: S311 - replays
    passkeys: list[Passkey] = attrs.field(factory=list, init=False)

    def create(self, options: Mapping[str, Any], lie: Lie = HONEST) -> CredentialAnswer:
        """The registration response to creation options.

        :raises NotAllowed: when it holds one of the excluded credentials, or its kind of key is not wanted.
        """
        rp_id = options["rp"]["id"]
        excluded = {from_base64url(descriptor["id"]) for descriptor in options.get("excludeCredentials", ())}
        if any(passkey.credential_id in excluded for passkey in self.passkeys):
            raise NotAllowed("the authenticator is registered already")
        if COSE_NUMBERS[self.algorithm] not in {parameter["alg"] for parameter in options["pubKeyCredParams"]}:
            raise NotAllowed("no key of this kind is wanted")
        passkey = Passkey(
            credential_id=self._chance.randbytes(CREDENTIAL_ID_BYTES),
            rp_id=rp_id,
            user_handle=from_base64url(options["user"]["id"]),
            private_key=self._private_key(),
        )
        self.passkeys.append(passkey)
        named = passkey.credential_id if lie.credential_id is None else lie.credential_id
        key = passkey.public_key if lie.public_key is None else lie.public_key
        attested = self.aaguid + len(named).to_bytes(2, "big") + named + key
        data = self._authenticator_data(passkey, lie, _CREDENTIAL_INCLUDED) + attested
        attestation = encode_cbor({"fmt": "none", "attStmt": {}, "authData": data})
        response = {
            "clientDataJSON": base64url(self._client_data("webauthn.create", options["challenge"], lie)),
            "attestationObject": base64url(attestation),
            "transports": ["usb", "nfc"],
        }
        return _credential(named, response)

    def get(self, options: Mapping[str, Any], lie: Lie = HONEST) -> CredentialAnswer:
        """The assertion response to request options, by the newest passkey that fits.

        :raises NotAllowed: when none does.
        """
        passkey = self._fitting(options)
        if self.counts:
            passkey.counter += 1
        client_data = self._client_data("webauthn.get", options["challenge"], lie)
        data = self._authenticator_data(passkey, lie)
        signed = passkey.sign(data + hashlib.sha256(client_data).digest())
        handle = passkey.user_handle if lie.user_handle is None else lie.user_handle
        response = {
            "clientDataJSON": base64url(client_data),
            "authenticatorData": base64url(data),
            "signature": base64url(signed if lie.signature is None else lie.signature),
            "userHandle": base64url(handle),
        }
        return _credential(passkey.credential_id if lie.credential_id is None else lie.credential_id, response)

    def _fitting(self, options: Mapping[str, Any]) -> Passkey:
        allowed = {from_base64url(descriptor["id"]) for descriptor in options.get("allowCredentials") or ()}
        if options.get("userVerification") == "required" and not self.verifies_user:
            raise NotAllowed("the authenticator does not know who touches it")
        for passkey in reversed(self.passkeys):
            if passkey.rp_id == options["rpId"] and (not allowed or passkey.credential_id in allowed):
                return passkey
        raise NotAllowed("the authenticator has no passkey that fits")

    def _private_key(self) -> ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey:
        if self.algorithm == "EdDSA":
            return ed25519.Ed25519PrivateKey.from_private_bytes(self._chance.randbytes(32))
        return ec.derive_private_key(self._chance.randrange(1, P256_ORDER), ec.SECP256R1())

    def _client_data(self, ceremony: str, challenge: str, lie: Lie) -> bytes:
        client_data = {
            "type": ceremony if lie.type is None else lie.type,
            "challenge": challenge if lie.challenge is None else lie.challenge,
            "origin": self.origin if lie.origin is None else lie.origin,
            "crossOrigin": False,
        }
        return json.dumps(client_data).encode()

    def _authenticator_data(self, passkey: Passkey, lie: Lie, flags: int = 0) -> bytes:
        rp_id = passkey.rp_id if lie.rp_id is None else lie.rp_id
        counter = passkey.counter if lie.counter is None else lie.counter
        if lie.user_present:
            flags |= _USER_PRESENT
        if self.verifies_user if lie.user_verified is None else lie.user_verified:
            flags |= _USER_VERIFIED
        return hashlib.sha256(rp_id.encode()).digest() + bytes([flags]) + counter.to_bytes(4, "big")


class CredentialAnswer(TypedDict):
    """What a browser gives for a credential, with bytes as base64url."""

    id: str
    rawId: str
    type: str
    authenticatorAttachment: str
    clientExtensionResults: dict[str, object]
    response: Mapping[str, object]


def _credential(credential_id: bytes, response: Mapping[str, object]) -> CredentialAnswer:
    name = base64url(credential_id)
    return {
        "id": name,
        "rawId": name,
        "type": "public-key",
        "authenticatorAttachment": "cross-platform",
        "clientExtensionResults": {},
        "response": response,
    }


def base64url(data: bytes) -> str:
    """Without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def from_base64url(text: str) -> bytes:
    """The reverse of `base64url`."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
