"""What becomes of a guild whose owner's account is erased (guilds.md, Ownership and erasure): it passes to the member
with the highest role who has been there for longest, and goes where nobody is left. Bots own no guild.
"""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs

from chat.bus.audience import ToGuild
from chat.bus.bus import Event, GuildDeleted, GuildStateChanged
from chat.domain.core import Core
from chat.domain.guilds import guild_deletion
from chat.domain.guilds.guild_changes import logged
from chat.domain.standing.audit_log import Actor, changes_between
from chat.domain.standing.role_hierarchy import rank_of
from chat.registries.audit_actions import AuditAction
from chat.registries.events import EventName
from chat.store.guilds import guild_succession, guilds, roles
from chat.store.guilds.guilds import Guild
from chat.store.standing.guild_audit_log import AuditLogEntry

REASON: Final = "The account of the owner was erased."
"""As the guild's audit log has it."""


@attrs.frozen
class Succession:
    """What it wrote that a guild has lost its owner: its new owner, or its end where `after` is None."""

    guild_id: int
    after: Guild | None
    entry: AuditLogEntry | None = None


@attrs.define(kw_only=True, eq=False)
class GuildSuccession:
    """Finds new owners for guilds."""

    _core: Core

    async def successor(self, guild_id: int, owner_id: int) -> int | None:
        """Who is next after the owner; None where nobody is left."""

        def query(connection: sqlite3.Connection) -> int | None:
            ranked = sorted(roles.of_guild(connection, guild_id), key=rank_of, reverse=True)
            return guild_succession.successor(connection, guild_id, owner_id, [role.id for role in ranked])

        return await self._core.database.read(query)

    def pass_on(
        self, connection: sqlite3.Connection, guild_id: int, owner_id: int, successor_id: int | None
    ) -> Succession | None:
        """In a unit of writing: hand the guild over, or delete it where nobody is next; hand the result to `announce`
        after the commit. None where it is not so any more: somebody came, or the next one left."""
        guild = guilds.by_id(connection, guild_id)
        if guild is None or guild.owner_id != owner_id:
            return None
        if successor_id is None:
            if guild_succession.anybody_beside(connection, guild_id, owner_id):
                return None
            guild_deletion.delete_in(connection, self._core.errands, guild_id)
            return Succession(guild_id, None)
        if not guild_succession.is_person_in(connection, guild_id, successor_id):
            return None
        after = attrs.evolve(guild, owner_id=successor_id)
        guilds.replace(connection, after)
        entry = self._core.audit_log.record(
            connection,
            guild_id,
            AuditAction.GUILD_UPDATE,
            Actor(owner_id, REASON),
            target_id=guild_id,
            changes=changes_between(logged(guild), logged(after)),
        )
        return Succession(guild_id, after, entry)

    def announce(self, succession: Succession) -> None:
        """After the commit: tell the members who owns the guild, or that it is gone."""
        guild_id = succession.guild_id
        if succession.after is None:
            self._core.bus.publish(GuildDeleted(guild_id))
            self._core.guild_states.forget(guild_id)
            self._core.errands.look_again()
            return
        state = self._core.guild_states.loaded(guild_id)
        if state is not None:
            state.put_guild(succession.after)
            data = {**state.guild_object(), "guild_id": str(guild_id)}
            self._core.bus.publish(Event(EventName.GUILD_UPDATE, data, ToGuild(guild_id)), GuildStateChanged(guild_id))
        if succession.entry is not None:
            self._core.audit_log.publish(succession.entry)
