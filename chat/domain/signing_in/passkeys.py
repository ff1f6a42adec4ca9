"""Passkeys of accounts: how they come, are named and go, and whether they are a second factor (signing_in.md,
Passkeys)."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import attrs
import structlog

from chat import wire
from chat.auth.tokens import base64url
from chat.auth.webauthn import (
    NewCredential,
    RelyingParty,
    UnreadablePublicKey,
    credential_id_of,
    registered,
    registration_options,
)
from chat.bus.audience import ToAccounts
from chat.bus.bus import Event
from chat.classes import define, frozen
from chat.clock import iso_timestamp
from chat.domain.core import Core
from chat.domain.signing_in.passkey_assertions import ChallengeContext, WebauthnChallenges, descriptors, user_handle
from chat.domain.signing_in.sudo import SudoMode, SudoProof
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.registries.events import EventName
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.guard import Guard
from chat.store.signing_in import one_time_codes, webauthn_credentials
from chat.store.signing_in.webauthn_credentials import WebauthnCredential

log: Final = structlog.get_logger("chat.accounts")

CREDENTIALS: Final = 10
"""Passkeys that an account may have (signing_in.md, Passkeys)."""


@frozen
class Removal:
    """What follows from taking a passkey away: the account before and after, and the passkeys that it has left."""

    before: Account
    after: Account
    remaining: list[wire.WebauthnCredential]


@define(kw_only=True, eq=False)
class Passkeys:
    _core: Core
    _challenges: WebauthnChallenges
    _party: RelyingParty
    _sudo: SudoMode

    def of_account(self, user_id: int) -> list[wire.WebauthnCredential]:
        """The account's passkeys, the oldest first; replaced ones are left out."""
        return listed(self._core.database.reader, user_id)

    async def registration_options(self, account: Account, proof: SudoProof) -> wire.WebauthnCreationOptions:
        """The options of `navigator.credentials.create` with a new challenge; the answer carries no sudo token.
        A fresh sign-in is proof enough (signing_in.md, Passkeys).

        :raises ApiError: WEBAUTHN_CREDENTIAL_LIMIT_REACHED, SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: as SudoMode.require.
        """
        own = webauthn_credentials.listed_of_user(self._core.database.reader, account.id)
        if len(own) >= CREDENTIALS:
            raise ApiError(ErrorCode.WEBAUTHN_CREDENTIAL_LIMIT_REACHED)
        await self._sudo.require(account, proof, issues_token=False, sign_in_counts=True)
        return registration_options(
            attrs.evolve(self._party, name=self._core.settings.service_name),  # it can be chosen at run time
            await self._challenges.issue(ChallengeContext.REGISTRATION, account.id, proof.guard),
            handle=user_handle(account.id),
            name=account.username,
            display_name=account.global_name or account.username,
            known=descriptors(own),
        )

    async def register(
        self, account: Account, response: Mapping[str, Any], challenge: str, name: str, guard: Guard
    ) -> None:
        """Add the passkey that an authenticator made for the challenge, which is used up in any case.

        It takes the place of one with the same name and the same model of authenticator (signing_in.md, Passkeys).

        :raises ApiError: INVALID_WEBAUTHN_CREDENTIAL, INVALID_WEBAUTHN_PUBLIC_KEY_FORMAT,
            WEBAUTHN_CREDENTIAL_LIMIT_REACHED.
        """
        made: NewCredential | None = None
        refusal: ErrorCode | None = ErrorCode.INVALID_WEBAUTHN_CREDENTIAL
        try:
            made = registered(self._party, response, challenge)
        except UnreadablePublicKey:
            refusal = ErrorCode.INVALID_WEBAUTHN_PUBLIC_KEY_FORMAT

        def unit(connection: sqlite3.Connection) -> ErrorCode | None:
            """The code of the refusal: raised here, it would give the challenge back."""
            if not self._challenges.take(connection, ChallengeContext.REGISTRATION, challenge, account.id):
                return ErrorCode.INVALID_WEBAUTHN_CREDENTIAL
            return refusal if made is None else self._add(connection, account.id, made, name)

        def then(code: ErrorCode | None) -> None:
            if code is None:
                self._announce(account.id, self.of_account(account.id))

        code = await self._core.database.write(unit, then, guard=guard)
        if code is not None:
            raise ApiError(code)
        log.info("passkey registered", user_id=account.id)

    def _add(self, connection: sqlite3.Connection, user_id: int, made: NewCredential, name: str) -> ErrorCode | None:
        own = webauthn_credentials.listed_of_user(connection, user_id)
        replaced = [known for known in own if (known.aaguid, known.name) == (made.aaguid, name)]
        if len(own) - len(replaced) >= CREDENTIALS:
            return ErrorCode.WEBAUTHN_CREDENTIAL_LIMIT_REACHED
        if webauthn_credentials.by_id(connection, made.credential_id) is not None:
            return ErrorCode.INVALID_WEBAUTHN_CREDENTIAL
        credential = WebauthnCredential(
            credential_id=made.credential_id,
            user_id=user_id,
            name=name,
            public_key=made.public_key,
            sign_count=made.sign_count,
            aaguid=made.aaguid,
            transports=made.transports,
            backed_up=made.backed_up,
            created_at=self._core.clock.now_ms(),
        )
        webauthn_credentials.insert(connection, credential)
        for known in replaced:
            webauthn_credentials.replace(connection, known.credential_id, made.credential_id)
        return None

    async def rename(self, account: Account, credential: str, name: str, guard: Guard) -> None:
        """Call a passkey something else. Raises UNKNOWN_WEBAUTHN_CREDENTIAL."""
        credential_id = _id(credential)

        def unit(connection: sqlite3.Connection) -> list[wire.WebauthnCredential]:
            if not webauthn_credentials.rename(connection, account.id, credential_id, name):
                raise ApiError(ErrorCode.UNKNOWN_WEBAUTHN_CREDENTIAL)
            return listed(connection, account.id)

        await self._core.database.write(unit, lambda own: self._announce(account.id, own), guard=guard)

    async def delete(self, account: Account, credential: str, proof: SudoProof) -> None:
        """Take a passkey away, with those that it replaced. With the last one, passkeys are no second factor.

        :raises ApiError: UNKNOWN_WEBAUTHN_CREDENTIAL, SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: as SudoMode.require.
        """
        credential_id = _id(credential)
        known = webauthn_credentials.by_id(self._core.database.reader, credential_id)
        if known is None or known.user_id != account.id or known.replaced_by is not None:
            raise ApiError(ErrorCode.UNKNOWN_WEBAUTHN_CREDENTIAL)
        await self._sudo.require(account, proof)

        def unit(connection: sqlite3.Connection) -> Removal:
            removal = remove(connection, account.id, credential_id)
            if removal is None:
                raise ApiError(ErrorCode.UNKNOWN_WEBAUTHN_CREDENTIAL)
            return removal

        await self._core.database.write(unit, self.removed, guard=proof.guard)
        log.info("passkey deleted", user_id=account.id)

    async def set_second_factor(self, account: Account, *, enabled: bool, proof: SudoProof) -> None:
        """Choose whether a password alone still signs in where the account has passkeys (signing_in.md, Passkeys).

        :raises ApiError: NO_PASSKEYS_REGISTERED, SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: as SudoMode.require.
        """
        if enabled and not webauthn_credentials.is_one_listed(self._core.database.reader, account.id):
            raise ApiError(ErrorCode.NO_PASSKEYS_REGISTERED)
        await self._sudo.require(account, proof)

        def unit(connection: sqlite3.Connection) -> tuple[Account, Account]:
            before = accounts.by_id(connection, account.id)
            if before is None:
                raise ApiError(ErrorCode.UNAUTHORIZED)
            if enabled and not webauthn_credentials.is_one_listed(connection, account.id):
                raise ApiError(ErrorCode.NO_PASSKEYS_REGISTERED)
            after = attrs.evolve(before, passkey_second_factor=enabled)
            accounts.replace(connection, after)
            return before, after

        def then(changed: tuple[Account, Account]) -> None:
            before, after = changed
            if after != before:
                self._core.account_events.changed(before, after)

        await self._core.database.write(unit, then, guard=proof.guard)
        log.info("passkeys as second factor", user_id=account.id, enabled=enabled)

    def removed(self, removal: Removal) -> None:
        """Tell the account's sessions that a passkey was removed. Call it after the commit."""
        if removal.after != removal.before:
            self._core.account_events.changed(removal.before, removal.after)
        self._announce(removal.after.id, removal.remaining)

    def _announce(self, user_id: int, own: list[wire.WebauthnCredential]) -> None:
        self._core.bus.publish(Event(EventName.WEBAUTHN_CREDENTIALS_UPDATE, own, ToAccounts((user_id,))))


def listed(connection: sqlite3.Connection, user_id: int) -> list[wire.WebauthnCredential]:
    """The account's passkeys as the wire has them, the oldest first."""
    return [webauthn_credential(credential) for credential in webauthn_credentials.listed_of_user(connection, user_id)]


def remove(connection: sqlite3.Connection, user_id: int, credential_id: bytes) -> Removal | None:
    """In a unit of writing: take a listed passkey of the account away; None where there is no such.

    With the last one passkeys are no second factor any more (signing_in.md, Passkeys), and backup codes that no factor
    is left for go as well.
    """
    before = accounts.by_id(connection, user_id)
    if before is None or not webauthn_credentials.delete(connection, user_id, credential_id):
        return None
    remaining = listed(connection, user_id)
    after = before
    if not remaining:
        after = attrs.evolve(before, passkey_second_factor=False)
        if after.totp_secret is None:
            one_time_codes.delete_backup_codes(connection, user_id)
    if after != before:
        accounts.replace(connection, after)
    return Removal(before, after, remaining)


def _id(credential: str) -> bytes:
    """The id that a path names; what is no base64url names no passkey. Raises UNKNOWN_WEBAUTHN_CREDENTIAL."""
    credential_id = credential_id_of(credential)
    if credential_id is None:
        raise ApiError(ErrorCode.UNKNOWN_WEBAUTHN_CREDENTIAL)
    return credential_id


def webauthn_credential(credential: WebauthnCredential) -> wire.WebauthnCredential:
    """A passkey as its account and the administration see it."""
    used = credential.last_used_at
    return {
        "id": base64url(credential.credential_id),
        "name": credential.name,
        "created_at": iso_timestamp(credential.created_at),
        "last_used_at": None if used is None else iso_timestamp(used),
    }
