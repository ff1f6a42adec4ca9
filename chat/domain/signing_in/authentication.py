"""Password login, logout, and what every way of signing in has in common (signing_in.md, Login).

Whatever proves somebody to be the holder of an account (a password, a second factor, a passkey, a mailed link, a
provider), the sign-in itself is made by `complete`, or by `proceed` where a second factor may still be asked for.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, Final

import attrs
import structlog

from chat.auth.principal import Principal
from chat.auth.turns import Asker
from chat.domain.core import Core
from chat.domain.signing_in.ip_authorization import IpAuthorization
from chat.domain.signing_in.login_tickets import LoginTickets, MfaChallenge
from chat.domain.signing_in.sign_ins import Client, SignIn, SignIns
from chat.errors import ApiError, FieldError, InvalidFormBody
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account

log: Final = structlog.get_logger("chat.accounts")

WRONG: Final = "INVALID_EMAIL_OR_PASSWORD"

SHOWN_NOW: Final = -1
"""In the place of a moment: the one at which the sign-in is made."""

Change = Callable[[sqlite3.Connection, Account], Account | ApiError]
"""What a way of signing in does in the unit of writing, before the sign-in: given the account as it is at that moment,
it returns the account as it is to be written. It raises to refuse with nothing written, and returns an error to refuse
with what it wrote itself standing, such as a wrong attempt that is counted."""

Then = Callable[[Account, Account], None]
"""After the commit, with the account before and after: what is to be published."""


def _as_it_is(connection: sqlite3.Connection, account: Account) -> Account:
    return account


def _nothing(before: Account, after: Account) -> None:
    """Nobody needs to be told."""


@attrs.frozen
class SignedIn:
    """A sign-in that is written."""

    account: Account
    sign_in: SignIn
    invite_code: str | None = None
    """What the login asked to join."""

    def answer(self) -> dict[str, Any]:
        """The token response (signing_in.md, Login)."""
        return self.sign_in.answer(self.account)


@attrs.frozen
class _Way:
    """How somebody signs in: the arguments of `complete` and `proceed`."""

    refused: ApiError
    change: Change
    then: Then
    address_is_proved: bool
    invite_code: str | None
    asks_factor: bool
    proved_at: int | None


@attrs.frozen
class _Outcome:
    """What a unit of writing came to. `waits` is told to a client whose address has to be authorised first."""

    before: Account
    after: Account
    challenge: MfaChallenge | None = None
    waits: ApiError | None = None


class Authentication:
    """Signs accounts in, and out."""

    def __init__(self, core: Core, sign_ins: SignIns, tickets: LoginTickets, addresses: IpAuthorization) -> None:
        self._core = core
        self._sign_ins = sign_ins
        self._tickets = tickets
        self._addresses = addresses
        self._by_username = core.settings.sign_in == "username"

    @property
    def login_field(self) -> str:
        """The member of the login body that names the account (signing_in.md, Login)."""
        return "username" if self._by_username else "email"

    def asker(self, login: str, address: str) -> Asker:
        """Who wants to sign in by this name from this address, as far as can be told before anything is proved."""
        found = self._find(self._core.database.reader, login)
        return self._addresses.asker(None if found is None else found.id, address)

    async def login(
        self, login: str, password: str, client: Client, invite_code: str | None = None
    ) -> SignedIn | MfaChallenge:
        """Sign in the account with this address, or on a username instance with this username.

        :raises InvalidFormBody: INVALID_EMAIL_OR_PASSWORD at both fields, whatever of the two is wrong.
        :raises ApiError: as `complete`; RATE_LIMITED.
        """
        found = self._find(self._core.database.reader, login)
        if found is not None and found.bot:
            raise ApiError("BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED")
        known = None if found is None or found.is_deleted else found.password_hash
        asker = self._addresses.asker(None if found is None else found.id, client.address)
        if not await self._core.passwords.verify(known, password, asker) or found is None or known is None:
            log.info("login refused", user_id=None if found is None else found.id, address=client.address)
            raise self._wrong()
        renewed = await self._core.passwords.hash(password, asker) if self._core.passwords.is_outdated(known) else known

        def change(connection: sqlite3.Connection, account: Account) -> Account:
            # Between the check of the password and this moment it may have been changed, or the address given up.
            present = self._find(connection, login)
            if account.password_hash != known or present is None or present.id != account.id:
                raise self._wrong()
            return attrs.evolve(account, password_hash=renewed)

        return await self.proceed(found, client, refused=self._wrong(), change=change, invite_code=invite_code)

    async def complete(
        self,
        account: Account,
        client: Client,
        *,
        refused: ApiError,
        change: Change = _as_it_is,
        then: Then = _nothing,
        address_is_proved: bool = False,
        invite_code: str | None = None,
        proved_at: int | None = SHOWN_NOW,
    ) -> SignedIn:
        """Sign in somebody who has proved all there is to prove: `change`, the sign-in and what follows, in one unit.

        `refused` is what a deleted account gets. `address_is_proved` where the way itself makes IP authorisation
        superfluous: a mailed link brought the person here, or a provider answers for them. `proved_at` is given where
        a credential was not shown in this very request, and is None where none was shown at all.

        :raises ApiError: BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED, ACCOUNT_SUSPENDED_TEMPORARILY,
            REGISTRATION_PENDING_APPROVAL, REGISTRATION_REJECTED: nothing is written. IP_AUTHORIZATION_REQUIRED: what
            `change` did stands, and the sign-in waits for a mailed link to be followed.
        """
        way = _Way(refused, change, then, address_is_proved, invite_code, asks_factor=False, proved_at=proved_at)
        outcome = await self._sign_in(account, client, way)
        if not isinstance(outcome, SignedIn):
            raise TypeError("no factor was asked for")
        return outcome

    async def proceed(
        self,
        account: Account,
        client: Client,
        *,
        refused: ApiError,
        change: Change = _as_it_is,
        then: Then = _nothing,
        address_is_proved: bool = False,
        invite_code: str | None = None,
    ) -> SignedIn | MfaChallenge:
        """As `complete`, for somebody who has proved a first factor only: an account that has a second one gets a
        challenge instead, once `change` is written.

        :raises ApiError: as `complete`.
        """
        way = _Way(refused, change, then, address_is_proved, invite_code, asks_factor=True, proved_at=SHOWN_NOW)
        return await self._sign_in(account, client, way)

    async def logout(self, principal: Principal) -> None:
        """End the sign-in that the request came with; a bot token has none, so nothing happens."""
        if principal.session_id_hash is not None:
            await self._sign_ins.end(principal.user_id, [principal.session_id_hash])

    async def _sign_in(self, account: Account, client: Client, way: _Way) -> SignedIn | MfaChallenge:
        proved_at = self._sign_ins.now_ms() if way.proved_at == SHOWN_NOW else way.proved_at
        sign_in = self._sign_ins.new(account.id, client, proved_at=proved_at)
        ticket = self._tickets.secret() if way.asks_factor else None
        demand = None if way.address_is_proved else self._addresses.demand()

        def unit(connection: sqlite3.Connection) -> _Outcome | ApiError:
            before = accounts.by_id(connection, account.id)
            if before is None or before.is_deleted:
                raise way.refused
            changed = way.change(connection, before)
            if isinstance(changed, ApiError):
                return changed
            self._sign_ins.admitted(connection, changed)
            after = self._sign_ins.without_past_ban(changed)
            if after != before:
                accounts.replace(connection, after)
            if way.address_is_proved:
                self._addresses.remember(connection, after, client.address)
            if ticket is not None:
                challenge = self._tickets.issue(connection, after, ticket, way.invite_code)
                if challenge is not None:
                    return _Outcome(before, after, challenge=challenge)
            if demand is not None and not self._addresses.is_authorized(connection, after, client.address):
                waits = self._addresses.ask(connection, after, client, demand, way.invite_code)
                return _Outcome(before, after, waits=waits)
            self._addresses.remember(connection, after, client.address)
            return _Outcome(before, self._sign_ins.enter(connection, after, sign_in))

        def then(outcome: _Outcome | ApiError) -> None:
            if isinstance(outcome, _Outcome):
                way.then(outcome.before, outcome.after)

        outcome = await self._core.database.write(unit, then)
        if isinstance(outcome, ApiError):
            log.info("login refused", user_id=account.id, address=client.address, code=outcome.code)
            raise outcome
        if outcome.waits is not None:
            log.info("login waits", user_id=account.id, address=client.address)
            raise outcome.waits
        if outcome.challenge is not None:
            return outcome.challenge
        log.info("login", user_id=account.id, address=client.address)
        return SignedIn(outcome.after, sign_in, way.invite_code)

    def _find(self, connection: sqlite3.Connection, login: str) -> Account | None:
        if not self._by_username:
            return accounts.by_email_key(connection, login)
        holders = sorted(accounts.by_username(connection, login), key=lambda account: account.bot)
        return holders[0] if holders else None

    def _wrong(self) -> InvalidFormBody:
        return InvalidFormBody([FieldError(self.login_field, WRONG), FieldError("password", WRONG)])
