"""What a browser is told before it asks an authenticator: the options of both ceremonies (signing_in.md, Passkeys).

Binary members are unpadded base64url, as `PublicKeyCredential.parseCreationOptionsFromJSON` and its twin want them.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import attrs

from chat.config import Settings

TIMEOUT_MS: Final = 60_000
"""How long a browser waits for the person."""

ALGORITHMS: Final = (-8, -7, -257)
"""Keys that are taken, as COSE numbers, the best first: EdDSA, ES256, RS256."""

TRANSPORTS: Final = frozenset({"ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"})
"""Ways to an authenticator that are remembered and told (signing_in.md, Passkeys)."""

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


@attrs.frozen
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


@attrs.frozen
class Descriptor:
    """A credential that an authenticator may be asked for."""

    credential_id: bytes
    transports: tuple[str, ...] = ()

    def as_member(self) -> dict[str, Any]:
        """The credential descriptor."""
        data: dict[str, Any] = {"id": base64url(self.credential_id), "type": "public-key"}
        if self.transports:
            data["transports"] = list(self.transports)
        return data


def registration_options(
    party: RelyingParty,
    challenge: str,
    *,
    handle: bytes,
    name: str,
    display_name: str,
    known: Sequence[Descriptor],
) -> dict[str, Any]:
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
) -> dict[str, Any]:
    """The options of `navigator.credentials.get`.

    `allowed` are the credentials of a known account, whose password or session has been seen; None asks for whichever
    the person picks, and then the authenticator has to know the person.
    """
    data: dict[str, Any] = {"challenge": challenge, "timeout": TIMEOUT_MS, "rpId": party.id}
    if allowed is not None:
        data["allowCredentials"] = [descriptor.as_member() for descriptor in allowed]
    data["userVerification"] = "required" if allowed is None else "discouraged"
    return data


def base64url(data: bytes) -> str:
    """Without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def credential_id_of(text: str) -> bytes | None:
    """The reverse of `base64url`; None for text that it never makes."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return None
    return data if base64url(data) == text else None


def _origin(url: str) -> str:
    """As a browser writes it: in lower case, without a port that goes without saying."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    usual = parts.port is None or parts.port == _DEFAULT_PORTS.get(parts.scheme)
    return f"{parts.scheme}://{host}" if usual else f"{parts.scheme}://{host}:{parts.port}"
