"""Watched lists, kept up to date: of a channel's viewers, and of a thread's members (gateway.md, Lazy Request;
gateway.md, Member lists).

A member list is shown to a session when it begins to watch it, and when it was resumed. Later, when a presence, a
membership or the guild's permissions change, the list is arranged anew, at most once a second, and each watcher with a
socket is sent those of its ranges that look different. Every update replaces whole ranges (`SYNC`); which look
different is told by a digest of what was sent last.
"""

from __future__ import annotations

import functools
import hashlib
import heapq
import itertools
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from typing import Final

import attrs
import orjson
import structlog
import trio

from chat import wire
from chat.bus.audience import ToPresenceSubscribers
from chat.bus.bus import Bus, Event, GuildDeleted, GuildJoined, GuildLeft, Turn
from chat.classes import define
from chat.domain.guilds.member_lists import Group, MemberList, MemberListBuilder, first_members
from chat.domain.presence.presences import Presences
from chat.domain.standing.rosters import MEMBERS_PER_TURN, Rosters
from chat.domain.standing.thread_access import ThreadLookup
from chat.domain.standing.user_objects import partial_user
from chat.errors import StorageUnavailable
from chat.gateway.hub import Hub
from chat.gateway.rooms import GuildRoom
from chat.gateway.session import GatewaySession
from chat.gateway.subscriptions import ListKey, Subscriptions
from chat.protocol.requests import MemberRange
from chat.registries.events import EventName
from chat.registries.guild_values import DisabledOperation
from chat.registries.limits import THREAD_MEMBER_LIST_MEMBERS
from chat.store.database import Database

logger = structlog.get_logger(__name__)

MEMBER_LIST_UPDATES: Final = DisabledOperation.MEMBER_LIST_UPDATES.value
UPDATE_SECONDS: Final = 1.0
"""Seconds between two updates of one list, at least."""

LISTS_KEPT: Final = 16
"""Arranged lists that are kept for the next session to watch them: about 1 MB each in a guild of 100,000."""

LARGE_GUILD: Final = 2_000
"""In a guild with this many members or more the beginning of a list is read on its own: the whole roster of 100,000
takes half a second."""

FIRST_ROWS: Final = 1_000
"""How many rows are read when only the beginning of a list is. A guild with more members online is read whole."""

THREAD_MEMBERS_PER_TURN: Final = 100
"""Members of a thread looked up before other tasks get a turn: about a millisecond."""


@define(eq=False)
class _Shown:
    """What the watchers of a list have been sent."""

    heading: bytes = b""
    ranges: dict[MemberRange, bytes] = attrs.Factory(dict)
    updated_at: float = float("-inf")


@define(eq=False)
class MemberListUpdates:
    """Sends member lists to the sessions that watch them. Subscribes to the bus."""

    _hub: Hub
    _subscriptions: Subscriptions
    _presences: Presences
    _rosters: Rosters
    _database: Database
    _bus: Bus
    _shown: dict[ListKey, _Shown] = attrs.field(factory=dict, init=False)
    _due: list[tuple[float, ListKey]] = attrs.field(factory=list, init=False)
    _stale: set[ListKey] = attrs.field(factory=set, init=False)
    _wake: trio.Event = attrs.field(factory=trio.Event, init=False)
    _arranged: OrderedDict[ListKey, MemberList] = attrs.field(factory=OrderedDict, init=False)
    """The watched lists as they are now; a change that makes a list stale removes it."""
    _changes: int = attrs.field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        self._subscriptions.on_guild_changed.append(self._guild_changed)
        self._subscriptions.on_list_left.append(self._list_left)
        bus = self._bus
        bus.subscribe_events((EventName.PRESENCE_UPDATE,), self._presence_changed, Turn.DELIVERY)
        bus.subscribe_events((EventName.GUILD_MEMBER_UPDATE,), self._member_changed, Turn.DELIVERY)
        bus.subscribe(GuildJoined, self._members_changed, Turn.DELIVERY)
        bus.subscribe(GuildLeft, self._members_changed, Turn.DELIVERY)
        bus.subscribe(GuildDeleted, self._members_changed, Turn.DELIVERY)

    # What makes a list stale: presences and memberships; permissions are told of by the subscriptions.

    def _presence_changed(self, event: Event) -> None:
        match event.audience:
            case ToPresenceSubscribers(user_id):
                for guild_id in self._subscriptions.guilds_with_lists():
                    if self._may_hold(guild_id, user_id):
                        self._guild_changed(guild_id)

    def _may_hold(self, guild_id: int, user_id: int) -> bool:
        if self._rosters.is_loaded(guild_id):
            return self._rosters.may_hold(guild_id, user_id)
        room = self._hub.rooms.get(guild_id)
        return room is not None and room.state.member(user_id) is not None

    def _member_changed(self, event: Event) -> None:
        if isinstance(event.data, dict):
            self._guild_changed(int(event.data["guild_id"]))

    def _members_changed(self, signal: GuildJoined | GuildLeft | GuildDeleted) -> None:
        self._guild_changed(signal.guild_id)

    def _guild_changed(self, guild_id: int) -> None:
        self._changes += 1
        for key in self._subscriptions.lists_of_guild(guild_id):
            self._arranged.pop(key, None)
            if key not in self._stale:
                self._expect_update(key)

    def _expect_update(self, key: ListKey) -> None:
        self._stale.add(key)
        shown = self._shown.get(key)
        due = trio.current_time() if shown is None else shown.updated_at + UPDATE_SECONDS
        heapq.heappush(self._due, (due, key))
        self._wake.set()

    def _list_left(self, key: ListKey) -> None:
        if not self._subscriptions.list_watchers(key):
            self._shown.pop(key, None)
            self._arranged.pop(key, None)

    # Updates

    async def run(self) -> None:
        """Send updates when they are due; runs until cancelled."""
        while True:
            self._wake = trio.Event()
            with trio.move_on_at(self._due[0][0] if self._due else float("inf")):
                await self._wake.wait()
            while self._due and self._due[0][0] <= trio.current_time():
                _, key = heapq.heappop(self._due)
                self._stale.discard(key)
                try:
                    await self._update(key)
                except StorageUnavailable:
                    logger.warning("member list not updated: the store is unavailable", guild_id=key[0])
                    self._expect_update(key)
                except Exception:  # a defect met by one list; raised from here it would end every session
                    logger.exception("member list not updated", guild_id=key[0])

    async def _update(self, key: ListKey) -> None:
        self._leave_hidden(key)
        room = self._hub.rooms.get(key[0])
        if room is None or not self._subscriptions.list_watchers(key):
            return
        if room.state.guild.disabled_operations & MEMBER_LIST_UPDATES:
            self._shown.pop(key, None)  # watchers are shown everything once it is switched on again
            return
        shown = self._shown.setdefault(key, _Shown())
        shown.updated_at = trio.current_time()
        watched = _watched(self._subscriptions.list_watchers(key).values())
        member_list = await self._arrange(room, key, watched)
        watchers = dict(self._subscriptions.list_watchers(key))
        if _last_row(_watched(watchers.values())) >= member_list.rows_known:
            self._expect_update(key)  # somebody scrolled on meanwhile
            return
        ops = await self._ops(room, member_list, _watched(watchers.values()))
        digests = {entry: _digest(op) for entry, op in ops.items()}
        changed = {entry for entry in ops if shown.ranges.get(entry) != digests[entry]}
        heading = _digest(_heading(member_list))
        addressed: dict[tuple[MemberRange, ...], list[GatewaySession]] = {}
        for session, ranges in watchers.items():
            own = tuple(entry for entry in ranges if entry in changed)
            if (own or heading != shown.heading) and session.receiver is not None:
                addressed.setdefault(own, []).append(session)
        shown.heading, shown.ranges = heading, digests
        for own, sessions in addressed.items():
            data = _payload(key, member_list, [ops[entry] for entry in own])
            self._hub.send(sessions, EventName.GUILD_MEMBER_LIST_UPDATE, data)

    async def show(self, session: GatewaySession, key: ListKey) -> None:
        """Send a session all that it watches of a list, now.

        Raises StorageUnavailable.
        """
        room = self._hub.rooms.get(key[0])
        ranges = self._subscriptions.list_watchers(key).get(session)
        if room is None or ranges is None or key[1] not in room.state.channels:
            return
        if room.state.guild.disabled_operations & MEMBER_LIST_UPDATES:
            return
        member_list = await self._arrange(room, key, ranges)
        ops = await self._ops(room, member_list, ranges)
        if session not in self._subscriptions.list_watchers(key):
            return
        shown = self._shown.setdefault(key, _Shown(heading=_digest(_heading(member_list))))
        for entry, op in ops.items():
            # Where others watch the range already they may have been sent less; then the next update is for all.
            shown.ranges.setdefault(entry, _digest(op))
        self._hub.send(
            (session,), EventName.GUILD_MEMBER_LIST_UPDATE, _payload(key, member_list, [ops[entry] for entry in ranges])
        )

    def _leave_hidden(self, key: ListKey) -> None:
        """Stop sessions from watching a channel's list if they may no longer know who sees the channel."""
        guild_id, channel_id = key
        for session in tuple(self._subscriptions.list_watchers(key)):
            room = self._hub.open_room(session, guild_id)
            if room is None or not room.shows_viewers_to(session, channel_id):
                self._subscriptions.leave_list(session, key)

    async def _arrange(self, room: GuildRoom, key: ListKey, ranges: Collection[MemberRange]) -> MemberList:
        """The list with at least these ranges filled in."""
        last_row = _last_row(ranges)
        known = self._arranged.get(key)
        if known is not None and last_row < known.rows_known:
            self._arranged.move_to_end(key)
            return known
        changes = self._changes
        online = list(itertools.islice(self._presences.online_in(key[0]), FIRST_ROWS + 1))
        if room.state.member_count >= LARGE_GUILD and last_row < FIRST_ROWS and len(online) <= FIRST_ROWS:
            member_list = await self._beginning(room, key, online)
        else:
            member_list = await self._whole(room, key)
        if changes == self._changes and self._subscriptions.list_watchers(key):
            self._arranged[key] = member_list
            if len(self._arranged) > LISTS_KEPT:
                self._arranged.popitem(last=False)
        return member_list

    async def _beginning(self, room: GuildRoom, key: ListKey, online: Collection[int]) -> MemberList:
        builder = MemberListBuilder(room.state, key[1])
        query = functools.partial(first_members, builder.viewers, room.state.member_count, online, FIRST_ROWS)
        found, others, further = await self._database.read(query)
        for member in found:
            builder.add(member.user_id, member.role_ids, is_online=True)
        builder.add_offline(others)
        return builder.finish(further)

    async def _whole(self, room: GuildRoom, key: ListKey) -> MemberList:
        roster = await self._rosters.get(key[0])
        builder = MemberListBuilder(room.state, key[1])
        for position, member in enumerate(roster, start=1):
            builder.add(member.user_id, member.role_ids, self._presences.is_online(member.user_id))
            if position % MEMBERS_PER_TURN == 0:
                await trio.lowlevel.checkpoint()
        return builder.finish()

    async def _ops(
        self, room: GuildRoom, member_list: MemberList, ranges: Iterable[MemberRange]
    ) -> dict[MemberRange, bytes]:
        ops = {}
        for start, end in ranges:
            items = [self._item(room, row) for row in member_list.rows(start, end)]
            ops[start, end] = orjson.dumps({"op": "SYNC", "range": [start, end], "items": items})
            await trio.lowlevel.checkpoint()
        return ops

    def _item(self, room: GuildRoom, row: Group | int) -> Mapping[str, object]:
        if isinstance(row, Group):
            return {"group": row.as_object()}
        member, account = room.state.member(row), room.state.account(row)
        if member is None or account is None:
            return {"member": {"user": {"id": str(row)}}}  # left in this very moment; the next update is without them
        user = partial_user(account)
        presence = self._presences.presence_object(row, user=user)
        return {"member": {**room.state.member_object(member, user), "presence": presence}}


def _watched(ranges: Iterable[Iterable[MemberRange]]) -> set[MemberRange]:
    return {entry for entries in ranges for entry in entries}


def _last_row(ranges: Iterable[MemberRange]) -> int:
    return max((end for _, end in ranges), default=-1)


def _heading(member_list: MemberList) -> bytes:
    return orjson.dumps([group.as_object() for group in member_list.groups])


def _payload(key: ListKey, member_list: MemberList, ops: list[bytes]) -> Mapping[str, object]:
    guild_id, channel_id = key
    return {
        "guild_id": str(guild_id),
        "id": str(channel_id),
        "channel_id": str(channel_id),
        "member_count": member_list.member_count,
        "online_count": member_list.online_count,
        "groups": [group.as_object() for group in member_list.groups],
        "ops": [orjson.Fragment(op) for op in ops],
    }


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


@define(eq=False)
class ThreadMemberLists:
    """Sends lists of thread members to those who watch them. Hears the bus.

    A list is shown whole to a session when it begins to watch it, and when it was resumed; later, at most once a
    second, when an account came into the thread or left it.
    """

    _hub: Hub
    _subscriptions: Subscriptions
    _threads: ThreadLookup
    _presences: Presences
    _bus: Bus
    _stale: dict[tuple[int, int], None] = attrs.field(factory=dict, init=False)
    _wake: trio.Event = attrs.field(factory=trio.Event, init=False)

    def __attrs_post_init__(self) -> None:
        self._bus.subscribe_events((EventName.THREAD_MEMBERS_UPDATE,), self._members_changed, Turn.DELIVERY)

    def _members_changed(self, event: Event) -> None:
        if isinstance(event.data, dict):
            self._note(int(event.data["guild_id"]), int(event.data["id"]))

    def _note(self, guild_id: int, thread_id: int) -> None:
        if self._subscriptions.thread_watchers(guild_id, thread_id):
            self._stale[guild_id, thread_id] = None
            self._wake.set()

    async def run(self) -> None:
        """Send lists that changed, until cancelled."""
        while True:
            self._wake = trio.Event()
            stale, self._stale = self._stale, {}
            for guild_id, thread_id in stale:
                for session in self._subscriptions.thread_watchers(guild_id, thread_id):
                    try:
                        await self.show(session, guild_id, thread_id)
                    except StorageUnavailable:
                        logger.warning("thread members not updated: the store is unavailable", thread_id=thread_id)
                    except Exception:  # a defect met by one list; raised from here it would end every session
                        logger.exception("thread members not updated", thread_id=thread_id)
            await self._wake.wait()
            await trio.sleep(UPDATE_SECONDS)

    async def show(self, session: GatewaySession, guild_id: int, thread_id: int) -> None:
        """Send a session the members of a thread that it sees; nothing where it does not.

        Raises StorageUnavailable.
        """
        members: list[Mapping[str, object]] = []
        after: int | None = 0
        while after is not None and len(members) < THREAD_MEMBER_LIST_MEMBERS:
            room = self._hub.open_room(session, guild_id)
            if room is None or not session.threads:
                return
            page = self._threads.members_shown(room.state, session.user_id, thread_id, after, THREAD_MEMBERS_PER_TURN)
            if page is None:
                return
            members += ({**entry, "presence": self._presence(entry)} for entry in page)
            after = int(page[-1]["user_id"]) if len(page) == THREAD_MEMBERS_PER_TURN else None
            await trio.lowlevel.checkpoint()
        data = {"guild_id": str(guild_id), "thread_id": str(thread_id), "members": members}
        self._hub.send((session,), EventName.THREAD_MEMBER_LIST_UPDATE, data)

    def _presence(self, entry: wire.ThreadMember) -> wire.Presence:
        return self._presences.presence_object(int(entry["user_id"]))
