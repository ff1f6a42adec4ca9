"""Public discovery (guilds.md, Discovery): guilds that all may find and join, and the applications of guilds for it.

A guild has at most one application. One that was turned down, or taken out of discovery again, may apply anew. Whether
a guild is in discovery is told by its feature DISCOVERABLE alone, which administrators may also give and take by hand.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.classes import define, frozen
from chat.clock import iso_timestamp
from chat.domain.core import Core
from chat.domain.guilds.guild_changes import ChangedGuild, GuildChanges
from chat.domain.guilds.invites import CLOSING_FEATURES
from chat.domain.guilds.memberships import Memberships
from chat.domain.policy.blocked_values import comparable_text
from chat.domain.standing.access import require_guild
from chat.domain.standing.audit_log import Actor
from chat.domain.standing.guild_objects import partial_guild_object
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.registries.guild_features import UNAVAILABLE_GUILD_FEATURES, GuildFeature
from chat.registries.guild_values import CATEGORY_NAMES, DiscoveryCategory, DiscoveryStatus, JoinSource
from chat.registries.permissions import Permission
from chat.store.guilds import guild_discovery, guilds
from chat.store.guilds.guild_discovery import DiscoveryApplication
from chat.store.guilds.guilds import Guild


@frozen
class DiscoverableGuild:
    """A guild that is present in discovery, with what it says of itself; None of one that never applied."""

    guild: Guild
    application: DiscoveryApplication | None


def categories() -> list[wire.DiscoveryCategory]:
    """The categories of guilds in discovery, each with `id` and `name`."""
    return [{"id": int(category), "name": name} for category, name in CATEGORY_NAMES.items()]


@define(kw_only=True, eq=False)
class GuildDiscovery:
    """The operations on public discovery. `online_count` says how many members of a guild are online."""

    _core: Core
    _memberships: Memberships
    _online_count: Callable[[int], int]

    async def listed(
        self, *, limit: int, offset: int, category: DiscoveryCategory | None = None, text: str | None = None
    ) -> wire.ListDiscoveryAnswer:
        """A page of the guilds that are present in discovery, the largest first, and how many there are in all: those
        of a category, or that have a text in their name or in what they say of themselves."""
        sought = comparable_text(text or "").strip()

        def fits(found: DiscoverableGuild) -> bool:
            said = found.application
            if category is not None and (said is None or said.category != category):
                return False
            return sought in comparable_text(f"{found.guild.name}\n{said.description if said else ''}")

        def query(connection: sqlite3.Connection) -> tuple[list[DiscoverableGuild], int]:
            present = guilds.with_feature(
                connection, GuildFeature.DISCOVERABLE, but_none_of=sorted(UNAVAILABLE_GUILD_FEATURES)
            )
            said = (DiscoverableGuild(guild, guild_discovery.find(connection, guild.id)) for guild in present)
            fitting = [found for found in said if fits(found)]
            return fitting[offset : offset + limit], len(fitting)

        page, total = await self._core.database.read(query)
        return {"guilds": [self._object(found) for found in page], "total": total}

    async def join(self, principal: Principal, guild_id: int, address: str | None) -> None:
        """Become a member of a guild that is present in discovery; nothing happens to a member.

        :raises ApiError: UNKNOWN_GUILD, ACCESS_DENIED, MISSING_ACCESS, DISCOVERY_NOT_DISCOVERABLE; INVITES_DISABLED
            while the guild's invites are closed; as `Memberships.join`.
        """
        state = self._core.guild_states.get(guild_id)
        if state is None:
            raise ApiError(ErrorCode.UNKNOWN_GUILD)
        self._core.access.require_open(principal, state)
        if GuildFeature.DISCOVERABLE not in state.guild.features:
            raise ApiError(ErrorCode.DISCOVERY_NOT_DISCOVERABLE)
        if CLOSING_FEATURES & state.guild.features and state.member(principal.user_id) is None:
            raise ApiError(ErrorCode.INVITES_DISABLED)
        await self._memberships.join(
            principal.account, guild_id, JoinSource.DISCOVERY, address=address, guard=principal.guard
        )

    def _object(self, found: DiscoverableGuild) -> wire.DiscoveredGuild:
        guild, said = found.guild, found.application
        return {
            **partial_guild_object(guild),
            "description": None if said is None else said.description,
            "category_id": None if said is None else said.category,
            "verification_level": guild.verification_level,
            "member_count": guild.member_count,
            "online_count": self._online_count(guild.id),
        }


@frozen
class DiscoveryWish:
    """How a guild describes itself in discovery; None keeps a value."""

    category: DiscoveryCategory | None = None
    description: str | None = None


class DiscoveryApplications:
    """The operations on the application of one guild, by those who manage it."""

    def __init__(self, core: Core, changes: GuildChanges) -> None:
        self._core = core
        self._changes = changes
        self._settings = core.settings.discovery

    def status(self, principal: Principal, guild_id: int) -> wire.GetDiscoveryApplicationAnswer:
        """How the guild stands: its application if it has one, and whether it has the members to make one.

        :raises ApiError: as `Access.guild` with MANAGE_GUILD.
        """
        state = self._core.access.guild(principal, guild_id, Permission.MANAGE_GUILD).state
        application = guild_discovery.find(self._core.database.reader, guild_id)
        minimum = self._settings.minimum_members
        return {
            "application": None if application is None else application_object(application),
            "eligible": self._settings.enabled and state.guild.member_count >= minimum,
            "min_member_count": minimum,
        }

    async def apply(
        self, principal: Principal, guild_id: int, category: DiscoveryCategory, description: str
    ) -> wire.DiscoveryApplication:
        """Apply for discovery.

        :raises ApiError: as `Access.guild` with MANAGE_GUILD; DISCOVERY_DISABLED, CONTENT_BLOCKED,
            DISCOVERY_ALREADY_APPLIED, DISCOVERY_INSUFFICIENT_MEMBERS.
        """
        self._core.access.guild(principal, guild_id, Permission.MANAGE_GUILD)
        if not self._settings.enabled:
            raise ApiError(ErrorCode.DISCOVERY_DISABLED)
        self._core.blocked.require_text(description)
        new = DiscoveryApplication(
            guild_id, category, description, DiscoveryStatus.PENDING, principal.user_id, self._core.clock.now_ms()
        )

        def unit(connection: sqlite3.Connection) -> None:
            guild = require_guild(connection, guild_id)
            before = guild_discovery.find(connection, guild_id)
            waits = before is not None and before.status == DiscoveryStatus.PENDING
            if waits or GuildFeature.DISCOVERABLE in guild.features:
                raise ApiError(ErrorCode.DISCOVERY_ALREADY_APPLIED)
            if guild.member_count < self._settings.minimum_members:
                raise ApiError(ErrorCode.DISCOVERY_INSUFFICIENT_MEMBERS)
            guild_discovery.put(connection, new)

        await self._core.database.write(unit, guard=principal.guard)
        return application_object(new)

    async def change(self, principal: Principal, guild_id: int, wish: DiscoveryWish) -> wire.DiscoveryApplication:
        """Change what the guild says of itself, whether it waits or is in discovery already.

        :raises ApiError: as `Access.guild` with MANAGE_GUILD; CONTENT_BLOCKED, DISCOVERY_APPLICATION_NOT_FOUND;
            DISCOVERY_APPLICATION_ALREADY_REVIEWED for one that was turned down or taken out.
        """
        self._core.access.guild(principal, guild_id, Permission.MANAGE_GUILD)
        if wish.description is not None:
            self._core.blocked.require_text(wish.description)

        def unit(connection: sqlite3.Connection) -> DiscoveryApplication:
            before = required_application(connection, guild_id)
            if before.status not in (DiscoveryStatus.PENDING, DiscoveryStatus.APPROVED):
                raise ApiError(ErrorCode.DISCOVERY_APPLICATION_ALREADY_REVIEWED)
            after = attrs.evolve(
                before,
                category=before.category if wish.category is None else wish.category,
                description=before.description if wish.description is None else wish.description,
            )
            guild_discovery.put(connection, after)
            return after

        return application_object(await self._core.database.write(unit, guard=principal.guard))

    async def withdraw(self, principal: Principal, guild_id: int, reason: str | None) -> None:
        """Take the application back; a guild that is in discovery leaves it.

        :raises ApiError: as `Access.guild` with MANAGE_GUILD; DISCOVERY_APPLICATION_NOT_FOUND.
        """
        access = self._core.access.guild(principal, guild_id, Permission.MANAGE_GUILD)
        judged = await self._changes.judged(access.state, {}, guard=principal.guard)

        def unit(connection: sqlite3.Connection) -> ChangedGuild:
            required_application(connection, guild_id)
            guild_discovery.delete(connection, guild_id)
            actor = Actor(principal.user_id, reason)
            return self._changes.write(connection, guild_id, judged, actor, lambda _, guild: out_of_discovery(guild))

        def then(changed: ChangedGuild) -> None:
            if changed.before != changed.after:
                self._changes.announce(changed)

        await self._core.database.write(unit, then, guard=principal.guard)


def required_application(connection: sqlite3.Connection, guild_id: int) -> DiscoveryApplication:
    """The application of a guild. Raises DISCOVERY_APPLICATION_NOT_FOUND."""
    found = guild_discovery.find(connection, guild_id)
    if found is None:
        raise ApiError(ErrorCode.DISCOVERY_APPLICATION_NOT_FOUND)
    return found


def out_of_discovery(guild: Guild) -> Guild:
    """The guild without its place in discovery."""
    return attrs.evolve(guild, features=guild.features - {GuildFeature.DISCOVERABLE})


def application_object(application: DiscoveryApplication) -> wire.DiscoveryApplication:
    """An application as the guild sees it, without the reviewer."""
    return {
        "guild_id": str(application.guild_id),
        "status": application.status,
        "category_id": application.category,
        "description": application.description,
        "applied_at": iso_timestamp(application.applied_at),
        "reviewed_at": None if application.reviewed_at is None else iso_timestamp(application.reviewed_at),
        "review_reason": application.review_reason,
    }
