"""Passkeys that prove who one is: what an authenticator is asked, and its answer (signing_in.md, Passkeys)."""

from __future__ import annotations

import enum
import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import structlog

from chat import wire
from chat.auth.tokens import token_hash
from chat.auth.webauthn import Descriptor, RelyingParty, asserted, authentication_options, claim_of
from chat.classes import define
from chat.domain.core import Core
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.guard import Guard
from chat.store.signing_in import tickets, webauthn_credentials
from chat.store.signing_in.tickets import Ticket
from chat.store.signing_in.webauthn_credentials import WebauthnCredential

CHALLENGE_LIFETIME_MS: Final = 5 * 60_000

log: Final = structlog.get_logger("chat.accounts")


class ChallengeContext(enum.StrEnum):
    """What an authenticator is asked for; the kind of the challenge's ticket."""

    REGISTRATION = "webauthn_registration"
    """A new passkey."""

    DISCOVERABLE = "webauthn_discoverable"
    """Signing in with nothing but a passkey."""

    BRIDGE = "webauthn_bridge"
    """Signing in elsewhere, over the passkey bridge."""

    MFA = "webauthn_mfa"
    """The second step of signing in."""

    SUDO = "webauthn_sudo"
    """Sudo mode."""


@define(kw_only=True, eq=False)
class WebauthnChallenges:
    """Issues challenges and takes them back. Each is good for one answer, for five minutes, for one purpose and, where
    the account is known, for one account."""

    _core: Core

    async def issue(self, context: ChallengeContext, user_id: int | None, guard: Guard) -> str:
        """A new challenge, base64url of 32 random bytes; `user_id` is None where the account is not known yet."""
        challenge = self._core.mint.secret()
        now = self._core.clock.now_ms()
        ticket = Ticket(token_hash(challenge), context.value, user_id, {}, now, now + CHALLENGE_LIFETIME_MS)
        await self._core.database.write(lambda connection: tickets.insert(connection, ticket), guard=guard)
        return challenge

    def take(
        self, connection: sqlite3.Connection, context: ChallengeContext, challenge: str, user_id: int | None
    ) -> bool:
        """In a unit of writing: use the challenge up; False when it is none, or none for this purpose and account.

        The caller must let the unit succeed even if what follows fails, or the challenge is good once more.
        """
        ticket = tickets.take(connection, context.value, token_hash(challenge), self._core.clock.now_ms())
        return ticket is not None and ticket.user_id == user_id


@define(kw_only=True, eq=False)
class PasskeyAssertions:
    _core: Core
    _challenges: WebauthnChallenges
    _party: RelyingParty

    async def options(
        self, context: ChallengeContext, user_id: int | None, guard: Guard
    ) -> wire.WebauthnRequestOptions:
        """The options of `navigator.credentials.get` with a new challenge (signing_in.md, Second step).

        `user_id` is None for DISCOVERABLE and BRIDGE, and the account's for the others.

        :raises ApiError: NO_PASSKEYS_REGISTERED for an account without any.
        """
        allowed = None
        if user_id is not None:
            own = webauthn_credentials.listed_of_user(self._core.database.reader, user_id)
            if not own:
                raise ApiError(ErrorCode.NO_PASSKEYS_REGISTERED)
            allowed = descriptors(own)
        return authentication_options(self._party, await self._challenges.issue(context, user_id, guard), allowed)

    async def verify(
        self, context: ChallengeContext, response: Mapping[str, Any], challenge: str, user_id: int | None, guard: Guard
    ) -> Account | None:
        """The account whose passkey answered the challenge, None if none did. The challenge is used up either way.

        `user_id` names the account that has to be proved; None takes any, and then the authenticator has to have known
        the person. A counter that does not go forward is a copied passkey: refused.
        """
        credential = self._named(response, user_id)
        sign_count = None
        if credential is not None:
            sign_count = asserted(
                self._party, response, challenge, credential.public_key, verifies_user=user_id is None
            )

        def unit(connection: sqlite3.Connection) -> Account | None:
            if not self._challenges.take(connection, context, challenge, user_id):
                return None
            if credential is None or sign_count is None:
                return None
            now = self._core.clock.now_ms()
            if not webauthn_credentials.note_use(connection, credential.credential_id, sign_count, now):
                log.warning("passkey counter did not go forward", user_id=credential.user_id)
                return None
            return accounts.by_id(connection, credential.user_id)

        return await self._core.database.write(unit, guard=guard)

    def _named(self, response: Mapping[str, Any], user_id: int | None) -> WebauthnCredential | None:
        """The passkey that a response names, if it may speak for the account that is asked for."""
        claim = claim_of(response)
        if claim is None:
            return None
        credential = webauthn_credentials.by_id(self._core.database.reader, claim.credential_id)
        if credential is None or credential.replaced_by is not None:
            return None
        if user_id is not None and credential.user_id != user_id:
            return None
        if claim.user_handle is not None and claim.user_handle != user_handle(credential.user_id):
            return None
        return credential


def user_handle(user_id: int) -> bytes:
    """What authenticators know an account by: its decimal id (signing_in.md, Passkeys)."""
    return str(user_id).encode()


def descriptors(credentials: list[WebauthnCredential]) -> list[Descriptor]:
    """Passkeys as options name them."""
    return [Descriptor(credential.credential_id, credential.transports) for credential in credentials]
