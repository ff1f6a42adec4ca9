"""The second step of signing in, and signing in with nothing but a passkey (signing_in.md, Second step).

A code is judged in the same unit of writing that uses the ticket up and begins the sign-in: of several requests with
one ticket one gets in, and no backup code is spent on a sign-in that does not come about.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs
import structlog

from chat.domain.signing_in.authentication import Authentication, LoginTickets, SignedIn, Way, timed_out
from chat.domain.signing_in.mfa_codes import MfaCodes
from chat.domain.signing_in.passkey_assertions import ChallengeContext, PasskeyAssertions
from chat.domain.signing_in.sign_ins import Client
from chat.domain.signing_in.sudo import SecondFactors
from chat.errors import ApiError, InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.store.accounts.accounts import Account
from chat.store.guard import Guard
from chat.store.signing_in.tickets import Ticket

log: Final = structlog.get_logger("chat.accounts")


@attrs.define(kw_only=True, eq=False)
class LoginCompletion:
    """Takes second factors and passkeys."""

    _authentication: Authentication
    _tickets: LoginTickets
    _factors: SecondFactors
    _assertions: PasskeyAssertions
    _codes: MfaCodes

    def user_of(self, ticket: str) -> int:
        """The account that a login ticket is for.

        :raises InvalidFormBody: SESSION_TIMEOUT at `ticket`.
        :raises ApiError: as `SignIns.admitted`.
        """
        return self._tickets.holder_of(ticket)[1].id

    async def totp(self, ticket: str, code: str, client: Client) -> SignedIn:
        """Complete a login with a code of the authenticator, or with a backup code.

        :raises InvalidFormBody: SESSION_TIMEOUT at `ticket`; TOTP_NOT_ENABLED, INVALID_CODE at `code`.
        :raises ApiError: as `Authentication.complete`.
        """
        shown, holder = self._tickets.holder_of(ticket)
        needed = self._factors.second_factor_needed(holder)
        # A backup code helps those who have lost a passkey, too.
        if not needed.totp and not (needed.webauthn and needed.backup_codes):
            raise InvalidFormBody.at("code", FieldCode.TOTP_NOT_ENABLED)
        return await self._complete(
            shown, holder, client, lambda connection: self._codes.use(connection, holder.id, code), wrong_code()
        )

    async def webauthn_options(self, ticket: str, guard: Guard) -> dict[str, Any]:
        """What to ask the account's passkeys for.

        :raises InvalidFormBody: SESSION_TIMEOUT at `ticket`.
        :raises ApiError: NO_PASSKEYS_REGISTERED where passkeys do not help.
        """
        _, holder = self._tickets.holder_of(ticket)
        self._require_passkeys(holder)
        return await self._assertions.options(ChallengeContext.MFA, holder.id, guard)

    async def webauthn(self, ticket: str, response: Mapping[str, Any], challenge: str, client: Client) -> SignedIn:
        """Complete a login with a passkey.

        :raises InvalidFormBody: SESSION_TIMEOUT at `ticket`.
        :raises ApiError: NO_PASSKEYS_REGISTERED, PASSKEY_AUTHENTICATION_FAILED; as `Authentication.complete`.
        """
        shown, holder = self._tickets.holder_of(ticket)
        self._require_passkeys(holder)
        proved = await self._assertions.verify(ChallengeContext.MFA, response, challenge, holder.id, client.guard)
        return await self._complete(shown, holder, client, lambda _: proved is not None, passkey_failed())

    async def passkey_options(self, guard: Guard) -> dict[str, Any]:
        """What to ask any passkey for that the person has."""
        return await self._assertions.options(ChallengeContext.DISCOVERABLE, None, guard)

    async def passkey(self, response: Mapping[str, Any], challenge: str, client: Client) -> SignedIn:
        """Sign in with a passkey that knows whom it belongs to: it has verified the person, so nothing else is asked.

        :raises ApiError: PASSKEY_AUTHENTICATION_FAILED; as `Authentication.complete`.
        """
        account = await self._assertions.verify(ChallengeContext.DISCOVERABLE, response, challenge, None, client.guard)
        if account is None:
            log.info("passkey refused", address=client.address)
            raise passkey_failed()
        return await self._authentication.complete(account, client, Way(refused=passkey_failed()))

    async def _complete(
        self,
        shown: Ticket,
        holder: Account,
        client: Client,
        is_right: Callable[[sqlite3.Connection], bool],
        refused: ApiError,
    ) -> SignedIn:
        """Sign in the holder of the ticket if the factor `is_right`; a wrong one is counted and `refused`."""

        def change(connection: sqlite3.Connection, account: Account) -> Account | ApiError:
            self._tickets.require(connection, shown, account)
            if not is_right(connection):
                self._tickets.count_wrong(connection, shown)
                return refused
            self._tickets.use_up(connection, shown)
            return account

        way = Way(refused=timed_out(), change=change, invite_code=shown.body["invite_code"])
        return await self._authentication.complete(holder, client, way)

    def _require_passkeys(self, account: Account) -> None:
        if not self._factors.second_factor_needed(account).webauthn:
            raise ApiError(ErrorCode.NO_PASSKEYS_REGISTERED)


def wrong_code() -> InvalidFormBody:
    """What a code gets that is wrong, or one too many."""
    return InvalidFormBody.at("code", FieldCode.INVALID_CODE)


def passkey_failed() -> ApiError:
    """What an assertion gets that proves no account, for any reason."""
    return ApiError(ErrorCode.PASSKEY_AUTHENTICATION_FAILED)
