"""Lazy Request (gateway.md, Lazy Request): which guilds a session attends to, and what it watches there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import attrs
import trio

from chat.domain.presence.presences import Presences
from chat.gateway.commands.member_lists import MemberListUpdates, ThreadMemberLists
from chat.gateway.guild_payloads import GuildPayloads
from chat.gateway.hub import Hub
from chat.gateway.rooms import GuildRoom
from chat.gateway.session import GatewaySession
from chat.gateway.subscriptions import Subscriptions
from chat.protocol.requests import GuildSubscription, LazyRequest, MemberRange
from chat.registries.events import EventName
from chat.registries.limits import PRESENCE_BULK_PRESENCES

MEMBERS_PER_TURN: Final = 128
"""Memberships looked up before other tasks get a turn: about a millisecond."""


@attrs.define(eq=False)
class LazyCommands:
    """Carries out opcode 14, guild by guild; one that the session is not in is passed over."""

    _hub: Hub
    _subscriptions: Subscriptions
    _guild_payloads: GuildPayloads
    _presences: Presences
    _lists: MemberListUpdates
    _thread_lists: ThreadMemberLists

    async def apply(self, session: GatewaySession, request: LazyRequest) -> None:
        """Apply each guild's part in the order of gateway.md, Lazy Request: active, sync, member lists, members,
        typing, threads.

        Raises StorageUnavailable.
        """
        for wanted in request.subscriptions:
            room = self._hub.open_room(session, wanted.guild_id)
            if room is not None:
                await self._apply(session, room, wanted)
            await trio.lowlevel.checkpoint()

    async def _apply(self, session: GatewaySession, room: GuildRoom, wanted: GuildSubscription) -> None:
        changed = wanted.active is not None and _set_active(session, room, wanted.active)
        if changed or wanted.sync:
            every = self._hub.shows_every_thread(session, room.guild_id)
            data = self._guild_payloads.whole(room.state, session, full_users=True, every_thread=every)
            self._hub.send((session,), EventName.GUILD_SYNC, data)
        if wanted.member_list_channels is not None:
            await self._watch_lists(session, room, wanted.member_list_channels.items())
        if wanted.members is not None:
            await self._watch_members(session, room, wanted.members)
        if self._hub.open_room(session, room.guild_id) is not room:
            return  # left meanwhile
        if wanted.typing is not None:
            self._subscriptions.set_typing(session, room.guild_id, wanted.typing)
        if session.threads:
            await self._watch_threads(session, room, wanted)

    async def _watch_threads(self, session: GatewaySession, room: GuildRoom, wanted: GuildSubscription) -> None:
        """Tell of all active threads from now on, and once at once; watch who is in exactly these threads."""
        if wanted.threads is not None and self._subscriptions.set_threads(session, room.guild_id, wanted.threads):
            data = self._guild_payloads.every_thread(room.state, session)
            self._hub.send((session,), EventName.THREAD_LIST_SYNC, data)
        if wanted.thread_member_lists is not None:
            thread_ids = tuple(dict.fromkeys(wanted.thread_member_lists))
            self._subscriptions.set_thread_member_lists(session, room.guild_id, thread_ids)
            for thread_id in thread_ids:
                await self._thread_lists.show(session, room.guild_id, thread_id)

    async def _watch_lists(
        self, session: GatewaySession, room: GuildRoom, lists: Iterable[tuple[int, tuple[MemberRange, ...]]]
    ) -> None:
        """Watch exactly these lists, as far as the account may know who sees the channel, and show each at once."""
        visible = {channel_id: ranges for channel_id, ranges in lists if room.shows_viewers_to(session, channel_id)}
        self._subscriptions.watch_lists(session, room.guild_id, visible)
        for channel_id in visible:
            await self._lists.show(session, (room.guild_id, channel_id))

    async def _watch_members(self, session: GatewaySession, room: GuildRoom, user_ids: tuple[int, ...]) -> None:
        """Watch exactly these members' presences, and tell at once of those that are online."""
        members = []
        for position, user_id in enumerate(user_ids, start=1):
            if room.state.member(user_id) is not None:
                members.append(user_id)
            if position % MEMBERS_PER_TURN == 0:
                await trio.lowlevel.checkpoint()
        if self._hub.open_room(session, room.guild_id) is not room:
            return
        added = self._subscriptions.watch_members(session, room.guild_id, members)
        online = [user_id for user_id in members if user_id in added and self._presences.is_online(user_id)]
        for start in range(0, len(online), PRESENCE_BULK_PRESENCES):
            presences = [
                self._presences.presence_object(user_id, guild_id=room.guild_id)
                for user_id in online[start : start + PRESENCE_BULK_PRESENCES]
            ]
            data = {"guild_id": str(room.guild_id), "presences": presences}
            self._hub.send((session,), EventName.PRESENCE_UPDATE_BULK, data)


def _set_active(session: GatewaySession, room: GuildRoom, active: bool) -> bool:
    """Make the session active or passive in the guild; returns whether that changed. Bots are always active."""
    if session.bot or (room.guild_id in session.active_guilds) == active:
        return False
    if active:
        session.active_guilds.add(room.guild_id)
    else:
        session.active_guilds.discard(room.guild_id)
    room.forget_recipients()
    return True
