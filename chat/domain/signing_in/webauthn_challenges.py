"""WebAuthn challenges: each is good for one answer, for five minutes, for one purpose and, where the account is known,
for one account (signing_in.md, Passkeys)."""

from __future__ import annotations

import enum
import sqlite3
from typing import Final

import attrs

from chat.auth.tokens import token_hash
from chat.domain.core import Core
from chat.store.signing_in import tickets
from chat.store.signing_in.tickets import Ticket

LIFETIME_MS: Final = 5 * 60_000


class ChallengeContext(enum.StrEnum):
    """What an authenticator is asked for."""

    REGISTRATION = "registration"
    """A new passkey."""

    DISCOVERABLE = "discoverable"
    """Signing in with nothing but a passkey."""

    BRIDGE = "bridge"
    """Signing in elsewhere, over the passkey bridge."""

    MFA = "mfa"
    """The second step of signing in."""

    SUDO = "sudo"
    """Sudo mode."""


@attrs.define(kw_only=True, eq=False)
class WebauthnChallenges:
    """Issues challenges and takes them back."""

    _core: Core

    async def issue(self, context: ChallengeContext, user_id: int | None) -> str:
        """A new challenge, base64url of 32 random bytes; `user_id` is None where the account is not known yet."""
        challenge = self._core.mint.secret()
        now = self._core.clock.now_ms()
        ticket = Ticket(token_hash(challenge), _kind(context), user_id, {}, now, now + LIFETIME_MS)
        await self._core.database.write(lambda connection: tickets.insert(connection, ticket))
        return challenge

    def take(
        self, connection: sqlite3.Connection, context: ChallengeContext, challenge: str, user_id: int | None
    ) -> bool:
        """In a unit of writing: use the challenge up; False when it is none, or none for this purpose and account.

        Whoever calls must let the unit succeed even if what follows fails, or the challenge is good once more.
        """
        ticket = tickets.take(connection, _kind(context), token_hash(challenge), self._core.clock.now_ms())
        return ticket is not None and ticket.user_id == user_id


def _kind(context: ChallengeContext) -> str:
    return f"webauthn_{context}"
