"""Finding members: by name (guilds.md, Members), and as the list of those who see a channel, in the order in which
clients show them (gateway.md, Member lists).

Members who are online stand under the highest of their hoisted roles, or under `online`; all others under `offline`.
Within a group the shown name orders them. Each group begins with a row of its own, so positions count groups and
members alike.
"""

from __future__ import annotations

import bisect
import sqlite3
import sys
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from chat import wire
from chat.auth.principal import Principal
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.guilds.channel_viewers import ChannelViewers, Viewers
from chat.domain.standing.guild_states import GuildState
from chat.domain.standing.rosters import RosterMember, Rosters
from chat.domain.standing.user_objects import partial_user
from chat.registries.limits import MEMBERS_FULL_LIST_MAXIMUM
from chat.registries.permissions import Permission
from chat.snowflake import MAXIMUM
from chat.store.accounts.accounts import Account
from chat.store.guilds import members
from chat.store.guilds.members import Member
from chat.store.guilds.roles import Role

ONLINE: Final = "online"
"""The group of those online without a hoisted role."""

OFFLINE: Final = "offline"
"""The last group."""

WALKED: Final = 4
"""Members that are gone through in order of their names in the time in which one is looked up and put in order."""

SEE_VIEWERS: Final = (Permission.VIEW_CHANNEL | Permission.VIEW_CHANNEL_MEMBERS).value
"""The permissions that a member needs to be told who sees a channel (gateway.md, Requests for counts)."""


@frozen
class Group:
    """A heading of the list: a role's id, ONLINE or OFFLINE, and how many members stand below it."""

    id: str
    count: int

    def as_object(self) -> wire.MemberListGroup:
        return {"id": self.id, "count": self.count}


@frozen
class MemberList:
    groups: tuple[Group, ...]
    _starts: tuple[int, ...]
    """The position of each group's own row."""
    _members: Mapping[str, list[int]]
    rows_known: int
    """Rows from this position on may be missing."""

    @property
    def member_count(self) -> int:
        """How many members stand in the list."""
        return sum(group.count for group in self.groups)

    @property
    def online_count(self) -> int:
        return sum(group.count for group in self.groups if group.id != OFFLINE)

    def rows(self, start: int, end: int) -> list[Group | int]:
        """The rows from `start` to `end`, both included: groups, and members as their user ids."""
        rows: list[Group | int] = []
        first = max(bisect.bisect_right(self._starts, start) - 1, 0)
        for group, at in zip(self.groups[first:], self._starts[first:], strict=True):
            if at > end:
                break
            if at >= start:
                rows.append(group)
            rows.extend(self._members[group.id][max(start - at - 1, 0) : end - at])
        return rows


class MemberListBuilder:
    """Takes the members of a guild in the order of their names, and makes the list of a channel."""

    def __init__(self, state: GuildState, channel_id: int) -> None:
        self.viewers = ChannelViewers(state, channel_id)
        self._hoisted = [str(role.id) for role in hoisted_roles(state.roles.values())]
        self._ranks = {int(role_id): rank for rank, role_id in enumerate(self._hoisted)}
        self._group_of_roles: dict[frozenset[int], str] = {}
        self._members: dict[str, list[int]] = {group: [] for group in (*self._hoisted, ONLINE, OFFLINE)}

    def add(self, user_id: int, role_ids: frozenset[int], is_online: bool) -> None:
        """Put the next member under its group, if it sees the channel."""
        if not self.viewers.include(user_id, role_ids):
            return
        group = OFFLINE
        if is_online:
            found = self._group_of_roles.get(role_ids)
            group = self._group_of_roles[role_ids] = self._hoisting_group(role_ids) if found is None else found
        self._members[group].append(user_id)

    def add_offline(self, user_ids: Iterable[int]) -> None:
        """Put the next members below, of whom it is known that they are offline and see the channel."""
        self._members[OFFLINE] += user_ids

    def _hoisting_group(self, role_ids: Iterable[int]) -> str:
        ranks = [self._ranks[role_id] for role_id in role_ids if role_id in self._ranks]
        return self._hoisted[min(ranks)] if ranks else ONLINE

    def finish(self, left_out: int = 0) -> MemberList:
        """The list of all who were added; groups without members are left out. `left_out` more members would follow."""
        groups, starts, position = [], [], 0
        for group, user_ids in self._members.items():
            count = len(user_ids) + (left_out if group == OFFLINE else 0)
            if count:
                groups.append(Group(group, count))
                starts.append(position)
                position += count + 1
        return MemberList(tuple(groups), tuple(starts), self._members, position - left_out if left_out else sys.maxsize)


def first_members(
    viewers: ChannelViewers, member_count: int, online: Collection[int], limit: int, connection: sqlite3.Connection
) -> tuple[list[RosterMember], list[int], int]:
    """What the beginning of a channel's list takes, without the whole roster: those of these accounts that are members
    and see the channel, in order of their names; the first of the other members who see it; and how many others would
    follow. Like a roster it ends with MEMBERS_FULL_LIST_MAXIMUM members."""
    last_id = _last_listed(connection, viewers.guild_id, member_count)
    listed = {user_id for user_id in online if user_id <= last_id}
    found = [
        RosterMember.of(member)
        for member in members.named_among(connection, viewers.guild_id, listed)
        if viewers.include(member.user_id, member.role_ids)
    ]
    total = min(member_count, MEMBERS_FULL_LIST_MAXIMUM)
    known = viewers.read(connection, last_id)
    named = _viewers_by_name(connection, viewers.guild_id, last_id, known, total, limit + len(listed))
    others = [user_id for user_id in named if user_id not in listed][:limit]
    # The count is the guild's state's, which may be a moment apart from the store; then the list is soon made again.
    further = known.count(total) - len(found) - len(others)
    return sorted(found, key=lambda member: member.place), others, max(further, 0)


def count_viewers(
    viewers: ChannelViewers, member_count: int, online: Collection[int], connection: sqlite3.Connection
) -> tuple[int, int]:
    """How many members see the channel, and how many of those do who are online; they end where a list ends."""
    last_id = _last_listed(connection, viewers.guild_id, member_count)
    known = viewers.read(connection, last_id)
    seen_by_online = sum(known.include(user_id) for user_id in online if user_id <= last_id)
    return known.count(min(member_count, MEMBERS_FULL_LIST_MAXIMUM)), seen_by_online


def _last_listed(connection: sqlite3.Connection, guild_id: int, member_count: int) -> int:
    """The highest user id in the list of a guild with `member_count` members."""
    last_id = None
    if member_count > MEMBERS_FULL_LIST_MAXIMUM:
        last_id = members.nth_id(connection, guild_id, MEMBERS_FULL_LIST_MAXIMUM)
    return MAXIMUM if last_id is None else last_id


def _viewers_by_name(
    connection: sqlite3.Connection, guild_id: int, last_id: int, viewers: Viewers, total: int, limit: int
) -> list[int]:
    """The first viewers by name, at most `limit`."""
    count = viewers.count(total)
    wanted = min(limit, count)
    looked_at = WALKED * count
    # Names say little about who sees a channel: on average the wanted viewers are found among this many members.
    if wanted * total <= looked_at * count:
        first = members.first_by_name(connection, guild_id, last_id, limit, viewers.include, looked_at=looked_at)
        if len(first) >= wanted:
            return first
    among = viewers.exceptions
    if viewers.others_see:
        among = members.ids_of_all(connection, guild_id, last_id) - among
    return members.sorted_by_name(connection, guild_id, among, limit)


def hoisted_roles(roles: Iterable[Role]) -> list[Role]:
    """Roles with a group of their own, highest first: by `hoist_position`, or by position where that is null."""
    return sorted((role for role in roles if role.hoist), key=_hoist_order)


def _hoist_order(role: Role) -> tuple[int, int, int]:
    hoisted_at = role.position if role.hoist_position is None else role.hoist_position
    return -hoisted_at, -role.position, role.id


@define(kw_only=True, eq=False)
class MemberSearches:
    _core: Core
    _rosters: Rosters

    async def search(
        self, principal: Principal, guild_id: int, query: str, *, limit: int, offset: int = 0
    ) -> wire.MemberSearch:
        """A page of the members one of whose names begins with `query`, in any letter case; all where it is empty.

        Callers who manage the guild are also told how each member came (`supplemental`).

        :raises ApiError: as `Access.guild`.
        """
        access = self._core.access.guild(principal, guild_id)
        roster = await self._rosters.get(guild_id)
        found = await roster.search(query, MEMBERS_FULL_LIST_MAXIMUM)
        page = found[offset : offset + limit]
        rows = await self._core.database.read(lambda connection: members.with_accounts(connection, guild_id, page))
        tells_origin = bool(access.permissions & Permission.MANAGE_GUILD)

        def shown(member: Member, account: Account) -> wire.FoundMember:
            found = access.state.member_object(member, partial_user(account))
            origin: wire.FoundMemberSupplement = {"supplemental": _origin(member)} if tells_origin else {}
            return {**found, **origin}

        return {
            "guild_id": str(guild_id),
            "members": [shown(member, account) for member, account in rows],
            "page_result_count": len(rows),
            "total_result_count": len(found),
        }


def _origin(member: Member) -> wire.FoundMemberOrigin:
    inviter_id = member.inviter_id
    return {"join_source_type": member.join_source, "inviter_id": None if inviter_id is None else str(inviter_id)}
