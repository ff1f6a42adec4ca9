"""Adding an application's bot to a guild, with a role for what it was promised (wire facts 5.7)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

from chat.auth.principal import Principal
from chat.config import Settings
from chat.domain.access import Access
from chat.domain.application_rows import bot_of
from chat.domain.guild_states import Role
from chat.domain.memberships import Memberships
from chat.domain.permissions import ADMINISTRATOR
from chat.errors import ApiError
from chat.registries.join_sources import JoinSource
from chat.registries.permissions import ALL_DEFINED, FULL_MASK, Permission
from chat.snowflake import SnowflakeGenerator
from chat.store import guilds, members, roles
from chat.store.applications import Application
from chat.store.database import Database

MANAGE_GUILD: Final = Permission.MANAGE_GUILD.value

NEW_ROLE_POSITION: Final = 1
"""New roles go to the bottom, above everyone's (wire facts, appendix D)."""


class BotInstallation:
    """Puts bots into guilds."""

    def __init__(
        self,
        database: Database,
        access: Access,
        memberships: Memberships,
        snowflakes: SnowflakeGenerator,
        settings: Settings,
    ) -> None:
        self._database = database
        self._access = access
        self._memberships = memberships
        self._snowflakes = snowflakes
        self._max_roles = settings.limits.max_guild_roles

    def require_installable(self, principal: Principal, application: Application) -> None:
        """Return if the caller may add the application's bot to guilds at all.

        :raises ApiError: NOT_A_BOT_APPLICATION, BOT_IS_PRIVATE.
        """
        if application.bot_user_id is None:
            raise ApiError("NOT_A_BOT_APPLICATION")
        if not application.bot_public and application.owner_id != principal.user_id:
            raise ApiError("BOT_IS_PRIVATE")

    async def install(
        self,
        principal: Principal,
        application: Application,
        guild_id: int,
        permissions: int,
        first: Callable[[sqlite3.Connection], None],
    ) -> None:
        """Make the bot a member. `first` runs in the same transaction before anything is written, and may refuse.

        Where `permissions` are asked for, the bot gets a role of its name with as many of them as the caller holds.

        :raises ApiError: as `require_installable`; as `Access.guild`, with MANAGE_GUILD; BOT_ALREADY_IN_GUILD,
            MAX_GUILD_ROLES, MAX_GUILD_MEMBERS, and what `first` raises.
        """
        self.require_installable(principal, application)
        self._access.guild(principal, guild_id, MANAGE_GUILD)
        bot = bot_of(self._database.reader, application)
        if bot is None:
            raise ApiError("NOT_A_BOT_APPLICATION")
        role_id = self._snowflakes()

        def make_role(connection: sqlite3.Connection) -> Role | None:
            held = _held(connection, guild_id, principal.user_id)
            if not held & MANAGE_GUILD:
                raise ApiError("MISSING_PERMISSIONS")
            first(connection)
            if not permissions:
                return None
            if len(roles.of_guild(connection, guild_id)) >= self._max_roles:
                raise ApiError("MAX_GUILD_ROLES")
            granted = permissions & held & ALL_DEFINED
            role = Role(role_id, guild_id, bot.username, position=NEW_ROLE_POSITION, permissions=granted)
            roles.insert(connection, [role])
            return role

        joined = await self._memberships.join(
            bot, guild_id, JoinSource.BOT_INVITE, inviter_id=principal.user_id, first=make_role
        )
        if not joined:
            raise ApiError("BOT_ALREADY_IN_GUILD")


def _held(connection: sqlite3.Connection, guild_id: int, user_id: int) -> int:
    """What the account may do in the guild by now: the check before may be out of date when its turn to write comes."""
    guild = guilds.by_id(connection, guild_id)
    if guild is None or not members.exists(connection, guild_id, user_id):
        return 0
    if guild.owner_id == user_id:
        return FULL_MASK
    mask = roles.granted(connection, user_id, [guild_id])[guild_id]
    return FULL_MASK if mask & ADMINISTRATOR else mask
