"""The sessions of one guild, and which of them may see what.

A room answers "who receives this" from lists that are built once and thrown away when roles, overwrites, membership or
sessions change. A list that has been handed out is never altered, so an event that is still being delivered keeps the
audience it had at its commit.
"""

from __future__ import annotations

from typing import Final

import attrs

from chat.domain.guilds.member_lists import SEE_VIEWERS
from chat.domain.presence.presences import Presences
from chat.domain.presence.voice_states import VoiceStates
from chat.domain.standing.guild_states import GuildState
from chat.gateway.session import GatewaySession
from chat.registries.channel_types import CHANNEL_THREADS_TYPES
from chat.registries.guild_features import UNAVAILABLE_GUILD_FEATURES
from chat.registries.limits import PASSIVE_GUILD_MEMBERS
from chat.registries.permissions import Permission
from chat.snowflake import snowflake_time_ms

READ_MESSAGE_HISTORY: Final = Permission.READ_MESSAGE_HISTORY.value
MANAGE_THREADS: Final = Permission.MANAGE_THREADS.value


_Differences = dict[tuple[int, int], tuple[frozenset[int], frozenset[int]]]
"""What came and what went between two sets of channels, by their identities while both are held."""


@attrs.frozen
class Sight:
    """What an account sees differently from before, as channel ids."""

    user_id: int
    gained: frozenset[int]
    lost: frozenset[int]
    moderation_gained: frozenset[int] = frozenset()
    """Channels seen before and now below which the account sees every thread from now on."""
    moderation_lost: frozenset[int] = frozenset()
    """Channels seen before and now below which it sees private threads no longer, unless it is in them."""


@attrs.frozen
class Recipients:
    """Sessions that receive an event whole, and those of passive members that only hear some kinds of it."""

    full: tuple[GatewaySession, ...] = ()
    passive: tuple[GatewaySession, ...] = ()


@attrs.define(eq=False)
class GuildRoom:
    """The sessions connected to one guild."""

    state: GuildState
    _presences: Presences
    _voice_states: VoiceStates
    guild_id: int = attrs.field(default=attrs.Factory(lambda room: room.state.guild.id, takes_self=True), init=False)
    sessions: dict[GatewaySession, None] = attrs.field(factory=dict, init=False)
    sessions_by_user: dict[int, dict[GatewaySession, None]] = attrs.field(factory=dict, init=False)
    _recipients: dict[tuple[int, int], Recipients] = attrs.field(factory=dict, init=False)
    _shown: dict[int, frozenset[int]] = attrs.field(factory=dict, init=False)
    _moderated: dict[int, frozenset[int]] = attrs.field(factory=dict, init=False)
    _large: bool = attrs.field(default=False, init=False)

    def connect(self, session: GatewaySession) -> None:
        """From now on the session hears the guild."""
        user_id = session.user_id
        of_user = self.sessions_by_user.get(user_id)
        if of_user is None:
            # First what may fail on what is stored: a session is in a room altogether or not at all.
            sight = self.seen_by(user_id)
            moderated = self.state.thread_moderated_channels(user_id)
            self._presences.account_connected(self.guild_id, user_id)
            self._shown[user_id], self._moderated[user_id] = sight, moderated
            of_user = self.sessions_by_user[user_id] = {}
        of_user[session] = None
        self.sessions[session] = None
        session.guild_ids.add(self.guild_id)
        self._recipients.clear()

    def disconnect(self, session: GatewaySession) -> None:
        """The session no longer hears the guild."""
        if session not in self.sessions:
            return
        del self.sessions[session]
        of_user = self.sessions_by_user[session.user_id]
        del of_user[session]
        if not of_user:
            del self.sessions_by_user[session.user_id]
            del self._shown[session.user_id], self._moderated[session.user_id]
            self._presences.account_disconnected(self.guild_id, session.user_id)
        session.guild_ids.discard(self.guild_id)
        session.active_guilds -= {self.guild_id}
        self._recipients.clear()

    def forget_recipients(self) -> None:
        """Which sessions are passive changed: list receivers afresh."""
        self._recipients.clear()

    def look_again(self, user_id: int | None = None) -> list[Sight]:
        """What may be seen changed, for one account or for all: compute afresh; returns who sees what differently."""
        self._recipients.clear()
        differences: _Differences = {}
        changed: list[Sight] = []
        for seeing in list(self._shown) if user_id is None else [user_id] * (user_id in self._shown):
            before, after = self._shown[seeing], self.seen_by(seeing)
            moderated_before, moderated = self._moderated[seeing], self.state.thread_moderated_channels(seeing)
            if after is before and moderated is moderated_before:
                continue
            self._shown[seeing], self._moderated[seeing] = after, moderated
            # Most accounts share few sets of channels, and each pair of them is compared once.
            gained, lost = _differences(before, after, differences)
            begun, ended = _differences(moderated_before, moderated, differences)
            if gained or lost or begun or ended:
                changed.append(Sight(seeing, gained, lost, begun - gained & after, ended - lost & after))
        return changed

    def shown_to(self, user_id: int) -> frozenset[int]:
        """The channels that the account of a connected session sees: what `look_again` found last."""
        return self._shown[user_id]

    def seen_by(self, user_id: int) -> frozenset[int]:
        """The channels that an account sees; being in a voice channel is seeing it (gateway.md, Routing)."""
        visible = self.state.visible_channels(user_id)
        connected = self._voice_states.channels_of(self.guild_id, user_id)
        return visible if connected <= visible else visible | connected & self.state.channels.keys()

    @property
    def available_to_members(self) -> bool:
        """Whether anything but Guild Update is dispatched (gateway.md, Routing)."""
        return not (UNAVAILABLE_GUILD_FEATURES & set(self.state.guild.features))

    def recipients(self, channel_id: int, permission: int = 0) -> Recipients:
        """Sessions that can view the channel, or with 0 for it every session; with `permission` those of members that
        hold the bit there."""
        large = self.state.member_count > PASSIVE_GUILD_MEMBERS
        if large is not self._large:
            self._large = large
            self._recipients.clear()
        recipients = self._recipients.get((channel_id, permission))
        if recipients is None:
            recipients = self._recipients[channel_id, permission] = self._compute(channel_id, permission)
        return recipients

    def readers(self, channel_id: int, message_id: int) -> Recipients:
        """Sessions that can view the channel and may read the message."""
        cutoff = self.state.guild.message_history_cutoff
        is_open = cutoff is not None and snowflake_time_ms(message_id) >= cutoff
        return self.recipients(channel_id, 0 if is_open else READ_MESSAGE_HISTORY)

    def shows_viewers_to(self, session: GatewaySession, channel_id: int) -> bool:
        """Whether the session's account may be told who sees a channel: VIEW_CHANNEL and VIEW_CHANNEL_MEMBERS there."""
        if channel_id not in self.state.channels:
            return False
        return self.state.permissions(session.user_id, channel_id) & SEE_VIEWERS == SEE_VIEWERS

    def is_in_thread(self, session: GatewaySession, parent_id: int, member_ids: frozenset[int] | None) -> bool:
        """Whether a session that sees the channel above sees the thread too; None for a public thread."""
        if member_ids is None or session.user_id in member_ids:
            return True
        return bool(self.state.permissions(session.user_id, parent_id) & MANAGE_THREADS)

    def _has_just_lost(self, user_id: int, channel_id: int) -> bool:
        """Whether the account saw a channel that is deleted, and is not told of that yet: what happens to those in it
        is judged on the state before (gateway.md, Audiences)."""
        return channel_id not in self.state.channels and channel_id in self._shown.get(user_id, ())

    def _compute(self, channel_id: int, permission: int) -> Recipients:
        full: list[GatewaySession] = []
        passive: list[GatewaySession] = []
        channel = self.state.channels.get(channel_id)
        known_to_threads = channel is not None and channel.type in CHANNEL_THREADS_TYPES
        for user_id, sessions in self.sessions_by_user.items():
            if not self._may_receive(user_id, channel_id, permission):
                continue
            for session in sessions:
                if known_to_threads and not session.threads:
                    continue
                quiet = self._large and not session.bot and self.guild_id not in session.active_guilds
                (passive if quiet else full).append(session)
        return Recipients(tuple(full), tuple(passive))

    def _may_receive(self, user_id: int, channel_id: int, permission: int) -> bool:
        if channel_id and not (
            self.state.can_view(user_id, channel_id)
            or self._voice_states.is_in_channel(user_id, channel_id)
            or self._has_just_lost(user_id, channel_id)
        ):
            return False
        if not permission:
            return True
        return bool(self.state.permissions(user_id, channel_id or None) & permission)


def _differences(
    before: frozenset[int], after: frozenset[int], known: _Differences
) -> tuple[frozenset[int], frozenset[int]]:
    """What came and what went."""
    pair = id(before), id(after)
    if pair not in known:
        known[pair] = after - before, before - after
    return known[pair]
