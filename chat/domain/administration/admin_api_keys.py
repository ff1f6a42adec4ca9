"""Admin API keys: credentials that an administrator makes for programs (access.md, Admin credentials;
administration.md, API keys). A key never reaches further than its owner does, neither when it is made or changed nor
when it is used.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.auth.tokens import TokenMint, token_hash
from chat.classes import define, frozen
from chat.clock import Clock, iso_timestamp, optional_timestamp
from chat.domain.policy.due_work import NotedUses
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.snowflake import SnowflakeGenerator
from chat.store.accounts import accounts
from chat.store.administration import admin_api_keys
from chat.store.administration.admin_api_keys import AdminApiKey
from chat.store.database import Database

NAME_LENGTH: Final = 100
"""Characters that the name of a key may have (administration.md, API keys)."""

LIFETIME_DAYS_MAXIMUM: Final = 365
DAY_MS: Final = 86_400_000


@frozen
class NewKey:
    """The values with which a key is made; without `expires_in_days` it never expires."""

    name: str
    acls: tuple[str, ...]
    expires_in_days: int | None = None


@define(eq=False)
class AdminApiKeys(NotedUses[int, int]):
    """Makes, lists, changes and takes back admin API keys; each account sees its own."""

    _database: Database
    _clock: Clock
    _snowflakes: SnowflakeGenerator
    _mint: TokenMint

    async def of_account(self, principal: Principal) -> list[wire.AdminApiKey]:
        """The key objects of the caller's account, the oldest first; expired keys are left out."""
        await self.write_uses()
        owner_id = principal.user_id
        keys = await self._database.read(lambda connection: admin_api_keys.of_owner(connection, owner_id))
        now = self._clock.now_ms()
        return [key_object(key) for key in keys if not key.is_expired(now)]

    async def get(self, principal: Principal, key_id: int) -> wire.AdminApiKey:
        """One key object. Raises ADMIN_API_KEY_NOT_FOUND, also for a key of another account and an expired one."""
        await self.write_uses()
        return key_object(self._own(self._database.reader, principal, key_id))

    async def create(self, principal: Principal, new: NewKey) -> wire.NewAdminApiKey:
        """Make a key; its text is told here and never again. Raises MISSING_ACL for an ACL that the caller may not make
        use of."""
        owner_id = principal.user_id

        def unit(connection: sqlite3.Connection) -> tuple[AdminApiKey, str]:
            require_held(current(connection, principal), new.acls)
            now = self._clock.now_ms()
            admin_api_keys.delete_expired(connection, owner_id, now)
            key, text = self.make(owner_id, new)
            admin_api_keys.insert(connection, key)
            return key, text

        key, text = await self._database.write(unit, guard=principal.guard)
        return {
            "key_id": str(key.id),
            "key": text,
            "name": key.name,
            "created_at": iso_timestamp(key.created_at),
            "expires_at": optional_timestamp(key.expires_at),
            "acls": list(key.acls),
        }

    def make(self, owner_id: int, new: NewKey) -> tuple[AdminApiKey, str]:
        """A fresh key, to be inserted, and its text."""
        now = self._clock.now_ms()
        key_id = self._snowflakes()
        text = self._mint.admin_key(key_id)
        key = AdminApiKey(
            id=key_id,
            owner_id=owner_id,
            name=new.name,
            key_hash=token_hash(text),
            acls=tuple(dict.fromkeys(new.acls)),
            created_at=now,
            expires_at=None if new.expires_in_days is None else now + new.expires_in_days * DAY_MS,
        )
        return key, text

    async def change(
        self, principal: Principal, key_id: int, *, name: str | None, acls: Sequence[str] | None
    ) -> wire.AdminApiKey:
        """Give a key another name or other ACLs; None keeps what it has. Raises ADMIN_API_KEY_NOT_FOUND; MISSING_ACL
        for an ACL that the caller may not make use of."""
        await self.write_uses()

        def unit(connection: sqlite3.Connection) -> AdminApiKey:
            key = self._own(connection, principal, key_id)
            if acls is not None:
                require_held(current(connection, principal), acls)
                key = attrs.evolve(key, acls=tuple(dict.fromkeys(acls)))
            if name is not None:
                key = attrs.evolve(key, name=name)
            admin_api_keys.change(connection, key.id, name=key.name, acls=key.acls)
            return key

        return key_object(await self._database.write(unit, guard=principal.guard))

    async def delete(self, principal: Principal, key_id: int) -> None:
        """Take a key back: from now on it is unknown. Raises ADMIN_API_KEY_NOT_FOUND."""

        def unit(connection: sqlite3.Connection) -> None:
            admin_api_keys.delete(connection, self._own(connection, principal, key_id).id)

        await self._database.write(unit, guard=principal.guard)
        self._uses.pop(key_id, None)

    def _own(self, connection: sqlite3.Connection, principal: Principal, key_id: int) -> AdminApiKey:
        key = admin_api_keys.by_id(connection, key_id)
        if key is None or key.owner_id != principal.user_id or key.is_expired(self._clock.now_ms()):
            raise ApiError(ErrorCode.ADMIN_API_KEY_NOT_FOUND)
        return key

    # When keys were used

    def note_use(self, key_id: int, now_ms: int) -> None:
        """Remember that a key was used (Unix milliseconds); written before long by `run`."""
        self._uses[key_id] = now_ms
        self._noted.set()

    def _write_use(self, connection: sqlite3.Connection, thing: int, use: int) -> None:
        admin_api_keys.touch(connection, thing, use)

    def _database_of_uses(self) -> Database:
        return self._database


def current(connection: sqlite3.Connection, principal: Principal) -> Principal:
    """The caller as they stand at this moment of the store: ACLs may have been taken away since the request came.
    Raises MISSING_ACL if the account or the key is gone."""
    account = accounts.by_id(connection, principal.user_id)
    key = None if principal.key_id is None else admin_api_keys.by_id(connection, principal.key_id)
    if account is None or (principal.key_id is not None and key is None):
        raise ApiError(ErrorCode.MISSING_ACL)
    acls = principal.key_acls if key is None else frozenset(key.acls)
    return attrs.evolve(principal, account=account, key_acls=acls)


def require_held(principal: Principal, acls: Sequence[str]) -> None:
    """Administrators hand on only what they may make use of themselves (access.md, Admin credentials). Raises
    MISSING_ACL."""
    if not all(principal.holds(acl) for acl in acls):
        raise ApiError(ErrorCode.MISSING_ACL)


def key_object(key: AdminApiKey) -> wire.AdminApiKey:
    """The key object; the key's text is not kept."""
    return {
        "key_id": str(key.id),
        "name": key.name,
        "acls": list(key.acls),
        "created_by_user_id": str(key.owner_id),
        "created_at": iso_timestamp(key.created_at),
        "last_used_at": optional_timestamp(key.last_used_at),
        "expires_at": optional_timestamp(key.expires_at),
    }
