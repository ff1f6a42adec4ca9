"""What the operator does to invites of guilds from the command line (instance.md, Command line).

They have no inviter: the instance itself lets people in. The guild's own log tells of them, and a running server learns
of them from notes that are written with the change (`chat.store.outside_changes`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

import attrs

from chat.clock import Clock
from chat.config import Settings
from chat.domain.administration.admin_audit_log import INSTANCE
from chat.domain.guilds.invites import CODE_ALPHABET, CODE_CHARACTERS, INVITABLE_CHANNEL_TYPES, InviteTerms, Randomness
from chat.errors import OperatorError
from chat.registries.audit_actions import AuditAction
from chat.snowflake import SnowflakeGenerator
from chat.store import outside_changes
from chat.store.database import Database
from chat.store.guilds import channels, guilds, invites
from chat.store.guilds.invites import Invite, InviteType
from chat.store.standing import guild_audit_log
from chat.store.standing.guild_audit_log import AuditLogEntry


class InviteAdministration:
    """Makes, lists and deletes invites into guilds for the instance."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        snowflakes: SnowflakeGenerator,
        randomness: Randomness,
        settings: Settings,
    ) -> None:
        self._database = database
        self._clock = clock
        self._snowflakes = snowflakes
        self._randomness = randomness
        self._max_invites = settings.limits.max_guild_invites

    async def create(self, channel_id: int, terms: InviteTerms) -> Invite:
        """Make an invite that leads to a channel of a guild; always a new one.

        Raises OperatorError for a channel that is not there or that no invite leads to, and for a guild that has as
        many as it may have.
        """
        now = self._clock.now_ms()

        def unit(connection: sqlite3.Connection) -> Invite:
            guild_id, kind = channels.guild_of(connection, channel_id), channels.type_of(connection, channel_id)
            guild = None if guild_id is None else guilds.by_id(connection, guild_id)
            if guild is None:
                raise OperatorError(f"there is no channel {channel_id} of a guild")
            if kind not in INVITABLE_CHANNEL_TYPES:
                raise OperatorError(f"channel {channel_id} is of type {kind}: no invite leads there")
            invites.delete_dead(connection, guild.id, now)
            if invites.count_of_guild(connection, guild.id, except_code=guild.vanity_url_code) >= self._max_invites:
                raise OperatorError(f"guild {guild.id} has {self._max_invites} invites, which is the most it may have")
            invite = Invite(
                code=self._code(),
                type=InviteType.GUILD.value,
                guild_id=guild.id,
                channel_id=channel_id,
                inviter_id=None,
                created_at=now,
                expires_at=now + terms.max_age * 1_000 if terms.max_age else None,
                max_age=terms.max_age,
                max_uses=terms.max_uses,
                temporary=terms.temporary,
            )
            while not invites.insert(connection, invite):  # the code was taken
                invite = attrs.evolve(invite, code=self._code())
            entry = self._record(connection, AuditAction.INVITE_CREATE, invite)
            self._leave(connection, outside_changes.INVITE_CREATED, {"code": invite.code, "entry_id": entry.id})
            return invite

        return await self._database.write(unit)

    async def delete(self, code: str) -> Invite:
        """Delete an invite into a guild; the one deleted.

        Raises OperatorError for one that there is not, one into a group, and a guild's custom code.
        """

        def unit(connection: sqlite3.Connection) -> Invite:
            invite = invites.named(connection, code, self._clock.now_ms())
            if invite is None or invite.guild_id is None:
                raise OperatorError(f"there is no invite {code} into a guild")
            guild = guilds.by_id(connection, invite.guild_id)
            if guild is not None and guild.vanity_url_code == invite.code:
                raise OperatorError(f"{code} is the custom invite code of guild {guild.id}: its owner gives it up")
            invites.delete(connection, invite.code)
            entry = self._record(connection, AuditAction.INVITE_DELETE, invite)
            body = {"code": invite.code, "guild_id": guild_id_of(invite), "channel_id": invite.channel_id}
            self._leave(connection, outside_changes.INVITE_DELETED, {**body, "entry_id": entry.id})
            return invite

        return await self._database.write(unit)

    async def of_guild(self, guild_id: int) -> list[Invite]:
        """The invites of a guild that hold, newest first. Raises OperatorError for a guild that is not there."""

        def query(connection: sqlite3.Connection) -> list[Invite]:
            guild = guilds.by_id(connection, guild_id)
            if guild is None:
                raise OperatorError(f"there is no guild {guild_id}")
            found = invites.of_guild(connection, guild_id, self._clock.now_ms())
            return [invite for invite in found if invite.code != guild.vanity_url_code]

        return await self._database.read(query)

    def _record(self, connection: sqlite3.Connection, action: AuditAction, invite: Invite) -> AuditLogEntry:
        """The entry that an invite of an account has as well, by the instance (guilds.md, Audit log)."""
        value = "old_value" if action is AuditAction.INVITE_DELETE else "new_value"
        entry = AuditLogEntry(
            id=self._snowflakes(),
            guild_id=guild_id_of(invite),
            action_type=action.value,
            user_id=INSTANCE,
            options={
                "channel_id": str(invite.channel_id),
                "max_age": invite.max_age,
                "max_uses": invite.max_uses,
                "temporary": invite.temporary,
                "uses": invite.uses,
            },
            changes=[{"key": "code", value: invite.code}],
        )
        guild_audit_log.insert(connection, entry)
        return entry

    def _leave(self, connection: sqlite3.Connection, kind: str, body: Mapping[str, Any]) -> None:
        outside_changes.record(connection, kind, body, self._clock.now_ms())

    def _code(self) -> str:
        return "".join(self._randomness.choice(CODE_ALPHABET) for _ in range(CODE_CHARACTERS))


def guild_id_of(invite: Invite) -> int:
    """The guild of an invite that leads into one."""
    if invite.guild_id is None:
        raise TypeError("an invite into a group")
    return invite.guild_id
