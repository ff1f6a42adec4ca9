"""What a session asks and is told: Request Guild Members, in chunks of at most 1,000, counts of guilds and of channels,
forum unreads (gateway.md, Request Guild Members; gateway.md, Requests for counts; gateway.md, Request Forum Unreads).

What a session may not know of is left out of the answer.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs
import trio

from chat import wire
from chat.classes import define
from chat.domain.guilds.channel_viewers import ChannelViewers
from chat.domain.guilds.member_lists import count_viewers
from chat.domain.presence.presences import Presences
from chat.domain.standing.guild_states import GuildState
from chat.domain.standing.rosters import Rosters
from chat.domain.standing.thread_access import ThreadLookup
from chat.domain.standing.user_objects import partial_user
from chat.gateway.commands.budgets import FullListWindows, SocketWork
from chat.gateway.hub import Hub
from chat.gateway.rooms import GuildRoom
from chat.gateway.session import GatewaySession
from chat.protocol.requests import (
    ChannelMemberCountsRequest,
    ForumUnreadsRequest,
    GuildCountsRequest,
    MemberRequest,
    parse_forum_unreads,
)
from chat.registries.close_codes import UNKNOWN_OPCODE, Close
from chat.registries.events import EventName
from chat.registries.limits import FORUM_UNREAD_COUNT_MAXIMUM, MEMBERS_CHUNK_MEMBERS
from chat.registries.opcodes import Opcode
from chat.registries.permissions import MEMBER_REQUEST_PERMISSIONS
from chat.store.database import Database
from chat.store.guilds.members import with_accounts

PAUSE_BYTES: Final = 1_048_576
"""The next chunk waits while the socket has more than this unsent."""


@define(eq=False)
class RequestCommands:
    """Answers opcodes 8, 15, 16 and 28."""

    _hub: Hub
    _presences: Presences
    _rosters: Rosters
    _database: Database
    _threads: ThreadLookup
    _rate_limited: Callable[[], bool]
    """Whether a bot's whole lists count (setting `rate_limits`)."""
    full_lists: FullListWindows = attrs.field(factory=FullListWindows, init=False)

    # Members

    async def send_members(self, session: GatewaySession, request: MemberRequest) -> None:
        """Send the members that the request finds in each of its guilds.

        A guild that the session is not in, or may not list, is passed over. Raises StorageUnavailable.
        """
        for guild_id in request.guild_ids:
            room = self._hub.open_room(session, guild_id)
            if room is None or (request.whole_list and not self._may_list(session, room.state, request)):
                continue
            user_ids = await self._found(guild_id, request)
            chunks = [
                user_ids[start : start + MEMBERS_CHUNK_MEMBERS]
                for start in range(0, len(user_ids), MEMBERS_CHUNK_MEMBERS)
            ] or [[]]
            for index, chunk in enumerate(chunks):
                data = await self._chunk(room.state, chunk, request)
                if self._hub.open_room(session, guild_id) is not room:
                    break
                data["chunk_index"], data["chunk_count"] = index, len(chunks)
                self._hub.send((session,), EventName.GUILD_MEMBERS_CHUNK, data)
                if session.receiver is not None:
                    await session.receiver.drained(PAUSE_BYTES)

    def _may_list(self, session: GatewaySession, state: GuildState, request: MemberRequest) -> bool:
        """Whether the session may have a full list: a user needs three permissions, a bot gets a guild's list once in
        30 s."""
        if not session.bot:
            held = state.permissions(session.user_id)
            return held & MEMBER_REQUEST_PERMISSIONS == MEMBER_REQUEST_PERMISSIONS
        seconds = self.full_lists.seconds_to_wait(session.user_id, state.id) if self._rate_limited() else 0.0
        if not seconds:
            return True
        meta = _with_nonce({"guild_id": str(state.id)}, request.nonce)
        data = {"opcode": Opcode.REQUEST_GUILD_MEMBERS, "retry_after": round(seconds, 3), "meta": meta}
        self._hub.send((session,), EventName.RATE_LIMITED, data)
        return False

    async def _found(self, guild_id: int, request: MemberRequest) -> list[int]:
        if request.user_ids:
            return list(request.user_ids)
        roster = await self._rosters.get(guild_id)
        if request.whole_list:
            return roster.user_ids()
        return await roster.search(request.query, request.limit)

    async def _chunk(self, state: GuildState, user_ids: Sequence[int], request: MemberRequest) -> dict[str, object]:
        def read(connection: sqlite3.Connection) -> list[wire.Member]:
            found = with_accounts(connection, state.id, user_ids)
            return [state.member_object(member, partial_user(account)) for member, account in found]

        members = await self._database.read(read)
        data: dict[str, object] = {"guild_id": str(state.id), "members": members}
        if request.presences:
            users = [member["user"] for member in members]
            data["presences"] = [
                self._presences.presence_object(int(user["id"]), guild_id=state.id, user=user)
                for user in users
                if self._presences.is_online(int(user["id"]))
            ]
        return _with_nonce(data, request.nonce)

    # Counts

    async def count_guilds(self, session: GatewaySession, request: GuildCountsRequest) -> None:
        """How many members the guilds have, and how many of them are online."""
        rooms = (self._hub.open_room(session, guild_id) for guild_id in request.guild_ids)
        counts = [
            {
                "guild_id": str(room.guild_id),
                "member_count": room.state.member_count,
                "online_count": self._presences.online_count(room.guild_id),
            }
            for room in rooms
            if room is not None
        ]
        data = _with_nonce({"counts": counts}, request.nonce)
        self._hub.send((session,), EventName.GUILD_COUNTS_UPDATE, data)
        await trio.lowlevel.checkpoint()

    async def count_channel_members(self, session: GatewaySession, request: ChannelMemberCountsRequest) -> None:
        """How many members see each channel, and how many of them are online.

        Raises StorageUnavailable.
        """
        room = self._hub.open_room(session, request.guild_id)
        counts = []
        if room is not None:
            counts = [
                await self._count(room, channel_id)
                for channel_id in request.channel_ids
                if room.shows_viewers_to(session, channel_id)
            ]
        data = _with_nonce({"counts": counts}, request.nonce)
        self._hub.send((session,), EventName.CHANNEL_MEMBER_COUNTS_UPDATE, data)

    async def _count(self, room: GuildRoom, channel_id: int) -> Mapping[str, object]:
        online = list(self._presences.online_in(room.guild_id))
        query = functools.partial(
            count_viewers, ChannelViewers(room.state, channel_id), room.state.member_count, online
        )
        member_count, online_count = await self._database.read(query)
        return {
            "guild_id": str(room.guild_id),
            "channel_id": str(channel_id),
            "member_count": member_count,
            "online_count": online_count,
        }

    # Forum unreads

    def count_forum_unreads(self, session: GatewaySession, work: SocketWork, d: Any) -> Close | None:
        """Answer a Request Forum Unreads. Without thread access, or when the payload is no object, the opcode counts as
        unknown; beyond the budget the request is dropped."""
        if not session.threads or type(d) is not dict:
            return UNKNOWN_OPCODE
        request = parse_forum_unreads(d)
        if request is not None and work.forum_unreads.spend():
            self._send_unreads(session, request)
        return None

    def _send_unreads(self, session: GatewaySession, request: ForumUnreadsRequest) -> None:
        room = self._hub.open_room(session, request.guild_id)
        if room is None or not room.state.can_view(session.user_id, request.channel_id):
            return
        wanted = dict(request.threads)
        counts = self._threads.unread(
            room.state, session.user_id, request.channel_id, wanted, FORUM_UNREAD_COUNT_MAXIMUM
        )
        threads = [
            {
                "thread_id": str(thread_id),
                **({"count": counts[thread_id]} if thread_id in counts else {"missing": True}),
            }
            for thread_id in wanted
        ]
        data = {"guild_id": str(request.guild_id), "channel_id": str(request.channel_id), "threads": threads}
        self._hub.send((session,), EventName.FORUM_UNREADS, data)


def _with_nonce(data: dict[str, object], nonce: str | None) -> dict[str, object]:
    return data if nonce is None else {**data, "nonce": nonce}
