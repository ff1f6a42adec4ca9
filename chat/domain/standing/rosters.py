"""Rosters: the members of a guild by name, for member lists, searches and counts.

A roster is read from the store as a whole when it is first asked for, and then follows what the bus tells of members
who join, change and leave. Names are compared case-folded.
"""

from __future__ import annotations

import bisect
import functools
import sqlite3
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Final

import attrs
import trio

from chat.bus.bus import Bus, Event, GuildDeleted, GuildJoined, GuildLeft, Turn
from chat.classes import define, frozen
from chat.registries.events import EventName
from chat.registries.limits import MEMBERS_FULL_LIST_MAXIMUM
from chat.store.database import Database
from chat.store.guilds import members
from chat.store.guilds.members import NamedMember

MEMBERS_KEPT: Final = 250_000
"""Members in all rosters together at which the one unused for longest is forgotten (about 100 MB)."""

MEMBERS_PER_TURN: Final = 2_048
"""Members looked at before other tasks get a turn: about a millisecond."""

_MEMBER_EVENTS: Final = frozenset(
    {EventName.GUILD_MEMBER_ADD, EventName.GUILD_MEMBER_UPDATE, EventName.GUILD_MEMBER_REMOVE}
)


@frozen
class RosterMember:
    """A member as a roster keeps it; `names` are the nick, the global name and the username, those that there are."""

    user_id: int
    names: tuple[str, ...]
    role_ids: frozenset[int]

    @classmethod
    def of(cls, member: NamedMember) -> RosterMember:
        """A member as the store has it."""
        names = (member.nick, member.global_name, member.username)
        folded = tuple(name.casefold() for name in names if name is not None)
        return cls(member.user_id, folded, member.role_ids)

    @property
    def place(self) -> tuple[str, int]:
        """By what members are ordered: the name that is shown."""
        return self.names[0], self.user_id


class Roster:
    """The members of one guild, ordered by the name that is shown."""

    def __init__(self, members: Sequence[RosterMember]) -> None:
        self._by_id = {member.user_id: member for member in members}
        self._places = sorted(member.place for member in members)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, user_id: int) -> bool:
        return user_id in self._by_id

    def __iter__(self) -> Iterator[RosterMember]:
        return iter([self._by_id[user_id] for _, user_id in self._places])

    def user_ids(self) -> list[int]:
        """Every member, in order of user id."""
        return sorted(self._by_id)

    def put(self, member: RosterMember) -> None:
        """Add a member, or take over what changed in one."""
        self.drop(member.user_id)
        self._by_id[member.user_id] = member
        bisect.insort(self._places, member.place)

    def drop(self, user_id: int) -> None:
        member = self._by_id.pop(user_id, None)
        if member is not None:
            del self._places[bisect.bisect_left(self._places, member.place)]

    async def search(self, query: str, limit: int) -> list[int]:
        """Members one of whose names begins with `query` in any letter case, at most `limit`.

        Members found by the name that is shown come first; among equals that name decides.
        """
        prefix = query.casefold()
        found: list[tuple[bool, int, int]] = []
        for position, member in enumerate(self):
            if position % MEMBERS_PER_TURN == MEMBERS_PER_TURN - 1:
                await trio.lowlevel.checkpoint()
            if any(name.startswith(prefix) for name in member.names):
                found.append((not member.names[0].startswith(prefix), position, member.user_id))
        return [user_id for _, _, user_id in sorted(found)[:limit]]


class Rosters:
    """Rosters of the guilds that were asked for lately."""

    def __init__(self, database: Database, bus: Bus) -> None:
        self._database = database
        self._rosters: OrderedDict[int, Roster] = OrderedDict()
        self._loading: dict[int, _Loading] = {}
        bus.subscribe(GuildJoined, self._membership_changed, Turn.STATE)
        bus.subscribe(GuildLeft, self._membership_changed, Turn.STATE)
        bus.subscribe(GuildDeleted, lambda signal: self._rosters.pop(signal.guild_id, None), Turn.STATE)
        bus.subscribe_events(_MEMBER_EVENTS, self._member_changed, Turn.STATE)

    async def get(self, guild_id: int) -> Roster:
        """The roster of a guild, at most MEMBERS_FULL_LIST_MAXIMUM members of it.

        Raises StorageUnavailable.
        """
        roster = self._rosters.get(guild_id)
        if roster is not None:
            self._rosters.move_to_end(guild_id)
            await trio.lowlevel.checkpoint()
            return roster
        loading = self._loading.get(guild_id)
        if loading is not None:
            await loading.done.wait()
            return await self.get(guild_id)
        return await self._load(guild_id)

    def forget(self) -> None:
        """Drop every roster: the store was changed in ways that the bus did not tell of."""
        self._rosters.clear()

    def forget_one(self, guild_id: int) -> None:
        """Drop the roster of one guild; it is read afresh on its next use."""
        self._rosters.pop(guild_id, None)

    def is_loaded(self, guild_id: int) -> bool:
        """Whether the guild's roster is in memory."""
        return guild_id in self._rosters

    def may_hold(self, guild_id: int, user_id: int) -> bool:
        """Whether the account is in the guild's roster; also True while that roster is not in memory."""
        roster = self._rosters.get(guild_id)
        return roster is None or user_id in roster

    async def _load(self, guild_id: int) -> Roster:
        loading = self._loading[guild_id] = _Loading()
        try:
            roster = await self._database.read(functools.partial(_read, guild_id))
        finally:
            del self._loading[guild_id]
            loading.done.set()
        self._rosters[guild_id] = roster
        # The snapshot that was read may be older than what the bus told meanwhile.
        for user_id in loading.changed:
            self._refresh(guild_id, roster, user_id)
        while len(self._rosters) > 1 and sum(map(len, self._rosters.values())) > MEMBERS_KEPT:
            self._rosters.popitem(last=False)
        return roster

    def _membership_changed(self, signal: GuildJoined | GuildLeft) -> None:
        self._changed(signal.guild_id, signal.user_id)

    def _member_changed(self, event: Event) -> None:
        if isinstance(event.data, dict):
            self._changed(int(event.data["guild_id"]), int(event.data["user"]["id"]))

    def _changed(self, guild_id: int, user_id: int) -> None:
        roster, loading = self._rosters.get(guild_id), self._loading.get(guild_id)
        if roster is not None:
            self._refresh(guild_id, roster, user_id)
        if loading is not None:
            loading.changed.add(user_id)

    def _refresh(self, guild_id: int, roster: Roster, user_id: int) -> None:
        member = members.named(self._database.reader, guild_id, user_id)
        if member is None:
            roster.drop(user_id)
        else:
            roster.put(RosterMember.of(member))


@define(eq=False)
class _Loading:
    """A roster on its way, and who changed meanwhile."""

    done: trio.Event = attrs.Factory(trio.Event)
    changed: set[int] = attrs.Factory(set)


def _read(guild_id: int, connection: sqlite3.Connection) -> Roster:
    named = members.all_named(connection, guild_id, MEMBERS_FULL_LIST_MAXIMUM)
    return Roster([RosterMember.of(member) for member in named])
