"""Registration, username suggestions for it, and the approval of accounts by an administrator (signing_in.md,
Registration, Username suggestions)."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import attrs
import structlog

from chat import wire
from chat.auth.passwords import Asker
from chat.classes import define, frozen
from chat.clock import Clock
from chat.domain.core import Core
from chat.domain.policy import account_rules
from chat.domain.policy.profiles import Usernames
from chat.domain.signing_in.authentication import SignedIn
from chat.domain.signing_in.email_addresses import EmailVerification, require_free_address
from chat.domain.signing_in.ip_authorization import IpAuthorization
from chat.domain.signing_in.sign_ins import RequestOrigin, SignIns
from chat.domain.standing.user_objects import ADULT_YEARS, age_years
from chat.errors import ApiError, InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.store.accounts import accounts, user_settings
from chat.store.accounts.accounts import Account
from chat.store.database import Database
from chat.store.guard import UNGUARDED
from chat.store.signing_in import pending_registrations
from chat.store.signing_in.pending_registrations import PendingRegistration

log: Final = structlog.get_logger("chat.accounts")

NAMELESS: Final = "user"
"""The username of those who gave no name that one could be made of."""

ADULT_SETTINGS: Final[Mapping[str, Any]] = {"friend_source_flags": 7, "sensitive_content_friend_dm_filter": 0}
"""What an adult's settings begin with in place of the defaults (accounts.md, User settings)."""


@frozen
class Applicant:
    """What people say of themselves who want an account."""

    username: str | None = None
    email: str | None = None
    password: str | None = attrs.field(default=None, repr=False)
    global_name: str | None = None
    date_of_birth: str | None = None
    consent: bool = False
    theme: str | None = None
    locale: str | None = None
    invite_code: str | None = None
    registration_url_code: str | None = attrs.field(default=None, repr=False)


@frozen
class AwaitsApproval:
    """An account that is made, and cannot sign in until an administrator has approved it."""

    account: Account

    def answer(self) -> wire.Registration:
        """The answer to such a registration (signing_in.md, Registration)."""
        return {"registration_pending_approval": True, "user_id": str(self.account.id)}


@define(kw_only=True, eq=False)
class Registration:
    """Makes accounts for people: POST /v1/auth/register."""

    _core: Core
    _usernames: Usernames
    _sign_ins: SignIns
    _verification: EmailVerification
    _networks: IpAuthorization

    async def register(self, applicant: Applicant, client: RequestOrigin) -> SignedIn | AwaitsApproval:
        """Make the account and sign it in, or let it wait where an administrator approves accounts.

        :raises ApiError: REGISTRATION_CLOSED; REGISTRATION_URL_INVALID for the code of a registration link, since this
            instance gives none out; CONTENT_BLOCKED for a blocked address or name.
        :raises InvalidFormBody: with the fields that cannot be taken.
        """
        if applicant.registration_url_code is not None:
            raise ApiError(ErrorCode.REGISTRATION_URL_INVALID)
        if self._core.settings.registration == "closed":
            raise ApiError(ErrorCode.REGISTRATION_CLOSED)
        waits = self._core.settings.registration == "approval"
        account = await self._account(applicant, client)
        sign_in = self._sign_ins.new(account.id, client, proved_at=account.created_at)
        mail_token = self._core.mint.mail_token()
        settings = self._first_settings(applicant, account)

        def unit(connection: sqlite3.Connection) -> Account:
            if account.email is not None:
                require_free_address(connection, account.email, None, account.created_at)
            username, number = self._tag(connection, applicant, account)
            made = attrs.evolve(account, username=username, discriminator=number)
            accounts.insert(connection, made)
            user_settings.put(connection, made.id, settings)
            self._networks.remember(connection, made, client.address)
            if waits:
                pending = PendingRegistration(made.id, client.address, made.created_at)
                pending_registrations.insert(connection, pending)
            else:
                self._sign_ins.enter(connection, made, sign_in)
            if not made.email_verified:
                self._verification.send(connection, made, mail_token)
            return made

        made = await self._core.database.write(unit, guard=client.guard)
        log.info("registered", user_id=made.id, address=client.address, waits=waits)
        return AwaitsApproval(made) if waits else SignedIn(made, sign_in, applicant.invite_code)

    async def suggest_usernames(self, global_name: str) -> list[str]:
        """At most one username that is free at this moment; none where the name makes none."""
        stem = account_rules.username_from(global_name, service_name=self._core.settings.service_name)
        if stem is None:
            return []
        username, _ = await self._core.database.read(
            lambda connection: self._usernames.allocate_like(connection, stem, bot=False)
        )
        return [username]

    async def _account(self, applicant: Applicant, client: RequestOrigin) -> Account:
        """The account as it is to be, without its discriminator. The password is hashed last: it costs most."""
        now = self._core.clock.now_ms()
        email = self._email(applicant)
        global_name = account_rules.global_name(applicant.global_name)
        username = self._username(applicant, global_name)
        for name in (username, global_name or ""):
            self._core.blocked.require_profile(name)
        birth = applicant.date_of_birth
        if birth is not None:
            birth = account_rules.date_of_birth(birth, now_ms=now)
        password = applicant.password
        if password is not None:
            account_rules.password(password, names=(username, global_name, email))
        agreed_at = now if applicant.consent else None
        password_hash = None
        if password is not None:
            asker = Asker.at(client.address)
            password_hash = await self._core.passwords.hash(password, asker, guard=client.guard)
        return Account(
            id=self._core.snowflakes(),
            username=username,
            discriminator=0,
            global_name=global_name,
            email=email,
            email_verified=self._counts_as_verified(email),
            password_hash=password_hash,
            date_of_birth=birth,
            created_at=now,
            password_last_changed_at=None if password is None else now,
            terms_agreed_at=agreed_at,
            privacy_agreed_at=agreed_at,
        )

    def _email(self, applicant: Applicant) -> str | None:
        """The address. One who leaves it out gets an unclaimed account; a username instance takes none."""
        if self._core.settings.sign_in == "email":
            if applicant.email is None:
                return None
            email = account_rules.email(applicant.email)
            self._core.blocked.require_email(email)
            return email
        if applicant.email is not None:
            raise InvalidFormBody.at("email", FieldCode.INVALID_FORMAT)
        for name in ("username", "password"):
            if getattr(applicant, name) is None:
                raise InvalidFormBody.at(name, FieldCode.INVALID_FORMAT)
        return None

    def _counts_as_verified(self, email: str | None) -> bool:
        """Whether the account begins as verified: an unclaimed one has nothing that could be."""
        return not self._verification.is_needed and (email is not None or self._core.settings.sign_in == "username")

    def _username(self, applicant: Applicant, global_name: str | None) -> str:
        service_name = self._core.settings.service_name
        if applicant.username is not None:
            return account_rules.username(applicant.username, service_name=service_name)
        return account_rules.username_from(global_name or "", service_name=service_name) or NAMELESS

    def _tag(self, connection: sqlite3.Connection, applicant: Applicant, account: Account) -> tuple[str, int]:
        if applicant.username is None:
            return self._usernames.allocate_like(connection, account.username, bot=False)
        return account.username, self._usernames.allocate(connection, account.username)

    def _first_settings(self, applicant: Applicant, account: Account) -> Mapping[str, object]:
        """What differs from the defaults from the beginning."""
        settings: dict[str, object] = {}
        if account.date_of_birth is not None and age_years(account.date_of_birth, account.created_at) >= ADULT_YEARS:
            settings.update(ADULT_SETTINGS)
        if applicant.theme is not None:
            settings["theme"] = applicant.theme
        if applicant.locale is not None:
            settings["locale"] = applicant.locale
        return settings


@define(eq=False)
class PendingRegistrations:
    """Lists and decides what waits for an administrator where the setting `registration` is `approval`."""

    _database: Database
    _clock: Clock

    async def waiting(self) -> list[tuple[Account, PendingRegistration]]:
        """The accounts that wait, the longest waiting first."""

        def query(connection: sqlite3.Connection) -> list[tuple[Account, PendingRegistration]]:
            found = [
                (accounts.by_id(connection, pending.user_id), pending)
                for pending in pending_registrations.waiting(connection)
            ]
            return [(account, pending) for account, pending in found if account is not None]

        return await self._database.read(query)

    async def approve(self, user_id: int) -> bool:
        """From now on the account can sign in, even if it was turned down before; False where it did not wait."""
        approved = await self._database.write(
            lambda connection: pending_registrations.approve(connection, user_id), guard=UNGUARDED
        )
        log.info("registration approved", user_id=user_id, waited=approved)
        return approved

    async def reject(self, user_id: int) -> bool:
        """The account cannot sign in, and its name and address stay taken; False where it did not wait."""
        now = self._clock.now_ms()
        rejected = await self._database.write(
            lambda connection: pending_registrations.reject(connection, user_id, now), guard=UNGUARDED
        )
        log.info("registration rejected", user_id=user_id, waited=rejected)
        return rejected
