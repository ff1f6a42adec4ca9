"""Password login and logout (wire facts 6.1, 6.2; document 002, States and transitions)."""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs
import structlog

from chat.auth.passwords import Passwords
from chat.auth.principal import Principal
from chat.clock import Clock
from chat.config import Settings
from chat.domain.sign_ins import Client, SignIn, SignIns
from chat.errors import ApiError, FieldError, InvalidFormBody
from chat.registries.user_flags import UserFlag
from chat.store import accounts, auth_sessions
from chat.store.accounts import Account
from chat.store.database import Database

log: Final = structlog.get_logger("chat.accounts")

WRONG: Final = "INVALID_EMAIL_OR_PASSWORD"
CLOSED_BY_HOLDER: Final = UserFlag.DISABLED | UserFlag.SELF_DELETED
"""What the holder's own password takes back at login (wire facts 6.2)."""


class Authentication:
    """Signs accounts in with their password, and out."""

    def __init__(
        self, database: Database, clock: Clock, passwords: Passwords, sign_ins: SignIns, settings: Settings
    ) -> None:
        self._database = database
        self._clock = clock
        self._passwords = passwords
        self._sign_ins = sign_ins
        self._by_username = settings.sign_in == "username"

    @property
    def login_field(self) -> str:
        """The member of the login body that names the account (design 7)."""
        return "username" if self._by_username else "email"

    async def login(self, login: str, password: str, client: Client) -> tuple[Account, SignIn]:
        """Sign in the account with this address, or on a username instance with this username.

        :raises InvalidFormBody: INVALID_EMAIL_OR_PASSWORD at both fields, whatever of the two is wrong.
        :raises ApiError: BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED, ACCOUNT_SUSPENDED_TEMPORARILY, RATE_LIMITED.
        """
        found = self._find(login)
        if found is not None and found.bot:
            raise ApiError("BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED")
        known = None if found is None or found.is_deleted else found.password_hash
        if not await self._passwords.verify(known, password) or found is None or known is None:
            log.info("login refused", user_id=None if found is None else found.id, address=client.address)
            raise self._wrong()
        renewed = await self._passwords.hash(password) if self._passwords.is_outdated(known) else known
        sign_in = self._sign_ins.new(found.id, client)

        def unit(connection: sqlite3.Connection) -> Account:
            account = accounts.by_id(connection, found.id)
            # Between the check of the password and this moment it may have been changed.
            if account is None or account.is_deleted or account.password_hash != known:
                raise self._wrong()
            opened = attrs.evolve(self._reopened(account), password_hash=renewed)
            if opened != account:
                accounts.replace(connection, opened)
            auth_sessions.insert(connection, sign_in.session)
            return opened

        account = await self._database.write(unit)
        log.info("login", user_id=account.id, address=client.address)
        return account, sign_in

    async def logout(self, principal: Principal) -> None:
        """End the sign-in that the request came with; a bot token has none, so nothing happens."""
        if principal.session_id_hash is not None:
            await self._sign_ins.end(principal.user_id, [principal.session_id_hash])

    def _find(self, login: str) -> Account | None:
        reader = self._database.reader
        if not self._by_username:
            return accounts.by_email_key(reader, login)
        holders = sorted(accounts.by_username(reader, login), key=lambda account: account.bot)
        return holders[0] if holders else None

    def _reopened(self, account: Account) -> Account:
        """The account as a login leaves it: a ban that is over is lifted, and what the holder closed is open.

        :raises ApiError: ACCOUNT_SUSPENDED_TEMPORARILY while a ban stands.
        """
        if account.temp_banned_until is not None and account.temp_banned_until > self._clock.now_ms():
            raise ApiError("ACCOUNT_SUSPENDED_TEMPORARILY")
        return attrs.evolve(account, flags=account.flags & ~int(CLOSED_BY_HOLDER), temp_banned_until=None)

    def _wrong(self) -> InvalidFormBody:
        return InvalidFormBody([FieldError(self.login_field, WRONG), FieldError("password", WRONG)])
