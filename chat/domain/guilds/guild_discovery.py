"""Public discovery: guilds that anybody may find and join (guilds.md, Discovery)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import attrs

from chat.auth.principal import Principal
from chat.domain.core import Core
from chat.domain.guilds.invites import CLOSING_FEATURES
from chat.domain.guilds.memberships import Memberships
from chat.domain.policy.phrase_matcher import comparable_text
from chat.domain.standing.guild_objects import partial_guild_object
from chat.errors import ApiError
from chat.registries.discovery import CATEGORY_NAMES, DiscoveryCategory
from chat.registries.guild_features import UNAVAILABLE_GUILD_FEATURES, GuildFeature
from chat.registries.join_sources import JoinSource
from chat.store.guilds import discovery_applications, guilds
from chat.store.guilds.discovery_applications import DiscoveryApplication
from chat.store.guilds.guilds import Guild


@attrs.frozen
class Found:
    """A guild that is present in discovery, with what it says of itself; None of one that never applied."""

    guild: Guild
    application: DiscoveryApplication | None


def categories() -> list[dict[str, Any]]:
    """What guilds can be about."""
    return [{"id": int(category), "name": name} for category, name in CATEGORY_NAMES.items()]


@attrs.define(kw_only=True, eq=False)
class GuildDiscovery:
    """The operations on public discovery. `online_count` says how many members of a guild are online."""

    _core: Core
    _memberships: Memberships
    _online_count: Callable[[int], int]

    async def listed(
        self, *, limit: int, offset: int, category: DiscoveryCategory | None = None, text: str | None = None
    ) -> dict[str, Any]:
        """A page of the guilds that are present in discovery, the largest first, and how many there are in all: those
        of a category, or that have a text in their name or in what they say of themselves."""
        sought = comparable_text(text or "").strip()

        def fits(found: Found) -> bool:
            said = found.application
            if category is not None and (said is None or said.category != category):
                return False
            return sought in comparable_text(f"{found.guild.name}\n{said.description if said else ''}")

        def query(connection: sqlite3.Connection) -> tuple[list[Found], int]:
            present = guilds.with_feature(
                connection, GuildFeature.DISCOVERABLE, but_none_of=sorted(UNAVAILABLE_GUILD_FEATURES)
            )
            said = (Found(guild, discovery_applications.find(connection, guild.id)) for guild in present)
            fitting = [found for found in said if fits(found)]
            return fitting[offset : offset + limit], len(fitting)

        page, total = await self._core.database.read(query)
        return {"guilds": [self._object(found) for found in page], "total": total}

    async def join(self, principal: Principal, guild_id: int, address: str | None) -> None:
        """Become a member of a guild that is present in discovery; nothing happens to whoever is one.

        :raises ApiError: UNKNOWN_GUILD, ACCESS_DENIED, MISSING_ACCESS, DISCOVERY_NOT_DISCOVERABLE; INVITES_DISABLED
            while the guild takes nobody in; as `Memberships.join`.
        """
        state = self._core.guild_states.get(guild_id)
        if state is None:
            raise ApiError("UNKNOWN_GUILD")
        self._core.access.require_open(principal, state)
        if GuildFeature.DISCOVERABLE not in state.guild.features:
            raise ApiError("DISCOVERY_NOT_DISCOVERABLE")
        if CLOSING_FEATURES & state.guild.features and state.member(principal.user_id) is None:
            raise ApiError("INVITES_DISABLED")
        await self._memberships.join(principal.account, guild_id, JoinSource.DISCOVERY, address=address)

    def _object(self, found: Found) -> dict[str, Any]:
        guild, said = found.guild, found.application
        return {
            **partial_guild_object(guild),
            "description": None if said is None else said.description,
            "category_id": None if said is None else said.category,
            "verification_level": guild.verification_level,
            "member_count": guild.member_count,
            "online_count": self._online_count(guild.id),
        }
