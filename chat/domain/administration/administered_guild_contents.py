"""What an administrator reads in guilds, and takes out of them: audit log, emojis, stickers (administration.md,
Administered guilds)."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import attrs

from chat.domain.administration.admin_audit_log import Acting, AdminAuditLog
from chat.domain.administration.administration_objects import user_summary
from chat.domain.core import Core
from chat.domain.guilds.expressions import Expressions
from chat.domain.standing.audit_log import Actor
from chat.domain.standing.guild_objects import EMOJIS, STICKERS, expression_object
from chat.errors import ApiError
from chat.registries.admin_actions import AdminAction
from chat.store.accounts import accounts
from chat.store.guilds import expressions, guilds
from chat.store.policy import assets
from chat.store.standing.guild_audit_log import AuditLogPage


@attrs.frozen
class _Actions:
    """How the administrative log calls what is done to one kind of expression."""

    listed: AdminAction
    purged: AdminAction
    unknown: str


ACTIONS: Final[Mapping[str, _Actions]] = {
    EMOJIS: _Actions(AdminAction.LIST_GUILD_EMOJIS, AdminAction.PURGE_GUILD_EMOJI, "UNKNOWN_EMOJI"),
    STICKERS: _Actions(AdminAction.LIST_GUILD_STICKERS, AdminAction.PURGE_GUILD_STICKER, "UNKNOWN_STICKER"),
}


@attrs.define(kw_only=True, eq=False)
class AdministeredGuildContents:
    """Reads and clears what guilds hold, for administrators."""

    _core: Core
    _expressions: Expressions
    _log: AdminAuditLog

    async def audit_log(self, acting: Acting, guild_id: int, page: AuditLogPage) -> dict[str, Any]:
        """A page of the guild's own audit log, the newest entries first, with the accounts that it names.

        :raises ApiError: UNKNOWN_GUILD.
        """

        def query(connection: sqlite3.Connection) -> dict[str, Any]:
            _require_guild(connection, guild_id)
            return self._core.audit_log.page(connection, guild_id, page)

        found = await self._core.database.read(query)
        named = {
            "before_entry_id": page.before,
            "after_entry_id": page.after,
            "user_id": page.user_id,
            "action_type": page.action_type,
        }
        metadata = {"limit": page.limit, "entry_count": len(found["audit_log_entries"])}
        metadata |= {key: value for key, value in named.items() if value is not None}
        await self._log.note(acting, AdminAction.LIST_GUILD_AUDIT_LOG, guild_id, metadata)
        return found

    async def expressions(self, acting: Acting, guild_id: int, kind: str) -> list[dict[str, Any]]:
        """The guild's emojis or stickers, oldest first, each with who made it; None for an account that is gone.

        :raises ApiError: UNKNOWN_GUILD.
        """

        def query(connection: sqlite3.Connection) -> list[dict[str, Any]]:
            _require_guild(connection, guild_id)
            present = [entry for entry in expressions.of_guild(connection, guild_id) if entry.kind == kind]
            makers = {
                account.id: account
                for account in accounts.by_ids(connection, tuple({entry.user_id for entry in present}))
            }
            return [
                {
                    **expression_object(entry),
                    "creator_id": str(entry.user_id),
                    "creator": user_summary(makers[entry.user_id]) if entry.user_id in makers else None,
                }
                for entry in present
            ]

        listed = await self._core.database.read(query)
        await self._log.note(acting, ACTIONS[kind].listed, guild_id, {"result_count": len(listed)})
        return listed

    async def purge(self, acting: Acting, guild_id: int, kind: str, expression_id: int) -> None:
        """Delete an emoji or a sticker together with its image, which messages then no longer show.

        :raises ApiError: UNKNOWN_GUILD, UNKNOWN_EMOJI, UNKNOWN_STICKER.
        """
        _require_guild(self._core.database.reader, guild_id)

        def first(connection: sqlite3.Connection) -> None:
            expression = expressions.by_id(connection, kind, expression_id)
            if expression is None or expression.guild_id != guild_id:
                raise ApiError(ACTIONS[kind].unknown)
            assets.delete_of(connection, kind, expression_id)
            metadata = {"guild_id": guild_id, "name": expression.name}
            self._log.record(connection, acting, ACTIONS[kind].purged, expression_id, metadata)

        await self._expressions.remove(Actor(acting.user_id), kind, guild_id, expression_id, first)


def _require_guild(connection: sqlite3.Connection, guild_id: int) -> None:
    if guilds.by_id(connection, guild_id) is None:
        raise ApiError("UNKNOWN_GUILD")
