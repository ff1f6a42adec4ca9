"""Passkeys as browsers and authenticators have them: the options of both ceremonies, and their answers, judged (Web
Authentication level 3, sections 7.1 and 7.2; signing_in.md, Passkeys).

Binary members are unpadded base64url, as `PublicKeyCredential.parseCreationOptionsFromJSON` and its twin want them. The
checks of answers are py_webauthn's; here is what stands around them: bounds before anything is parsed, no exception of
any kind for bytes that a stranger made up, and the counter left to the caller, who keeps it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import structlog

from chat import wire
from chat.auth.tokens import base64url, from_base64url
from chat.classes import frozen
from chat.config import Settings

TIMEOUT_MS: Final = 60_000
"""How long a browser waits for the person."""

ALGORITHMS: Final = (-8, -7, -257)
"""Keys that are taken, as COSE numbers, the best first: EdDSA, ES256, RS256."""

TRANSPORTS: Final = frozenset({"ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"})
"""Ways to an authenticator that are remembered and told (signing_in.md, Passkeys)."""

IDENTIFIER_CHARACTERS: Final = 1_366
"""Of a credential's id in base64url: 1,023 bytes at most."""

MEMBER_CHARACTERS: Final = 65_536
"""Of any other member of a response."""

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}

log: Final = structlog.get_logger("chat.accounts")


@frozen
class RelyingParty:
    """Who asks: the instance, as authenticators know it (signing_in.md, Passkeys)."""

    id: str
    name: str
    origins: tuple[str, ...]
    """Where pages and programs may have asked from, in the form of `window.origin`."""

    @classmethod
    def of(cls, settings: Settings) -> RelyingParty:
        """The party that these settings describe."""
        origins = (_origin(settings.public_url), f"http://localhost:{settings.port}")
        return cls(settings.relying_party_id, settings.service_name, origins)


@frozen
class Descriptor:
    """A credential that an authenticator may be asked for."""

    credential_id: bytes
    transports: tuple[str, ...] = ()

    def as_member(self) -> wire.CredentialDescriptor:
        """The credential descriptor."""
        data: wire.CredentialDescriptor = {"id": base64url(self.credential_id), "type": "public-key"}
        if self.transports:
            data["transports"] = list(self.transports)
        return data


def registration_options(
    party: RelyingParty, challenge: str, *, handle: bytes, name: str, display_name: str, known: Sequence[Descriptor]
) -> wire.WebauthnCreationOptions:
    """The options of `navigator.credentials.create`; `known` are credentials whose authenticator is not to make another
    one."""
    return {
        "rp": {"name": party.name, "id": party.id},
        "user": {"id": base64url(handle), "name": name, "displayName": display_name},
        "challenge": challenge,
        "pubKeyCredParams": [{"alg": algorithm, "type": "public-key"} for algorithm in ALGORITHMS],
        "timeout": TIMEOUT_MS,
        "excludeCredentials": [descriptor.as_member() for descriptor in known],
        "authenticatorSelection": {
            "residentKey": "preferred",
            "requireResidentKey": False,
            "userVerification": "preferred",
        },
        "attestation": "none",
        "extensions": {"credProps": True},
        "hints": [],
    }


def authentication_options(
    party: RelyingParty, challenge: str, allowed: Sequence[Descriptor] | None = None
) -> wire.WebauthnRequestOptions:
    """The options of `navigator.credentials.get`.

    `allowed` are the credentials of a known account, whose password or session has been seen; None asks for whichever
    the person picks, and then the authenticator has to know the person.
    """
    data: wire.WebauthnRequestOptions = {
        "challenge": challenge,
        "timeout": TIMEOUT_MS,
        "rpId": party.id,
        "userVerification": "required" if allowed is None else "discouraged",
    }
    if allowed is not None:
        data["allowCredentials"] = [descriptor.as_member() for descriptor in allowed]
    return data


def credential_id_of(text: str) -> bytes | None:
    """The reverse of `base64url`; None for text that it never makes."""
    data = from_base64url(text)
    return data if data is not None and base64url(data) == text else None


def _origin(url: str) -> str:
    """As a browser writes it: in lower case, without a port that goes without saying."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    usual = parts.port is None or parts.port == _DEFAULT_PORTS.get(parts.scheme)
    return f"{parts.scheme}://{host}" if usual else f"{parts.scheme}://{host}:{parts.port}"


class UnreadablePublicKey(ValueError):
    """A credential's public key is of no kind that was offered, or is none at all."""


@frozen
class NewCredential:
    """A credential as its authenticator has just made it."""

    credential_id: bytes
    public_key: bytes
    """COSE."""
    sign_count: int
    aaguid: str
    """The authenticator's model as a UUID; all zero where the browser withholds it."""
    transports: tuple[str, ...]
    backed_up: bool


@frozen
class Claim:
    """What an assertion says of itself before anything is checked."""

    credential_id: bytes
    user_handle: bytes | None


def registered(party: RelyingParty, response: Mapping[str, Any], challenge: str) -> NewCredential | None:
    """The credential that a registration response proves to have been made for this challenge; None if it does not.

    :raises UnreadablePublicKey: when all is well but the key.
    """
    inner = response.get("response")
    credential = _members(response, ("clientDataJSON", "attestationObject"))
    expected = _bytes(challenge)
    if credential is None or expected is None or not isinstance(inner, Mapping):
        return None
    from webauthn import verify_registration_response
    from webauthn.helpers.cose import COSEAlgorithmIdentifier
    from webauthn.helpers.exceptions import InvalidPublicKeyStructure, UnsupportedPublicKeyType

    try:
        verified = verify_registration_response(
            credential=credential,
            expected_challenge=expected,
            expected_rp_id=party.id,
            expected_origin=list(party.origins),
            supported_pub_key_algs=[COSEAlgorithmIdentifier(algorithm) for algorithm in ALGORITHMS],
        )
        _require_readable(verified.credential_public_key)
    except (InvalidPublicKeyStructure, UnsupportedPublicKeyType) as error:
        raise UnreadablePublicKey from error
    except UnreadablePublicKey:
        raise
    except Exception as error:  # noqa: BLE001 - the library's parsers let all kinds out when bytes are made up
        log.info("passkey not registered", reason=_reason(error))
        return None
    return NewCredential(
        credential_id=verified.credential_id,
        public_key=verified.credential_public_key,
        sign_count=verified.sign_count,
        aaguid=verified.aaguid,
        transports=_transports(inner.get("transports")),
        backed_up=verified.credential_backed_up,
    )


def claim_of(response: Mapping[str, Any]) -> Claim | None:
    """Which credential an assertion response names; None when it has not the form of one."""
    credential = _members(response, ("clientDataJSON", "authenticatorData", "signature"))
    if credential is None:
        return None
    credential_id = _bytes(credential["id"])
    handle = response["response"].get("userHandle")
    if credential_id is None or not credential_id or not isinstance(handle, str | None):
        return None
    return Claim(credential_id, None if handle is None else _bytes(handle) or b"")


def asserted(
    party: RelyingParty, response: Mapping[str, Any], challenge: str, public_key: bytes, *, verifies_user: bool
) -> int | None:
    """The signature counter of an assertion that this key made for this challenge; None if it did not.

    Whether the counter went forward is not judged. `verifies_user` asks that the authenticator knew the person.
    """
    credential = _members(response, ("clientDataJSON", "authenticatorData", "signature"))
    expected = _bytes(challenge)
    if credential is None or expected is None:
        return None
    from webauthn import verify_authentication_response
    from webauthn.helpers import base64url_to_bytes, parse_authenticator_data

    try:
        verify_authentication_response(
            credential=credential,
            expected_challenge=expected,
            expected_rp_id=party.id,
            expected_origin=list(party.origins),
            credential_public_key=public_key,
            credential_current_sign_count=0,
            require_user_verification=verifies_user,
        )
        data = parse_authenticator_data(base64url_to_bytes(credential["response"]["authenticatorData"]))
    except Exception as error:  # noqa: BLE001 - as in `registered`
        log.info("passkey not accepted", reason=_reason(error))
        return None
    return data.sign_count


# `dict[str, Any]`: JSON of a browser, as py_webauthn takes it.
def _members(response: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any] | None:
    """The members that are checked, and no others; None unless each is text of a bounded length."""
    inner = response.get("response")
    if not isinstance(inner, Mapping):
        return None
    outer = {name: response.get(name) for name in ("id", "rawId", "type")}
    picked = {name: inner.get(name) for name in names}
    if not all(_is_text(value, IDENTIFIER_CHARACTERS) for value in outer.values()):
        return None
    if not all(_is_text(value, MEMBER_CHARACTERS) for value in picked.values()):
        return None
    return {**outer, "response": picked}


def _is_text(value: object, most: int) -> bool:
    return isinstance(value, str) and 0 < len(value) <= most


def _bytes(text: str) -> bytes | None:
    """The bytes behind base64url with or without padding; None for other text."""
    return from_base64url(text.rstrip("="))


def _require_readable(public_key: bytes) -> None:
    """Raise UnreadablePublicKey for a key that no assertion could be checked with."""
    from webauthn.helpers import decode_credential_public_key, decoded_public_key_to_cryptography

    try:
        decoded_public_key_to_cryptography(decode_credential_public_key(public_key))
    except Exception as error:
        # A point that lies on no curve, a modulus of no size: cryptography and the library say so in many ways.
        raise UnreadablePublicKey from error


def _transports(value: object) -> tuple[str, ...]:
    named = value if isinstance(value, list) else []
    return tuple(sorted({transport for transport in named if isinstance(transport, str)} & TRANSPORTS))


def _reason(error: Exception) -> str:
    """What the log is told: the kind of failure, and of py_webauthn's own its sentence, which quotes no secret."""
    from webauthn.helpers.exceptions import WebAuthnException

    return str(error)[:200] if isinstance(error, WebAuthnException) else type(error).__name__
