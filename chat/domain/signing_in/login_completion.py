"""The second step of signing in, and signing in with nothing but a passkey (signing_in.md, Second step).

A code is judged in the same unit of writing that uses the ticket up and begins the sign-in: of several requests with
one ticket one gets in, and no backup code is spent on a sign-in that does not come about.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import attrs
import structlog

from chat.domain.signing_in.authentication import Authentication, SignedIn
from chat.domain.signing_in.login_tickets import LoginTickets, timed_out
from chat.domain.signing_in.mfa_codes import MfaCodes
from chat.domain.signing_in.second_factors import SecondFactors
from chat.domain.signing_in.sign_ins import Client
from chat.domain.signing_in.webauthn_challenges import ChallengeContext
from chat.errors import ApiError, InvalidFormBody
from chat.store.accounts.accounts import Account

log: Final = structlog.get_logger("chat.accounts")


@attrs.define(kw_only=True, eq=False)
class LoginCompletion:
    """Takes second factors and passkeys."""

    _authentication: Authentication
    _tickets: LoginTickets
    _factors: SecondFactors
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
        # A backup code helps whoever has lost a passkey, too.
        if not needed.totp and not (needed.webauthn and needed.backup_codes):
            raise InvalidFormBody.at("code", "TOTP_NOT_ENABLED")

        def change(connection: sqlite3.Connection, account: Account) -> Account | ApiError:
            self._tickets.require(connection, shown, account)
            if not self._codes.use(connection, account.id, code):
                self._tickets.count_wrong(connection, shown)
                return wrong_code()
            self._tickets.use_up(connection, shown)
            return account

        return await self._authentication.complete(
            holder, client, refused=timed_out(), change=change, invite_code=shown.body["invite_code"]
        )

    async def webauthn_options(self, ticket: str) -> dict[str, Any]:
        """What to ask the account's passkeys for.

        :raises InvalidFormBody: SESSION_TIMEOUT at `ticket`.
        :raises ApiError: NO_PASSKEYS_REGISTERED where passkeys do not help.
        """
        _, holder = self._tickets.holder_of(ticket)
        self._require_passkeys(holder)
        return await self._factors.authentication_options(ChallengeContext.MFA, holder.id)

    async def webauthn(self, ticket: str, response: Mapping[str, Any], challenge: str, client: Client) -> SignedIn:
        """Complete a login with a passkey.

        :raises InvalidFormBody: SESSION_TIMEOUT at `ticket`.
        :raises ApiError: NO_PASSKEYS_REGISTERED, PASSKEY_AUTHENTICATION_FAILED; as `Authentication.complete`.
        """
        shown, holder = self._tickets.holder_of(ticket)
        self._require_passkeys(holder)
        proved = await self._factors.verify_assertion(ChallengeContext.MFA, response, challenge, holder.id)

        def change(connection: sqlite3.Connection, account: Account) -> Account | ApiError:
            self._tickets.require(connection, shown, account)
            if proved is None:
                self._tickets.count_wrong(connection, shown)
                return passkey_failed()
            self._tickets.use_up(connection, shown)
            return account

        return await self._authentication.complete(
            holder, client, refused=timed_out(), change=change, invite_code=shown.body["invite_code"]
        )

    async def passkey_options(self) -> dict[str, Any]:
        """What to ask whichever passkey the person has for."""
        return await self._factors.authentication_options(ChallengeContext.DISCOVERABLE, None)

    async def passkey(self, response: Mapping[str, Any], challenge: str, client: Client) -> SignedIn:
        """Sign in with a passkey that knows whom it belongs to: it has verified the person, so nothing else is asked.

        :raises ApiError: PASSKEY_AUTHENTICATION_FAILED; as `Authentication.complete`.
        """
        account = await self._factors.verify_assertion(ChallengeContext.DISCOVERABLE, response, challenge, None)
        if account is None:
            log.info("passkey refused", address=client.address)
            raise passkey_failed()
        return await self._authentication.complete(account, client, refused=passkey_failed())

    def _require_passkeys(self, account: Account) -> None:
        if not self._factors.second_factor_needed(account).webauthn:
            raise ApiError("NO_PASSKEYS_REGISTERED")


def wrong_code() -> InvalidFormBody:
    """What a code gets that is wrong, or one too many."""
    return InvalidFormBody.at("code", "INVALID_CODE")


def passkey_failed() -> ApiError:
    """What an assertion gets that proves nobody, for whatever reason."""
    return ApiError("PASSKEY_AUTHENTICATION_FAILED")
