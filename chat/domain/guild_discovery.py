"""Public discovery: guilds that anybody may find and join (document 001, Guild features, DISCOVERABLE; wire facts,
appendix A).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

from chat.auth.principal import Principal
from chat.domain.access import Access
from chat.domain.guild_states import GuildStates
from chat.domain.invites import CLOSING_FEATURES
from chat.domain.memberships import Memberships
from chat.domain.objects.guilds import partial_guild_object
from chat.errors import ApiError
from chat.registries.guild_features import UNAVAILABLE_GUILD_FEATURES, GuildFeature
from chat.registries.join_sources import JoinSource
from chat.store import guilds
from chat.store.database import Database
from chat.store.guilds import Guild


class GuildDiscovery:
    """The operations on public discovery. `online_count` says how many members of a guild are online."""

    def __init__(
        self,
        database: Database,
        guild_states: GuildStates,
        access: Access,
        memberships: Memberships,
        online_count: Callable[[int], int],
    ) -> None:
        self._database = database
        self._guild_states = guild_states
        self._access = access
        self._memberships = memberships
        self._online_count = online_count

    async def listed(self, *, limit: int, offset: int) -> dict[str, Any]:
        """A page of the guilds that are present in discovery, the largest first, and how many there are in all."""

        def query(connection: sqlite3.Connection) -> tuple[list[Guild], int]:
            present = guilds.with_feature(
                connection, GuildFeature.DISCOVERABLE, but_none_of=sorted(UNAVAILABLE_GUILD_FEATURES)
            )
            return present[offset : offset + limit], len(present)

        page, total = await self._database.read(query)
        return {"guilds": [self._object(guild) for guild in page], "total": total}

    async def join(self, principal: Principal, guild_id: int, address: str | None) -> None:
        """Become a member of a guild that is present in discovery; nothing happens to whoever is one.

        :raises ApiError: UNKNOWN_GUILD, ACCESS_DENIED, MISSING_ACCESS, DISCOVERY_NOT_DISCOVERABLE; INVITES_DISABLED
            while the guild takes nobody in; as `Memberships.join`.
        """
        state = self._guild_states.get(guild_id)
        if state is None:
            raise ApiError("UNKNOWN_GUILD")
        self._access.require_open(principal, state)
        if GuildFeature.DISCOVERABLE not in state.guild.features:
            raise ApiError("DISCOVERY_NOT_DISCOVERABLE")
        if CLOSING_FEATURES & state.guild.features and state.member(principal.user_id) is None:
            raise ApiError("INVITES_DISABLED")
        await self._memberships.join(principal.account, guild_id, JoinSource.DISCOVERY, address=address)

    def _object(self, guild: Guild) -> dict[str, Any]:
        return {
            **partial_guild_object(guild),
            "verification_level": guild.verification_level,
            "member_count": guild.member_count,
            "online_count": self._online_count(guild.id),
        }
