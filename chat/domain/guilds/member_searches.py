"""Finding members by name (guilds.md, Members)."""

from __future__ import annotations

from typing import Any, Final

import attrs

from chat.auth.principal import Principal
from chat.domain.core import Core
from chat.domain.standing.rosters import Rosters
from chat.domain.standing.user_objects import partial_user
from chat.registries.limits import MEMBERS_FULL_LIST_MAXIMUM
from chat.registries.permissions import Permission
from chat.store.accounts.accounts import Account
from chat.store.guilds import member_search
from chat.store.guilds.members import Member

MANAGE_GUILD: Final = Permission.MANAGE_GUILD.value


@attrs.define(kw_only=True, eq=False)
class MemberSearches:
    """Searches members of one guild."""

    _core: Core
    _rosters: Rosters

    async def search(
        self, principal: Principal, guild_id: int, query: str, *, limit: int, offset: int = 0
    ) -> dict[str, Any]:
        """A page of the members one of whose names begins with `query`, in any letter case; all where it is empty.

        Whoever manages the guild is also told how each member came (`supplemental`).

        :raises ApiError: as `Access.guild`.
        """
        access = self._core.access.guild(principal, guild_id)
        roster = await self._rosters.get(guild_id)
        found = await roster.search(query, MEMBERS_FULL_LIST_MAXIMUM)
        page = found[offset : offset + limit]
        rows = await self._core.database.read(
            lambda connection: member_search.with_accounts(connection, guild_id, page)
        )
        tells_origin = bool(access.permissions & MANAGE_GUILD)

        def shown(member: Member, account: Account) -> dict[str, Any]:
            wire = access.state.member_object(member, partial_user(account))
            return {**wire, "supplemental": _origin(member)} if tells_origin else wire

        return {
            "guild_id": str(guild_id),
            "members": [shown(member, account) for member, account in rows],
            "page_result_count": len(rows),
            "total_result_count": len(found),
        }


def _origin(member: Member) -> dict[str, Any]:
    inviter_id = member.inviter_id
    return {
        "join_source_type": member.join_source,
        "inviter_id": None if inviter_id is None else str(inviter_id),
    }
