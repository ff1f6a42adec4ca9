"""Reading the administrative audit log (administration.md, Audit entries). Reading it leaves no entry in it."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Iterable
from typing import Any, Final

import attrs

from chat.domain.administration.administration_objects import user_summary
from chat.errors import ApiError
from chat.registries.admin_actions import AdminTarget
from chat.snowflake import MAXIMUM as SNOWFLAKE_MAXIMUM
from chat.snowflake import snowflake_time_ms
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.administration import admin_audit_log
from chat.store.administration.admin_audit_log import AdminAuditLogEntry, EntriesWanted
from chat.store.database import Database
from chat.store.guilds import channels, guilds

ABOUT_ACCOUNTS: Final = frozenset(
    {AdminTarget.USER, AdminTarget.GUILD_MEMBER, AdminTarget.MESSAGE_DELETION, AdminTarget.MESSAGE_SHRED}
)
"""Targets whose id is an account's."""

RELATED: Final = {"related_users": "user_id", "related_guilds": "guild_id", "related_channels": "channel_id"}
"""Which keys of the metadata name something: those that are this word or end in it."""


@attrs.define(eq=False)
class AdminAuditReading:
    """Lists and shows entries."""

    _database: Database

    async def search(self, wanted: EntriesWanted) -> dict[str, Any]:
        """The entries that fit, and how many there are in all."""

        def query(connection: sqlite3.Connection) -> tuple[list[dict[str, Any]], int]:
            found, total = admin_audit_log.search(connection, wanted)
            return [_entry(connection, entry) for entry in found], total

        logs, total = await self._database.read(query)
        return {"logs": logs, "total": total}

    async def get(self, entry_id: int) -> dict[str, Any]:
        """One entry.

        :raises ApiError: NOT_FOUND.
        """

        def query(connection: sqlite3.Connection) -> dict[str, Any] | None:
            entry = admin_audit_log.by_id(connection, entry_id)
            return None if entry is None else _entry(connection, entry)

        found = await self._database.read(query)
        if found is None:
            raise ApiError("NOT_FOUND")
        return found


def _entry(connection: sqlite3.Connection, entry: AdminAuditLogEntry) -> dict[str, Any]:
    """The entry with what it speaks of."""
    target_id = _number(entry.target_id)
    about = target_id if entry.target_type in ABOUT_ACCOUNTS else None
    return {
        "log_id": str(entry.id),
        "admin_user_id": str(entry.admin_user_id),
        "admin_user": _summary(accounts.by_id(connection, entry.admin_user_id)),
        "target_type": entry.target_type,
        "target_id": entry.target_id,
        "target_user": None if about is None else _summary(accounts.by_id(connection, about)),
        "target_guild": _guild(connection, target_id) if entry.target_type == AdminTarget.GUILD else None,
        "target_channel": None,
        "related_users": {
            str(user_id): _summary(accounts.by_id(connection, user_id)) for user_id in _named(entry, "related_users")
        },
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


def _summary(account: Account | None) -> dict[str, Any] | None:
    """The summary as entries have it: without the avatar (administration.md, Admin user object)."""
    if account is None:
        return None
    return {name: value for name, value in user_summary(account).items() if name != "avatar"}


def _guild(connection: sqlite3.Connection, guild_id: int | None) -> dict[str, Any] | None:
    guild = None if guild_id is None else guilds.by_id(connection, guild_id)
    return None if guild is None else {"id": str(guild.id), "name": guild.name}


def _channel(connection: sqlite3.Connection, channel_id: int) -> dict[str, Any] | None:
    channel = channels.by_id(connection, channel_id)
    if channel is None:
        return None
    return {
        "id": str(channel.id),
        "name": channel.name,
        "type": channel.type,
        "guild_id": None if channel.guild_id is None else str(channel.guild_id),
    }
