"""Guilds that want to be found: their applications for public discovery (guilds.md, Discovery).

A guild has at most one application. One that was turned down, or taken out of discovery again, may apply anew. Whether
a guild is in discovery is told by its feature DISCOVERABLE alone, which administrators may also give and take by hand.
"""

from __future__ import annotations

import sqlite3
from typing import Any

import attrs

from chat.auth.principal import Principal
from chat.clock import iso_timestamp
from chat.domain.core import Core
from chat.domain.guilds.guild_changes import MANAGE_GUILD, ChangedGuild, GuildChanges
from chat.domain.standing.audit_log import Actor
from chat.errors import ApiError
from chat.registries.discovery import DiscoveryCategory, DiscoveryStatus
from chat.registries.guild_features import GuildFeature
from chat.store.guilds import discovery_applications, guilds
from chat.store.guilds.discovery_applications import DiscoveryApplication
from chat.store.guilds.guilds import Guild


@attrs.frozen
class Wish:
    """What a guild says of itself; None keeps what it has said."""

    category: DiscoveryCategory | None = None
    description: str | None = None


class DiscoveryApplications:
    """The operations on the application of one guild, by those who manage it."""

    def __init__(self, core: Core, changes: GuildChanges) -> None:
        self._core = core
        self._changes = changes
        self._settings = core.settings.discovery

    def status(self, principal: Principal, guild_id: int) -> dict[str, Any]:
        """How the guild stands: its application if it has one, and whether it has the members to make one.

        :raises ApiError: as `Access.guild` with MANAGE_GUILD.
        """
        state = self._core.access.guild(principal, guild_id, MANAGE_GUILD).state
        application = discovery_applications.find(self._core.database.reader, guild_id)
        minimum = self._settings.minimum_members
        return {
            "application": None if application is None else application_object(application),
            "eligible": self._settings.enabled and state.guild.member_count >= minimum,
            "min_member_count": minimum,
        }

    async def apply(
        self, principal: Principal, guild_id: int, category: DiscoveryCategory, description: str
    ) -> dict[str, Any]:
        """Apply for discovery.

        :raises ApiError: as `Access.guild` with MANAGE_GUILD; DISCOVERY_DISABLED, CONTENT_BLOCKED,
            DISCOVERY_ALREADY_APPLIED, DISCOVERY_INSUFFICIENT_MEMBERS.
        """
        self._core.access.guild(principal, guild_id, MANAGE_GUILD)
        if not self._settings.enabled:
            raise ApiError("DISCOVERY_DISABLED")
        self._core.policy.require_unblocked(description)
        new = DiscoveryApplication(
            guild_id, category, description, DiscoveryStatus.PENDING, principal.user_id, self._core.clock.now_ms()
        )

        def unit(connection: sqlite3.Connection) -> None:
            guild = guilds.by_id(connection, guild_id)
            if guild is None:
                raise ApiError("UNKNOWN_GUILD")
            before = discovery_applications.find(connection, guild_id)
            waits = before is not None and before.status == DiscoveryStatus.PENDING
            if waits or GuildFeature.DISCOVERABLE in guild.features:
                raise ApiError("DISCOVERY_ALREADY_APPLIED")
            if guild.member_count < self._settings.minimum_members:
                raise ApiError("DISCOVERY_INSUFFICIENT_MEMBERS")
            discovery_applications.put(connection, new)

        await self._core.database.write(unit)
        return application_object(new)

    async def change(self, principal: Principal, guild_id: int, wish: Wish) -> dict[str, Any]:
        """Change what the guild says of itself, whether it waits or is in discovery already.

        :raises ApiError: as `Access.guild` with MANAGE_GUILD; CONTENT_BLOCKED, DISCOVERY_APPLICATION_NOT_FOUND;
            DISCOVERY_APPLICATION_ALREADY_REVIEWED for one that was turned down or taken out.
        """
        self._core.access.guild(principal, guild_id, MANAGE_GUILD)
        if wish.description is not None:
            self._core.policy.require_unblocked(wish.description)

        def unit(connection: sqlite3.Connection) -> DiscoveryApplication:
            before = required_application(connection, guild_id)
            if before.status not in (DiscoveryStatus.PENDING, DiscoveryStatus.APPROVED):
                raise ApiError("DISCOVERY_APPLICATION_ALREADY_REVIEWED")
            after = attrs.evolve(
                before,
                category=before.category if wish.category is None else wish.category,
                description=before.description if wish.description is None else wish.description,
            )
            discovery_applications.put(connection, after)
            return after

        return application_object(await self._core.database.write(unit))

    async def withdraw(self, principal: Principal, guild_id: int, reason: str | None) -> None:
        """Take the application back; a guild that is in discovery leaves it.

        :raises ApiError: as `Access.guild` with MANAGE_GUILD; DISCOVERY_APPLICATION_NOT_FOUND.
        """
        access = self._core.access.guild(principal, guild_id, MANAGE_GUILD)
        judged = await self._changes.judged(access.state, {})

        def unit(connection: sqlite3.Connection) -> ChangedGuild:
            required_application(connection, guild_id)
            discovery_applications.delete(connection, guild_id)
            actor = Actor(principal.user_id, reason)
            return self._changes.write(connection, guild_id, judged, actor, lambda _, guild: out_of_discovery(guild))

        def then(changed: ChangedGuild) -> None:
            if changed.before != changed.after:
                self._changes.announce(changed)

        await self._core.database.write(unit, then)


def required_application(connection: sqlite3.Connection, guild_id: int) -> DiscoveryApplication:
    """The application of a guild.

    :raises ApiError: DISCOVERY_APPLICATION_NOT_FOUND.
    """
    found = discovery_applications.find(connection, guild_id)
    if found is None:
        raise ApiError("DISCOVERY_APPLICATION_NOT_FOUND")
    return found


def out_of_discovery(guild: Guild) -> Guild:
    """The guild as it is when nobody finds it."""
    return attrs.evolve(guild, features=guild.features - {GuildFeature.DISCOVERABLE})


def application_object(application: DiscoveryApplication) -> dict[str, Any]:
    """An application as the guild sees it; who has decided on it is not told."""
    return {
        "guild_id": str(application.guild_id),
        "status": application.status,
        "category_id": application.category,
        "description": application.description,
        "applied_at": iso_timestamp(application.applied_at),
        "reviewed_at": None if application.reviewed_at is None else iso_timestamp(application.reviewed_at),
        "review_reason": application.review_reason,
    }
