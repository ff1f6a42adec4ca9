"""Adding an application's bot to a guild, with a role for what it was promised (applications.md, Installing a bot)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

import attrs

from chat.auth.principal import Principal
from chat.domain.applications.application_objects import bot_of
from chat.domain.core import Core
from chat.domain.guilds.memberships import Memberships, Preparation
from chat.domain.guilds.roles import Roles
from chat.domain.standing.audit_log import Actor
from chat.domain.standing.guild_states import Role
from chat.domain.standing.permissions import ADMINISTRATOR
from chat.errors import ApiError
from chat.registries.audit_actions import AuditAction
from chat.registries.error_codes import ErrorCode
from chat.registries.guild_values import JoinSource
from chat.registries.permissions import ALL_DEFINED, FULL_MASK, Permission
from chat.store.applications.applications import Application
from chat.store.guilds import guilds, members, roles

NEW_ROLE_POSITION: Final = 1
"""New roles go to the bottom, above that of all members (applications.md, Installing a bot)."""


@attrs.define(kw_only=True, eq=False)
class BotInstallation:
    """Puts bots into guilds."""

    _core: Core
    _memberships: Memberships
    _roles: Roles

    def require_installable(self, principal: Principal, application: Application) -> None:
        """Return if the caller may add the application's bot to guilds at all.

        :raises ApiError: NOT_A_BOT_APPLICATION, BOT_IS_PRIVATE.
        """
        if application.bot_user_id is None:
            raise ApiError(ErrorCode.NOT_A_BOT_APPLICATION)
        if not application.bot_public and application.owner_id != principal.user_id:
            raise ApiError(ErrorCode.BOT_IS_PRIVATE)

    async def install(
        self,
        principal: Principal,
        application: Application,
        guild_id: int,
        permissions: int,
        *,
        reason: str | None = None,
        first: Callable[[sqlite3.Connection], None],
    ) -> None:
        """Make the bot a member. `first` runs in the same transaction before anything is written, and may refuse.

        Where `permissions` are asked for, the bot gets a role of its name with as many of them as the caller holds.
        `reason` is for the guild's audit log.

        :raises ApiError: as `require_installable`; as `Access.guild`, with MANAGE_GUILD; BOT_ALREADY_IN_GUILD,
            USER_BANNED_FROM_GUILD, MAX_GUILD_ROLES, MAX_GUILD_MEMBERS, and what `first` raises.
        """
        self.require_installable(principal, application)
        self._core.access.guild(principal, guild_id, Permission.MANAGE_GUILD.value)
        bot = bot_of(self._core.database.reader, application)
        if bot is None:
            raise ApiError(ErrorCode.NOT_A_BOT_APPLICATION)
        role = Role(
            self._core.snowflakes(), guild_id, bot.username, position=NEW_ROLE_POSITION, permissions=permissions
        )
        actor = Actor(principal.user_id, reason)

        def prepare(connection: sqlite3.Connection) -> Preparation:
            held = _held(connection, guild_id, principal.user_id)
            if not held & Permission.MANAGE_GUILD:
                raise ApiError(ErrorCode.MISSING_PERMISSIONS)
            first(connection)
            wanted = attrs.evolve(role, permissions=permissions & held & ALL_DEFINED)
            written = self._roles.write_new(connection, wanted, actor) if permissions else None
            entry = self._core.audit_log.record(
                connection, guild_id, AuditAction.BOT_ADD, actor, target_id=bot.id, options={"temporary": False}
            )

            def announce() -> None:
                if written is not None:
                    self._roles.announce(written)
                self._core.audit_log.publish(entry)

            return Preparation(frozenset() if written is None else frozenset({role.id}), announce)

        joined = await self._memberships.join(
            bot, guild_id, JoinSource.BOT_INVITE, inviter_id=principal.user_id, first=prepare, guard=principal.guard
        )
        if not joined:
            raise ApiError(ErrorCode.BOT_ALREADY_IN_GUILD)


def _held(connection: sqlite3.Connection, guild_id: int, user_id: int) -> int:
    """What the account may do in the guild by now: the check before may be out of date when its turn to write comes."""
    guild = guilds.by_id(connection, guild_id)
    if guild is None or not members.exists(connection, guild_id, user_id):
        return 0
    if guild.owner_id == user_id:
        return FULL_MASK
    mask = roles.granted(connection, user_id, [guild_id])[guild_id]
    return FULL_MASK if mask & ADMINISTRATOR else mask
