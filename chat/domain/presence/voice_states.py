"""Voice states: who is connected to which voice channel or call, and how (gateway.md, Voice State Update; gateway.md,
Voice states).

The state is kept and told to the accounts that see the channel. With a media engine (`voice.engine`) the session is
told by Voice Server Update where its sound and pictures go, and rights hold for media as soon as they change; without
one joining is complete as soon as it is applied (gateway.md, Voice State Update). A connection has an id of its own, so
an account may be connected several times. Everything is in memory and on the loop's thread; a connection ends with its
gateway session.

Each change takes the connection's next version. A client may name the version that it changed (`base_version`), and may
ask for an acknowledgement (`mutation_id`), which says what became of the change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, KeysView
from typing import Final

import attrs

from chat import wire
from chat.bus.audience import Audience, ToAccounts, ToChannel, ToSession
from chat.bus.bus import Bus, Event, GuildDeleted, GuildLeft, GuildStateChanged, Turn
from chat.classes import define
from chat.clock import Clock
from chat.domain.presence.voice_connections import (
    SelectedState,
    VoiceCaller,
    VoiceConnections,
    VoiceRefusal,
    VoiceRules,
    VoiceState,
    voice_state_object,
)
from chat.domain.presence.voice_media import MediaRights, VoiceMedia, media_rights
from chat.domain.standing.channel_objects import VOICE_CONNECTION_LIMIT
from chat.domain.standing.guild_states import GuildState, GuildStates, Overwrite
from chat.protocol.payload import Absent
from chat.protocol.voice import VoiceStateCommand
from chat.registries.events import EventName
from chat.registries.limits import VOICE_BASE_VERSION_LAG
from chat.registries.permissions import Permission

CONNECTION_ID_CHARACTERS: Final = 32
"""Hexadecimal digits of a connection id."""

OMITTED_RUNTIME_EPOCH: Final = "undefined"
"""What an acknowledgement says where the command named no runtime epoch (gateway.md, Voice State Update)."""

Outcome = tuple[VoiceState | None, VoiceRefusal | None]
"""The connection that a command was about, and why it was rejected."""


@define(eq=False)
class VoiceStates:
    """Every voice connection. Hears the bus, so that no account stays connected where it no longer belongs."""

    _bus: Bus
    _guild_states: GuildStates
    _clock: Clock
    _random_hex: Callable[[int], str] = attrs.field(kw_only=True)
    """Gives as many hexadecimal digits as it is asked for."""
    _recipients_of: Callable[[int], tuple[int, ...]] = attrs.field(default=lambda channel_id: (), kw_only=True)
    """The accounts of a conversation."""
    _connections: VoiceConnections = attrs.field(factory=VoiceConnections, init=False)
    _rules: VoiceRules = attrs.field(init=False)
    _shown: dict[str, tuple[bool, ...]] = attrs.field(factory=dict, init=False)
    """Of each connection what others were told and what is not in its own hand: mute, deaf, suppress."""
    _timed_out: dict[str, None] = attrs.field(factory=dict, init=False)
    """Connections of members whose voice a moderator has taken for a while."""
    on_call: list[Callable[[int], None]] = attrs.field(factory=list, init=False)
    """Told of a call's channel each time that an account came or went."""
    media: VoiceMedia | None = attrs.field(default=None, init=False)
    """What carries sound and pictures, where there is anything."""

    def __attrs_post_init__(self) -> None:
        self._rules = VoiceRules(self._guild_states, self._connections, self._clock)
        self._bus.subscribe(GuildLeft, self._member_left, Turn.STATE)
        self._bus.subscribe(GuildDeleted, self._guild_gone, Turn.STATE)
        self._bus.subscribe(GuildStateChanged, self._channels_changed, Turn.STATE)

    # What is seen

    def is_in_channel(self, user_id: int, channel_id: int) -> bool:
        """Whether the account is connected to the channel, which it therefore keeps seeing (gateway.md, Routing)."""
        return self._connections.connections_in(channel_id, user_id) > 0

    def channels_of(self, guild_id: int, user_id: int) -> frozenset[int]:
        """The guild's channels that the account is connected to, and therefore sees."""
        return self._connections.channels_of(guild_id, user_id)

    def of_guild(self, guild_id: int, *, seen_by: int | None = None) -> list[wire.VoiceState]:
        """The voice state objects of a guild, each with its member; of the channels that an account sees."""
        states = self._connections.of_guild(guild_id)
        guild = self._guild_states.get(guild_id) if states else None
        if guild is None:
            return []
        return [
            voice_state_object(state, guild)
            for state in states
            if seen_by is None or self._sees(guild, seen_by, state.channel_id)
        ]

    def guild_ids(self) -> KeysView[int]:
        """The guilds in which anyone is in voice, at any time that it is looked at."""
        return self._connections.guild_ids()

    def of_channel(self, channel_id: int) -> list[wire.VoiceState]:
        """The voice state objects of a channel or a call."""
        return [self._object(state) for state in self._connections.in_channel(channel_id)]

    def accounts_in(self, channel_id: int) -> list[int]:
        """The accounts that are connected to a channel or a call, in the order in which they came."""
        return list(dict.fromkeys(state.user_id for state in self._connections.in_channel(channel_id)))

    def every(self) -> list[VoiceState]:
        """All connections."""
        return self._connections.every()

    def of_member(self, guild_id: int, user_id: int, *, seen_by: int | None = None) -> list[VoiceState]:
        """The connections of a member in a guild; to channels that an account sees."""
        states = [state for state in self._connections.of_account(user_id) if state.guild_id == guild_id]
        guild = None if seen_by is None else self._guild_states.get(guild_id)
        if seen_by is None or guild is None:
            return states
        return [state for state in states if self._sees(guild, seen_by, state.channel_id)]

    def _sees(self, guild: GuildState, user_id: int, channel_id: int) -> bool:
        return guild.can_view(user_id, channel_id) or self.is_in_channel(user_id, channel_id)

    # What moderators do

    def move(self, connection_id: str, channel_id: int | None) -> None:
        """A moderator puts a connection, if it is still there, into another channel of the guild, or ends it.

        For those who may move members no limit holds, nor need the account see the channel by itself.
        """
        state = self._connections.get(connection_id)
        if state is None:
            return
        if channel_id is None:
            self._end(state)
        elif channel_id != state.channel_id:
            self._replace(state, attrs.evolve(state, channel_id=channel_id))

    def member_changed(self, guild_id: int, user_id: int) -> None:
        """The member is muted or deafened, or no longer: tell those who see the channels that it is in."""
        self._look_at(self.of_member(guild_id, user_id))

    # Commands

    def apply(self, caller: VoiceCaller, command: VoiceStateCommand) -> VoiceRefusal | None:
        """Voice State Update: join, move, change or leave, and acknowledge; returns why it was rejected, if it was.

        A command that enters a call (`enters_call`) goes another way (`chat.domain.people.calls`).
        """
        outcome: Outcome
        if command.channel_id is None:
            outcome = self._leave(caller, command)
        elif command.connection_id is None:
            outcome = self._join_guild(caller, command, command.channel_id)
        else:
            outcome = self._change(caller, command, command.connection_id, command.channel_id)
        return self._answered(caller, command, outcome)

    def enter_call(self, caller: VoiceCaller, command: VoiceStateCommand, channel_id: int) -> VoiceRefusal | None:
        """Connect the caller, who may do so, to the call in a conversation; otherwise as `apply`."""
        outcome: Outcome
        present = self._connections.connections_in(channel_id, caller.user_id)
        if present >= VOICE_CONNECTION_LIMIT or self._rules.has_too_many(caller.user_id):
            outcome = None, VoiceRefusal.TOO_MANY_CONNECTIONS
        else:
            outcome = self._join(caller, command, None, channel_id), None
        return self._answered(caller, command, outcome)

    def refuse(self, caller: VoiceCaller, command: VoiceStateCommand, refusal: VoiceRefusal) -> VoiceRefusal:
        """Answer a command that enters a call with a refusal."""
        self._answered(caller, command, (None, refusal))
        return refusal

    def _answered(self, caller: VoiceCaller, command: VoiceStateCommand, outcome: Outcome) -> VoiceRefusal | None:
        self._acknowledge(caller, command, *outcome)
        return outcome[1]

    def _join_guild(self, caller: VoiceCaller, command: VoiceStateCommand, channel_id: int) -> Outcome:
        guild_id = command.guild_id
        if guild_id is None:
            return None, VoiceRefusal.UNKNOWN_CHANNEL
        refusal = self._rules.refusal(caller, guild_id, channel_id, is_new=True)
        if refusal is not None:
            return None, refusal
        return self._join(caller, command, guild_id, channel_id), None

    def _join(
        self, caller: VoiceCaller, command: VoiceStateCommand, guild_id: int | None, channel_id: int
    ) -> VoiceState:
        state = self._rules.permitted(
            VoiceState(
                connection_id=self._random_hex(CONNECTION_ID_CHARACTERS),
                user_id=caller.user_id,
                session_id=caller.session_id,
                guild_id=guild_id,
                channel_id=channel_id,
                version=1,
                e2ee_capable=caller.e2ee_capable,
                **_selected(command, ()),
            )
        )
        self._connections.put(state)
        self._publish(state)
        self._place(state)
        self._tell_calls(state)
        return state

    def _change(self, caller: VoiceCaller, command: VoiceStateCommand, connection_id: str, channel_id: int) -> Outcome:
        before = self._own(caller, connection_id)
        if before is None or before.guild_id != command.guild_id:
            return None, VoiceRefusal.UNKNOWN_CONNECTION
        if _is_stale(command, before):
            return before, VoiceRefusal.STALE_BASE_VERSION
        if channel_id != before.channel_id:
            # A call is entered with a connection of its own.
            refusal = (
                VoiceRefusal.UNKNOWN_CHANNEL
                if before.guild_id is None
                else self._rules.refusal(caller, before.guild_id, channel_id)
            )
            if refusal is not None:
                return before, refusal
        selected = self._rules.permitted(
            attrs.evolve(
                before,
                session_id=caller.session_id,
                channel_id=channel_id,
                e2ee_capable=caller.e2ee_capable,
                **_selected(command, before.viewer_stream_keys),
            )
        )
        if selected == before:
            return before, None
        return self._replace(before, selected), None

    def _replace(self, before: VoiceState, selected: VoiceState) -> VoiceState:
        """Put a connection in place of what it was, with the next version, and tell of it."""
        channel_id = selected.channel_id
        if channel_id != before.channel_id and self._has_other_viewers(before, channel_id):
            # Members that see only the channel that is left must learn that it was.
            before = attrs.evolve(before, version=before.version + 1)
            self._publish_left(before)
        after = self._rules.permitted(attrs.evolve(selected, version=before.version + 1))
        self._connections.put(after)
        if channel_id != before.channel_id:
            # An account that sees the channel by entering it learns of the channel first.
            self._shown[after.connection_id] = _not_in_own_hand(self._object(after))
            self._virtual_access_changed(after)
        self._publish(after)
        if channel_id != before.channel_id:
            self._virtual_access_changed(before)
        if (channel_id, after.session_id) != (before.channel_id, before.session_id):
            self._place(after)
        else:
            self._follow(after)
        return after

    # Media

    def _place(self, state: VoiceState) -> None:
        """Tell the session where the connection's media goes from now on."""
        if self.media is None:
            return
        server = self.media.place(state, self._media_rights(state))
        data = {
            "token": server.token,
            "endpoint": server.endpoint,
            "connection_id": state.connection_id,
            "channel_id": str(state.channel_id),
        }
        if state.guild_id is not None:
            data["guild_id"] = str(state.guild_id)
        self._bus.publish(Event(EventName.VOICE_SERVER_UPDATE, data, ToSession(state.session_id)))

    def _follow(self, state: VoiceState) -> None:
        """Have media keep to what the connection may do now."""
        if self.media is not None:
            self.media.change(state, self._media_rights(state))

    def _media_rights(self, state: VoiceState) -> MediaRights:
        shown = self._object(state)
        return media_rights(state, self._guild_of(state), muted=shown["mute"], deafened=shown["deaf"])

    def _leave(self, caller: VoiceCaller, command: VoiceStateCommand) -> Outcome:
        connection_id, guild_id = command.connection_id, command.guild_id
        if connection_id is None:
            if guild_id is not None:
                return None, VoiceRefusal.MISSING_CONNECTION_ID
            self.session_ended(caller.session_id)
            return None, None
        state = self._own(caller, connection_id)
        if state is None or guild_id not in (None, state.guild_id):
            return None, VoiceRefusal.UNKNOWN_CONNECTION
        if _is_stale(command, state):
            return state, VoiceRefusal.STALE_BASE_VERSION
        return self._end(state), None

    def _own(self, caller: VoiceCaller, connection_id: str) -> VoiceState | None:
        """The caller's connection: any session of the account may take it over from one that is gone."""
        state = self._connections.get(connection_id)
        return None if state is None or state.user_id != caller.user_id else state

    # What happens to connections without a command

    def session_ended(self, session_id: str) -> None:
        """The gateway session is over: its connections leave."""
        self._end_where(self._connections.of_session(session_id), lambda _: True)

    def end_all(self) -> None:
        """Every connection leaves: the server ends."""
        self._end_where(self.every(), lambda _: True)

    def leave_call(self, channel_id: int, *user_ids: int) -> None:
        """These accounts leave a call; without any named, all do."""
        states = self._connections.in_channel(channel_id)
        self._end_where(states, lambda state: not user_ids or state.user_id in user_ids)

    # Members who left, and channels that are gone, take their connections with them.

    def _member_left(self, signal: GuildLeft) -> None:
        states = self._connections.of_guild(signal.guild_id)
        self._end_where(states, lambda state: state.user_id == signal.user_id)

    def _guild_gone(self, signal: GuildDeleted) -> None:
        self._end_where(self._connections.of_guild(signal.guild_id), lambda _: True)

    def _channels_changed(self, signal: GuildStateChanged) -> None:
        states = self._connections.of_guild(signal.guild_id)
        guild = self._guild_states.get(signal.guild_id) if states else None
        channels = {} if guild is None else guild.channels
        self._end_where(states, lambda state: state.channel_id not in channels)
        for state in states:
            if self._connections.get(state.connection_id) is state:
                self._follow(state)  # the channel's bit rate may have changed

    def permissions_changed(self, guild_id: int, user_id: int | None = None) -> None:
        """What members may do in a guild changed, for one or for all, and was told to them: a member that may not speak
        is suppressed, one that may not stream shows nothing, one that may no longer connect stays until it leaves."""
        self._look_at(self._connections.of_guild(guild_id) if user_id is None else self.of_member(guild_id, user_id))

    def timeouts_looked_at(self) -> None:
        """Tell of members whose time-out is over."""
        states = (self._connections.get(connection_id) for connection_id in list(self._timed_out))
        self._look_at([state for state in states if state is not None])

    def _look_at(self, states: Iterable[VoiceState]) -> None:
        """Tell of connections that are muted, deafened, suppressed or permitted otherwise than was told."""
        for state in states:
            permitted = self._rules.permitted(state)
            if permitted != state or _not_in_own_hand(self._object(state)) != self._shown[state.connection_id]:
                self._replace(state, permitted)
            else:
                self._follow(state)

    def _end_where(self, states: Iterable[VoiceState], condition: Callable[[VoiceState], bool]) -> None:
        for state in states:
            # The end of one may have ended another.
            if condition(state) and self._connections.get(state.connection_id) is state:
                self._end(state)

    def _end(self, state: VoiceState) -> VoiceState:
        state = attrs.evolve(state, version=state.version + 1)
        # Published first: until the connection is gone, its account still counts as seeing the channel.
        self._publish_left(state)
        self._connections.drop(state)
        del self._shown[state.connection_id]
        self._timed_out.pop(state.connection_id, None)
        if self.media is not None:
            self.media.end(state.connection_id)
        self._virtual_access_changed(state)
        self._tell_calls(state)
        return state

    def _tell_calls(self, state: VoiceState) -> None:
        if state.guild_id is None:
            for tell in self.on_call:
                tell(state.channel_id)

    def _virtual_access_changed(self, state: VoiceState) -> None:
        """Who sees the channel only by being in it sees it from now on, or no longer."""
        guild = self._guild_of(state)
        if guild is None or state.channel_id not in guild.channels:
            return
        if guild.member(state.user_id) is not None and not guild.can_view(state.user_id, state.channel_id):
            self._bus.publish(GuildStateChanged(guild.id, state.user_id))

    def _has_other_viewers(self, state: VoiceState, channel_id: int) -> bool:
        """Whether the channel that is left may be seen by members who do not see the one that is entered."""
        guild = self._guild_of(state)
        if guild is None:
            return True
        left, entered = guild.channels.get(state.channel_id), guild.channels.get(channel_id)
        if left is None or entered is None or _visibility(left.overwrites) != _visibility(entered.overwrites):
            return True
        # The account itself may see one of the two only because it is in it, and others likewise.
        return any(
            not guild.can_view(other.user_id, state.channel_id)
            for other in (state, *self._connections.in_channel(state.channel_id))
        )

    def _guild_of(self, state: VoiceState) -> GuildState | None:
        return None if state.guild_id is None else self._guild_states.get(state.guild_id)

    # Publication

    def _publish(self, state: VoiceState) -> None:
        data = self._object(state)
        self._shown[state.connection_id] = _not_in_own_hand(data)
        guild = self._guild_of(state)
        member = None if guild is None else guild.member(state.user_id)
        if member is not None and member.is_timed_out(self._clock.now_ms()):
            self._timed_out[state.connection_id] = None
        else:
            self._timed_out.pop(state.connection_id, None)
        self._bus.publish(Event(EventName.VOICE_STATE_UPDATE, data, self._audience(state)))

    def _publish_left(self, state: VoiceState) -> None:
        data = self._object(state, left=True)
        self._bus.publish(Event(EventName.VOICE_STATE_UPDATE, data, self._audience(state)))

    def _audience(self, state: VoiceState) -> Audience:
        if state.guild_id is not None:
            return ToChannel(state.guild_id, state.channel_id)
        # An account that was just taken out of the conversation still hears that it took it out of the call.
        return ToAccounts(tuple(dict.fromkeys((*self._recipients_of(state.channel_id), state.user_id))))

    def _acknowledge(
        self, caller: VoiceCaller, command: VoiceStateCommand, state: VoiceState | None, refusal: VoiceRefusal | None
    ) -> None:
        """Tell the session what became of a command that it gave a `mutation_id`."""
        if command.mutation_id is None:
            return
        left = command.channel_id is None and refusal is None
        data: wire.VoiceStateAcknowledged = {
            "mutation_id": command.mutation_id,
            "runtime_epoch": OMITTED_RUNTIME_EPOCH if command.runtime_epoch is None else command.runtime_epoch,
            "connection_id": command.connection_id if state is None else state.connection_id,
            "guild_id": None if command.guild_id is None else str(command.guild_id),
            "channel_id": None if command.channel_id is None else str(command.channel_id),
            "status": "applied" if refusal is None else "rejected",
            "server_version": 0 if state is None else state.version,
            "canonical_state": None if state is None else self._object(state, left=left),
        }
        if refusal is not None:
            data["error_code"], data["error_message"] = refusal.code, refusal.message
        self._bus.publish(Event(EventName.VOICE_STATE_ACK, data, ToSession(caller.session_id)))

    def _object(self, state: VoiceState, *, left: bool = False) -> wire.VoiceState:
        return voice_state_object(state, self._guild_of(state), left=left)


def enters_call(command: VoiceStateCommand) -> bool:
    """Whether the command makes a new connection to the call of a conversation."""
    return command.guild_id is None and command.channel_id is not None and command.connection_id is None


def _not_in_own_hand(data: wire.VoiceState) -> tuple[bool, ...]:
    return data["mute"], data["deaf"], data["suppress"]


def _selected(command: VoiceStateCommand, kept_stream_keys: tuple[str, ...]) -> SelectedState:
    keys = command.viewer_stream_keys
    return {
        "self_mute": command.self_mute,
        "self_deaf": command.self_deaf,
        "self_video": command.self_video,
        "self_stream": command.self_stream,
        "is_mobile": command.is_mobile,
        "viewer_stream_keys": kept_stream_keys if isinstance(keys, Absent) else keys,
    }


def _is_stale(command: VoiceStateCommand, state: VoiceState) -> bool:
    return command.base_version is not None and command.base_version < state.version - VOICE_BASE_VERSION_LAG


def _visibility(overwrites: Iterable[Overwrite]) -> frozenset[tuple[int, int, bool, bool]]:
    """What a channel's overwrites say about seeing it."""
    view = Permission.VIEW_CHANNEL.value
    return frozenset(
        (entry.target_id, entry.type, bool(entry.allow & view), bool(entry.deny & view))
        for entry in overwrites
        if (entry.allow | entry.deny) & view
    )
