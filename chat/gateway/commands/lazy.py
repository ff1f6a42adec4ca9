"""Which guilds a session attends to, and what it watches there (gateway.md, Lazy Request); and what passive sessions
missed in a large guild, in brief, every 30 s (gateway.md, Passive sessions).

Passive sessions hear at once who is in voice; where that changed, the update repeats it as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import attrs
import trio

from chat.bus.audience import ToChannel
from chat.bus.bus import Bus, Event, Turn
from chat.classes import define
from chat.domain.presence.presences import Presences
from chat.domain.presence.voice_states import VoiceStates
from chat.gateway.commands.member_lists import MemberListUpdates, ThreadMemberLists
from chat.gateway.guild_payloads import GuildPayloads
from chat.gateway.hub import Hub
from chat.gateway.rooms import GuildRoom
from chat.gateway.session import GatewaySession
from chat.gateway.subscriptions import Subscriptions
from chat.protocol.requests import GuildSubscription, LazyRequest, MemberRange
from chat.registries.channel_types import ChannelType
from chat.registries.events import EventName
from chat.registries.limits import PASSIVE_GUILD_MEMBERS, PASSIVE_UPDATES_MS, PRESENCE_BULK_PRESENCES

MEMBERS_PER_TURN: Final = 128
"""Memberships looked up before other tasks get a turn: about a millisecond."""


@define(eq=False)
class LazyCommands:
    """Carries out opcode 14, guild by guild; passes over a guild that the session is not in."""

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
            data = self._guild_payloads.whole(room, session, every_thread=every)
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
        """Send all active threads now and report them from now on; watch the members of exactly these threads."""
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
        """Watch the presences of exactly these members, and send those that are online now."""
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
    one = {room.guild_id}
    session.active_guilds = session.active_guilds | one if active else session.active_guilds - one
    room.forget_recipients()
    return True


UPDATE_SECONDS: Final = PASSIVE_UPDATES_MS / 1000
ACCOUNTS_PER_TURN: Final = 512
"""Accounts judged before other tasks get a turn."""


@define(eq=False)
class PassiveUpdates:
    """Tells passive sessions which channels have new messages and who is in voice. Subscribes to the bus."""

    _hub: Hub
    _bus: Bus
    _voice_states: VoiceStates
    _written: dict[int, set[int]] = attrs.field(factory=dict, init=False)
    """Since the last round: for each large guild the channels with a new message."""
    _spoken: set[int] = attrs.field(factory=set, init=False)
    """Since the last round: the large guilds where an account joined, changed or left voice."""
    _something: trio.Event = attrs.field(factory=trio.Event, init=False)

    def __attrs_post_init__(self) -> None:
        self._bus.subscribe_events((EventName.MESSAGE_CREATE,), self._message_written, Turn.DELIVERY)
        self._bus.subscribe_events((EventName.VOICE_STATE_UPDATE,), self._voice_changed, Turn.DELIVERY)

    def _message_written(self, event: Event) -> None:
        match event.audience:
            case ToChannel(guild_id, channel_id) if self._is_large(guild_id):
                self._written.setdefault(guild_id, set()).add(channel_id)
                self._something.set()

    def _voice_changed(self, event: Event) -> None:
        match event.audience:
            case ToChannel(guild_id) if self._is_large(guild_id):
                self._spoken.add(guild_id)
                self._something.set()

    async def run(self) -> None:
        """Send a round every 30,000 ms, where there is something to tell; runs until cancelled."""
        began = trio.current_time()
        while True:
            await self._something.wait()
            await trio.sleep(UPDATE_SECONDS - (trio.current_time() - began) % UPDATE_SECONDS)
            self._something = trio.Event()
            written, self._written = self._written, {}
            spoken, self._spoken = self._spoken, set()
            for guild_id in {**written, **dict.fromkeys(spoken)}:
                room = self._hub.rooms.get(guild_id)
                if room is not None and room.available_to_members:
                    await self._tell(room, written.get(guild_id, set()), voice=guild_id in spoken)

    def _is_large(self, guild_id: int) -> bool:
        room = self._hub.rooms.get(guild_id)
        return room is not None and room.state.member_count > PASSIVE_GUILD_MEMBERS

    async def _tell(self, room: GuildRoom, channel_ids: set[int], *, voice: bool) -> None:
        spoken_in = _voice_channels(room) if voice else set()
        addressed: dict[frozenset[int], list[GatewaySession]] = {}
        for position, (user_id, account) in enumerate(tuple(room.accounts.items()), start=1):
            passive = [session for session in account.sessions if _is_passive(session, room.guild_id)]
            visible = self._visible(room, user_id, channel_ids, spoken_in) if passive else frozenset()
            if visible or (voice and passive):
                addressed.setdefault(visible, []).extend(passive)
            if position % ACCOUNTS_PER_TURN == 0:
                await trio.lowlevel.checkpoint()
        # Taken now, with no turn of others in between: it must not be older than what was told one by one.
        states = self._voice_states.of_guild(room.guild_id) if voice else []
        for visible, receivers in addressed.items():
            last_message_ids = {
                str(channel_id): str(room.state.last_message_id(channel_id))
                for channel_id in sorted(visible & channel_ids)
            }
            data: dict[str, object] = {"guild_id": str(room.guild_id), "channels": last_message_ids}
            if voice:
                data["voice_states"] = [state for state in states if int(state["channel_id"] or 0) in visible]
            self._hub.send(receivers, EventName.PASSIVE_UPDATES, data)

    def _visible(self, room: GuildRoom, user_id: int, written: set[int], spoken_in: set[int]) -> frozenset[int]:
        connected = {channel_id for channel_id in spoken_in if self._voice_states.is_in_channel(user_id, channel_id)}
        return room.state.visible_channels(user_id) & (written | spoken_in) | connected


def _voice_channels(room: GuildRoom) -> set[int]:
    return {channel.id for channel in room.state.channels.values() if channel.type == ChannelType.GUILD_VOICE}


def _is_passive(session: GatewaySession, guild_id: int) -> bool:
    return not session.bot and not session.ended and guild_id not in session.active_guilds
