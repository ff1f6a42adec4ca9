"""Passkeys as the wire has them: no key, no attestation, no counter (signing_in.md, Passkeys)."""

from __future__ import annotations

from typing import Any

from chat.auth.webauthn_options import base64url
from chat.clock import iso_timestamp
from chat.store.signing_in.webauthn_credentials import WebauthnCredential


def webauthn_credential(credential: WebauthnCredential) -> dict[str, Any]:
    """A passkey as its account and the administration see it."""
    used = credential.last_used_at
    return {
        "id": base64url(credential.credential_id),
        "name": credential.name,
        "created_at": iso_timestamp(credential.created_at),
        "last_used_at": None if used is None else iso_timestamp(used),
    }
