"""The administrative audit log: who did, or read, what (administration.md, Conventions; administration.md, Audit
entries). Reading the log itself leaves no entry in it."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from chat import wire
from chat.auth.principal import CredentialKind, Principal
from chat.classes import define, frozen
from chat.domain.administration.administration_objects import channel_outline, summary_of
from chat.domain.standing.audit_log import INSTANCE
from chat.errors import ApiError
from chat.registries.acls import Acl
from chat.registries.admin_actions import ADMIN_ACTIONS, AdminAction, AdminTarget
from chat.registries.error_codes import ErrorCode
from chat.snowflake import MAXIMUM as SNOWFLAKE_MAXIMUM
from chat.snowflake import SnowflakeGenerator, snowflake_time_ms
from chat.store.accounts.accounts import Account
from chat.store.administration import admin_audit_log
from chat.store.administration.admin_audit_log import AdminAuditLogEntry, EntriesWanted
from chat.store.database import Database
from chat.store.guard import Guard
from chat.store.guilds import channels, guilds

ABSENT: Final = "null"
"""Stands in an entry for a missing value (administration.md, Audit entries)."""

NO_TARGET: Final = 0
"""The target of what is about no single thing."""


@frozen
class Acting:
    """The administrator behind a request, and the reason that came with it."""

    principal: Principal
    reason: str | None = None

    @property
    def user_id(self) -> int:
        """The administrator's account."""
        return self.principal.user_id

    @property
    def guard(self) -> Guard:
        """The guard of the request; of what is done later it is none."""
        return self.principal.guard

    def holds(self, acl: str) -> bool:
        """Whether the administrator may make use of the ACL with this credential."""
        return self.principal.holds(acl)


def in_the_name_of(user_id: int, reason: str | None) -> Acting:
    """An administrator in whose absence something is done that they asked for: whether they may was judged then."""
    account = Account(id=user_id, username="", discriminator=0, acls=(Acl.EVERYTHING,), created_at=0)
    return Acting(Principal(account, CredentialKind.SESSION), reason)


def the_instance(reason: str | None = None) -> Acting:
    """The command line as an administrator: it may do everything, and entries show no account for it."""
    return in_the_name_of(INSTANCE, reason)


@define(eq=False)
class AdminAuditLog:
    """Writes entries; what was refused or failed leaves none."""

    _database: Database
    _snowflakes: SnowflakeGenerator

    def record(
        self,
        connection: sqlite3.Connection,
        acting: Acting,
        action: AdminAction,
        target_id: int | str,
        metadata: Mapping[str, Any] | None = None,
        *,
        reason: str | None = None,
    ) -> int:
        """In the unit that does it: write the entry; its snowflake.

        `metadata` values become text as `text_of` has it. `reason` stands in place of the request's own.
        """
        kind, values = ADMIN_ACTIONS[action], metadata or {}
        if unknown := values.keys() - kind.metadata:
            raise TypeError(f"{action} has no metadata {sorted(unknown)}")
        entry = AdminAuditLogEntry(
            id=self._snowflakes(),
            admin_user_id=acting.user_id,
            action=str(action),
            target_type=str(kind.target),
            target_id=str(target_id),
            reason=acting.reason if reason is None else reason,
            metadata={key: text_of(value) for key, value in values.items()},
        )
        admin_audit_log.insert(connection, entry)
        return entry.id

    async def note(
        self, acting: Acting, action: AdminAction, target_id: int | str, metadata: Mapping[str, Any] | None = None
    ) -> None:
        """As `record`, for what changes nothing else: a read that has succeeded."""
        await self._database.write(
            lambda connection: self.record(connection, acting, action, target_id, metadata), guard=acting.guard
        )


def text_of(value: object) -> str:
    """A value as metadata has it: booleans in words, lists joined by commas, the literal `null` for none."""
    if value is None:
        return ABSENT
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(map(str, value))
    return str(value)


ABOUT_ACCOUNTS: Final = frozenset(
    {AdminTarget.USER, AdminTarget.GUILD_MEMBER, AdminTarget.MESSAGE_DELETION, AdminTarget.MESSAGE_SHRED}
)
"""Targets whose id is an account's."""

RELATED: Final = {"related_users": "user_id", "related_guilds": "guild_id", "related_channels": "channel_id"}
"""Words by which keys of the metadata that name an object are recognised: the key is the word, or ends in it."""


@define(eq=False)
class AdminAuditReading:
    _database: Database

    async def search(self, wanted: EntriesWanted) -> wire.AdminAuditLog:
        """The entries that fit, and how many there are in all."""

        def query(connection: sqlite3.Connection) -> tuple[list[wire.AdminAuditLogEntry], int]:
            found, total = admin_audit_log.search(connection, wanted)
            return [_entry(connection, entry) for entry in found], total

        logs, total = await self._database.read(query)
        return {"logs": logs, "total": total}

    async def get(self, entry_id: int) -> wire.AdminAuditLogEntry:
        """One entry. Raises NOT_FOUND."""

        def query(connection: sqlite3.Connection) -> wire.AdminAuditLogEntry | None:
            entry = admin_audit_log.by_id(connection, entry_id)
            return None if entry is None else _entry(connection, entry)

        found = await self._database.read(query)
        if found is None:
            raise ApiError(ErrorCode.NOT_FOUND)
        return found


def _entry(connection: sqlite3.Connection, entry: AdminAuditLogEntry) -> wire.AdminAuditLogEntry:
    """The entry with what it speaks of."""
    target_id = _number(entry.target_id)
    about = target_id if entry.target_type in ABOUT_ACCOUNTS else None
    return {
        "log_id": str(entry.id),
        "admin_user_id": str(entry.admin_user_id),
        "admin_user": _summary(connection, entry.admin_user_id),
        "target_type": entry.target_type,
        "target_id": entry.target_id,
        "target_user": _summary(connection, about),
        "target_guild": _guild(connection, target_id) if entry.target_type == AdminTarget.GUILD else None,
        "target_channel": None,
        "related_users": {str(user_id): _summary(connection, user_id) for user_id in _named(entry, "related_users")},
        "related_guilds": {str(guild_id): _guild(connection, guild_id) for guild_id in _named(entry, "related_guilds")},
        "related_channels": {
            str(channel_id): _channel(connection, channel_id) for channel_id in _named(entry, "related_channels")
        },
        "action": entry.action,
        "audit_log_reason": entry.reason,
        "metadata": dict(entry.metadata),
        "created_at": datetime.datetime.fromtimestamp(snowflake_time_ms(entry.id) / 1_000, datetime.UTC).isoformat(
            timespec="microseconds"
        ),
    }


def _named(entry: AdminAuditLogEntry, kind: str) -> Iterable[int]:
    word = RELATED[kind]
    for key, value in entry.metadata.items():
        number = _number(value) if key == word or key.endswith(f"_{word}") else None
        if number is not None:
            yield number


def _number(text: str) -> int | None:
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(SNOWFLAKE_MAXIMUM))):
        return None
    number = int(text)
    return number if 0 < number <= SNOWFLAKE_MAXIMUM else None


def _summary(connection: sqlite3.Connection, user_id: int | None) -> wire.AuditLogUser | None:
    """The summary as entries have it: without the avatar (administration.md, Admin user object)."""
    summary = summary_of(connection, user_id)
    if summary is None:
        return None
    return {
        "id": summary["id"],
        "username": summary["username"],
        "discriminator": summary["discriminator"],
        "global_name": summary["global_name"],
    }


def _guild(connection: sqlite3.Connection, guild_id: int | None) -> wire.AuditLogGuild | None:
    guild = None if guild_id is None else guilds.by_id(connection, guild_id)
    return None if guild is None else {"id": str(guild.id), "name": guild.name}


def _channel(connection: sqlite3.Connection, channel_id: int) -> wire.AuditLogChannel | None:
    channel = channels.by_id(connection, channel_id)
    return None if channel is None else channel_outline(channel)
