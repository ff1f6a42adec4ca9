"""Password login, logout, the second step, and signing in with nothing but a passkey (signing_in.md, Login, Second
step).

Each way proves that the caller holds the account: a password, a second factor, a passkey, a mailed link, a provider.
The sign-in itself is made by `Authentication.complete`, or by `proceed` where a second factor may still be asked for.
A code is judged in the same unit of writing that uses the ticket up and begins the sign-in: of several requests with
one ticket one gets in, and no backup code is spent on a sign-in that does not come about.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import attrs
import structlog

from chat import wire
from chat.auth.passwords import Asker
from chat.auth.principal import Principal
from chat.auth.tokens import token_hash
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.signing_in.ip_authorization import IpAuthorization
from chat.domain.signing_in.mfa_codes import MfaCodes
from chat.domain.signing_in.passkey_assertions import ChallengeContext, PasskeyAssertions
from chat.domain.signing_in.sign_ins import RequestOrigin, SignIn, SignIns, SignInStanding
from chat.domain.signing_in.sudo import SecondFactors
from chat.errors import ApiError, FieldError, InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.guard import Guard
from chat.store.signing_in import tickets, webauthn_credentials
from chat.store.signing_in.tickets import Ticket

log: Final = structlog.get_logger("chat.accounts")

WRONG: Final = FieldCode.INVALID_EMAIL_OR_PASSWORD

SHOWN_NOW: Final = -1
"""In place of a moment: the one at which the sign-in is made."""

TICKET_KIND: Final = "login"
TICKET_LIFETIME_MS: Final = 5 * 60_000
MOST_WRONG: Final = 5
"""Wrong codes or assertions after which a ticket is gone (signing_in.md, Second step)."""

Change = Callable[[sqlite3.Connection, Account], Account | ApiError]
"""What a way of signing in does in the unit of writing, before the sign-in: given the account as it is at that moment,
it returns the account as it is to be written. It raises to refuse with nothing written, and returns an error to refuse
with what it wrote itself standing, such as a wrong attempt that is counted."""

Then = Callable[[Account, Account], None]
"""After the commit, with the account before and after: what is to be published."""


@frozen(kw_only=True)
class SignInMethod:
    """How the account is signed in."""

    refused: ApiError
    """What a deleted account gets."""
    change: Change = lambda connection, account: account
    then: Then = lambda before, after: None
    address_is_proved: bool = False
    """Whether the way makes IP authorisation superfluous: a mailed link, or a provider that answers for the person."""
    invite_code: str | None = None
    proved_at: int | None = SHOWN_NOW
    """When a credential was shown, where that was not in this very request; None where none was shown at all."""


@frozen
class MfaChallenge:
    """The answer to a right password that is not enough (signing_in.md, Second step)."""

    ticket: str = attrs.field(repr=False)
    totp: bool
    webauthn: bool

    def answer(self) -> wire.MfaChallenge:
        """The MFA challenge."""
        methods: list[Literal["totp", "webauthn"]] = ["totp"] if self.totp else []
        if self.webauthn:
            methods.append("webauthn")
        return {
            "mfa": True,
            "ticket": self.ticket,
            "allowed_methods": methods,
            "totp": self.totp,
            "webauthn": self.webauthn,
        }


@define(kw_only=True, eq=False)
class LoginTickets:
    """Tickets of those who have proved the password and have yet to prove a second factor.

    A ticket stands for the account as it was when the password was right. When the password changes after that, or the
    holder closes the account, the ticket has timed out like one that was never given.
    """

    _core: Core
    _sign_ins: SignIns

    def secret(self) -> str:
        """What the holder of a ticket is told; to be good once it is issued."""
        return self._core.mint.secret()

    def issue(
        self, connection: sqlite3.Connection, account: Account, secret: str, invite_code: str | None
    ) -> MfaChallenge | None:
        """In a unit of writing: ask for the account's second factor; None where it needs none.

        Passkeys are one if the account chose so (signing_in.md, Second step).
        """
        totp = account.totp_secret is not None
        webauthn = account.passkey_second_factor and webauthn_credentials.is_one_listed(connection, account.id)
        if not totp and not webauthn:
            return None
        body = {**SignInStanding.of(account).as_members(), "invite_code": invite_code}
        now = self._core.clock.now_ms()
        ticket = Ticket(token_hash(secret), TICKET_KIND, account.id, body, now, now + TICKET_LIFETIME_MS)
        tickets.insert(connection, ticket)
        return MfaChallenge(secret, totp=totp, webauthn=webauthn)

    def holder_of(self, secret: str) -> tuple[Ticket, Account]:
        """The ticket and the account that it is for.

        :raises InvalidFormBody: SESSION_TIMEOUT at `ticket`, for any reason.
        :raises ApiError: as `SignIns.admitted`.
        """
        reader = self._core.database.reader
        ticket = tickets.find(reader, TICKET_KIND, token_hash(secret), self._core.clock.now_ms())
        account = None if ticket is None or ticket.user_id is None else accounts.by_id(reader, ticket.user_id)
        if ticket is None or account is None:
            raise timed_out()
        self._require_unchanged(reader, ticket, account)
        return ticket, account

    def require(self, connection: sqlite3.Connection, ticket: Ticket, account: Account) -> None:
        """In a unit of writing: check that the ticket is still good, for the account as it is now.

        :raises ApiError: as `holder_of`.
        """
        if tickets.find(connection, TICKET_KIND, ticket.secret_hash, self._core.clock.now_ms()) is None:
            raise timed_out()
        self._require_unchanged(connection, ticket, account)

    def use_up(self, connection: sqlite3.Connection, ticket: Ticket) -> None:
        """In a unit of writing: the ticket signs in once."""
        tickets.delete(connection, ticket.secret_hash)

    def count_wrong(self, connection: sqlite3.Connection, ticket: Ticket) -> None:
        """In a unit of writing: something else than the factor was shown; with the fifth the ticket is gone."""
        tickets.count_attempt(connection, ticket.secret_hash, MOST_WRONG)

    def _require_unchanged(self, connection: sqlite3.Connection, ticket: Ticket, account: Account) -> None:
        standing = SignInStanding.from_members(ticket.body)
        if account.is_deleted or not standing.has_password_of(account):
            raise timed_out()
        self._sign_ins.admitted(connection, account)
        if standing.was_closed_since(account):
            raise timed_out()


def timed_out() -> InvalidFormBody:
    """What a ticket gets that is unknown, used, over or superseded."""
    return InvalidFormBody.at("ticket", FieldCode.SESSION_TIMEOUT)


@frozen
class SignedIn:
    """A sign-in that the store has: its account, and the token for the client."""

    account: Account
    sign_in: SignIn
    invite_code: str | None = None
    """What the login asked to join."""

    def answer(self) -> wire.SignedIn:
        """The token response (signing_in.md, Login)."""
        return self.sign_in.answer(self.account)


@frozen
class _AuthenticationOutcome:
    """What a unit of writing came to. `waits` is told to a client whose IP address has to be authorised first."""

    before: Account
    after: Account
    challenge: MfaChallenge | None = None
    waits: ApiError | None = None


@define(kw_only=True, eq=False)
class Authentication:
    _core: Core
    _sign_ins: SignIns
    _tickets: LoginTickets
    _networks: IpAuthorization

    @property
    def login_field(self) -> str:
        """The member of the login body that names the account (signing_in.md, Login)."""
        return self._core.settings.sign_in

    def asker(self, login: str, address: str) -> Asker:
        """Who wants to sign in by this name from this IP address, as far as it shows before anything is proved."""
        found = self._find(self._core.database.reader, login)
        return self._networks.asker(None if found is None else found.id, address)

    async def login(
        self, login: str, password: str, client: RequestOrigin, invite_code: str | None = None
    ) -> SignedIn | MfaChallenge:
        """Sign in the account with this email address, or on a username instance with this username.

        :raises InvalidFormBody: INVALID_EMAIL_OR_PASSWORD at both fields, whichever is wrong.
        :raises ApiError: as `complete`; RATE_LIMITED.
        """
        found = self._find(self._core.database.reader, login)
        if found is not None and found.bot:
            raise ApiError(ErrorCode.BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED)
        known = None if found is None or found.is_deleted else found.password_hash
        asker = self._networks.asker(None if found is None else found.id, client.address)
        match = await self._core.passwords.match(known, password, asker, guard=client.guard)
        if match is None or found is None or known is None:
            log.info("login refused", user_id=None if found is None else found.id, address=client.address)
            raise self._wrong()
        renewed = known
        if match.is_outdated:
            renewed = await self._core.passwords.hash(password, asker, guard=client.guard)

        def change(connection: sqlite3.Connection, account: Account) -> Account:
            # Between the check of the password and this moment it may have been changed, or the address given up.
            present = self._find(connection, login)
            if account.password_hash != known or present is None or present.id != account.id:
                raise self._wrong()
            return attrs.evolve(account, password_hash=renewed)

        return await self.proceed(
            found, client, SignInMethod(refused=self._wrong(), change=change, invite_code=invite_code)
        )

    async def complete(self, account: Account, client: RequestOrigin, way: SignInMethod) -> SignedIn:
        """Sign in a caller who has proved all there is to prove: the way's change, the sign-in and what follows, in one
        unit.

        :raises ApiError: BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED, ACCOUNT_SUSPENDED_TEMPORARILY,
            REGISTRATION_PENDING_APPROVAL, REGISTRATION_REJECTED: nothing is written. IP_AUTHORIZATION_REQUIRED: what
            the way's change did stands, and the sign-in waits for a mailed link to be followed.
        """
        outcome = await self._sign_in(account, client, way, asks_factor=False)
        if not isinstance(outcome, SignedIn):
            raise TypeError("no factor was asked for")
        return outcome

    async def proceed(self, account: Account, client: RequestOrigin, way: SignInMethod) -> SignedIn | MfaChallenge:
        """As `complete`, for a caller who has proved a first factor only: an account that has a second one gets a
        challenge instead, once the way's change is written.

        :raises ApiError: as `complete`.
        """
        return await self._sign_in(account, client, way, asks_factor=True)

    async def logout(self, principal: Principal) -> None:
        """End the sign-in that the request came with; a bot token has none, so nothing happens."""
        if principal.session_id_hash is not None:
            await self._sign_ins.end(principal.user_id, [principal.session_id_hash], principal.guard)

    async def _sign_in(
        self, account: Account, client: RequestOrigin, way: SignInMethod, *, asks_factor: bool
    ) -> SignedIn | MfaChallenge:
        proved_at = self._sign_ins.now_ms() if way.proved_at == SHOWN_NOW else way.proved_at
        sign_in = self._sign_ins.new(account.id, client, proved_at=proved_at)
        ticket = self._tickets.secret() if asks_factor else None
        demand = None if way.address_is_proved else self._networks.demand()

        def unit(connection: sqlite3.Connection) -> _AuthenticationOutcome | ApiError:
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
                self._networks.remember(connection, after, client.address)
            if ticket is not None:
                challenge = self._tickets.issue(connection, after, ticket, way.invite_code)
                if challenge is not None:
                    return _AuthenticationOutcome(before, after, challenge=challenge)
            if demand is not None and not self._networks.is_authorized(connection, after, client.address):
                waits = self._networks.ask(connection, after, client, demand, way.invite_code)
                return _AuthenticationOutcome(before, after, waits=waits)
            self._networks.remember(connection, after, client.address)
            return _AuthenticationOutcome(before, self._sign_ins.enter(connection, after, sign_in))

        def then(outcome: _AuthenticationOutcome | ApiError) -> None:
            if isinstance(outcome, _AuthenticationOutcome):
                way.then(outcome.before, outcome.after)

        outcome = await self._core.database.write(unit, then, guard=client.guard)
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
        if self.login_field == "email":
            return accounts.by_email_key(connection, login)
        return person_called(connection, login)

    def _wrong(self) -> InvalidFormBody:
        return InvalidFormBody([FieldError(self.login_field, WRONG), FieldError("password", WRONG)])


def person_called(connection: sqlite3.Connection, username: str) -> Account | None:
    """The account with this username; of a person's and a bot's the person's."""
    return min(accounts.by_username(connection, username), key=lambda account: account.bot, default=None)


@define(kw_only=True, eq=False)
class LoginCompletion:
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

    async def totp(self, ticket: str, code: str, client: RequestOrigin) -> SignedIn:
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

    async def webauthn_options(self, ticket: str, guard: Guard) -> wire.WebauthnRequestOptions:
        """What to ask the account's passkeys for.

        :raises InvalidFormBody: SESSION_TIMEOUT at `ticket`.
        :raises ApiError: NO_PASSKEYS_REGISTERED where passkeys do not help.
        """
        _, holder = self._tickets.holder_of(ticket)
        self._require_passkeys(holder)
        return await self._assertions.options(ChallengeContext.MFA, holder.id, guard)

    async def webauthn(
        self, ticket: str, response: Mapping[str, Any], challenge: str, client: RequestOrigin
    ) -> SignedIn:
        """Complete a login with a passkey.

        :raises InvalidFormBody: SESSION_TIMEOUT at `ticket`.
        :raises ApiError: NO_PASSKEYS_REGISTERED, PASSKEY_AUTHENTICATION_FAILED; as `Authentication.complete`.
        """
        shown, holder = self._tickets.holder_of(ticket)
        self._require_passkeys(holder)
        proved = await self._assertions.verify(ChallengeContext.MFA, response, challenge, holder.id, client.guard)
        return await self._complete(shown, holder, client, lambda _: proved is not None, passkey_failed())

    async def passkey_options(self, guard: Guard) -> wire.WebauthnRequestOptions:
        """What to ask any passkey for that the person has."""
        return await self._assertions.options(ChallengeContext.DISCOVERABLE, None, guard)

    async def passkey(self, response: Mapping[str, Any], challenge: str, client: RequestOrigin) -> SignedIn:
        """Sign in with a passkey that knows whom it belongs to: it has verified the person, so nothing else is asked.

        :raises ApiError: PASSKEY_AUTHENTICATION_FAILED; as `Authentication.complete`.
        """
        account = await self._assertions.verify(ChallengeContext.DISCOVERABLE, response, challenge, None, client.guard)
        if account is None:
            log.info("passkey refused", address=client.address)
            raise passkey_failed()
        return await self._authentication.complete(account, client, SignInMethod(refused=passkey_failed()))

    async def _complete(
        self,
        shown: Ticket,
        holder: Account,
        client: RequestOrigin,
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

        way = SignInMethod(refused=timed_out(), change=change, invite_code=shown.body["invite_code"])
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
