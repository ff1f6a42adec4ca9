"""Accounts as their holders and others read and change them (wire facts 5.1, 6.5)."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import attrs
import structlog

from chat.auth.passwords import Passwords
from chat.auth.principal import CredentialKind, Principal
from chat.clock import Clock
from chat.config import Settings
from chat.domain import account_rules
from chat.domain.account_events import AccountEvents
from chat.domain.objects.users import bearer_user, partial_user, private_user
from chat.domain.profiles import KEEP_TAG, ProfileRules, TagChange
from chat.domain.sudo import SudoMode, SudoProof
from chat.domain.usernames import Usernames
from chat.errors import ApiError, InvalidFormBody
from chat.registries.scopes import Scope
from chat.store import accounts, auth_sessions
from chat.store.accounts import Account
from chat.store.database import Database

log: Final = structlog.get_logger("chat.accounts")


@attrs.frozen
class PasswordChange:
    """A new password, and the proof that it is the holder who sets it."""

    new: str = attrs.field(repr=False)
    proof: SudoProof


class Accounts:
    """Reads and changes accounts."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        passwords: Passwords,
        sudo: SudoMode,
        usernames: Usernames,
        rules: ProfileRules,
        events: AccountEvents,
        settings: Settings,
    ) -> None:
        self._database = database
        self._clock = clock
        self._passwords = passwords
        self._sudo = sudo
        self._usernames = usernames
        self._rules = rules
        self._events = events
        self._settings = settings

    def own(self, account: Account) -> dict[str, Any]:
        """The private user object, as the account sees itself."""
        everyone = self._settings.premium_mode == "everyone"
        return private_user(account, now_ms=self._clock.now_ms(), premium_for_everyone=everyone)

    def of_caller(self, principal: Principal) -> dict[str, Any]:
        """The private user object of the caller's account; behind an access token only as much as its scopes show."""
        account = self.own(principal.account)
        if principal.kind is not CredentialKind.OAUTH2:
            return account
        return bearer_user(principal.account, account, with_email=Scope.EMAIL in principal.scopes)

    def get(self, user_id: int) -> dict[str, Any]:
        """The partial user object of any account.

        :raises ApiError: UNKNOWN_USER.
        """
        account = accounts.by_id(self._database.reader, user_id)
        if account is None:
            raise ApiError("UNKNOWN_USER")
        return partial_user(account)

    async def change(
        self,
        principal: Principal,
        profile: Mapping[str, Any],
        tag: TagChange = KEEP_TAG,
        password: PasswordChange | None = None,
    ) -> Account:
        """Change the caller's own account. A new password ends every sign-in of the account.

        `profile` holds columns and their new values: global_name, bio, pronouns, accent_color.

        :raises InvalidFormBody: with the field that cannot be taken; INVALID_PASSWORD at `password`.
        :raises ApiError: SUDO_MODE_REQUIRED for a new password without proof.
        """
        changes = self._rules.checked(principal.account, dict(profile), tag)
        if password is not None:
            changes.update(await self._new_password(principal.account, password))
        known_hash = principal.account.password_hash

        def unit(connection: sqlite3.Connection) -> tuple[Account, Account]:
            before = accounts.by_id(connection, principal.user_id)
            if before is None:
                raise ApiError("UNAUTHORIZED")
            after = attrs.evolve(before, **changes)
            if tag != KEEP_TAG:
                after = self._usernames.claimed(connection, after, tag.username, tag.discriminator)
            if password is not None:
                if before.password_hash != known_hash:  # it was changed after the proof was checked
                    raise InvalidFormBody.at("password", "INVALID_PASSWORD")
                auth_sessions.delete_of_user(connection, before.id)
            if after != before:
                accounts.replace(connection, after)
            return before, after

        def then(changed: tuple[Account, Account]) -> None:
            before, after = changed
            if after != before:
                self._events.changed(before, after)
            if password is not None:
                self._events.signed_out(after.id)

        _, account = await self._database.write(unit, then)
        if password is not None:
            log.info("password changed", user_id=account.id)
        return account

    async def _new_password(self, account: Account, change: PasswordChange) -> dict[str, Any]:
        """The columns that a new password changes, once the holder has proved to be one."""
        names = (account.username, account.global_name, account.email)
        account_rules.password(change.new, names=names, path="new_password")
        await self._sudo.require(account, change.proof)
        return {
            "password_hash": await self._passwords.hash(change.new),
            "password_last_changed_at": self._clock.now_ms(),
        }
