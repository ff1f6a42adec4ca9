"""The sessions of one guild, and which of them may see what.

A room answers "who receives this" from lists that are built once and thrown away when roles, overwrites, membership or
sessions change. A list that has been handed out is never altered, so an event that is still being delivered keeps the
audience it had at its commit.
"""

from __future__ import annotations

from collections.abc import KeysView
from typing import Final

import attrs

from chat.classes import define, frozen
from chat.domain.guilds.member_lists import SEE_VIEWERS
from chat.domain.presence.presences import Presences
from chat.domain.presence.voice_states import VoiceStates
from chat.domain.standing.guild_states import GuildState, Member
from chat.gateway.session import GatewaySession
from chat.registries.channel_types import CHANNEL_THREADS_TYPES
from chat.registries.guild_features import UNAVAILABLE_GUILD_FEATURES
from chat.registries.limits import PASSIVE_GUILD_MEMBERS
from chat.registries.permissions import Permission
from chat.snowflake import snowflake_time_ms

READ_MESSAGE_HISTORY: Final = Permission.READ_MESSAGE_HISTORY.value
MANAGE_THREADS: Final = Permission.MANAGE_THREADS.value


_Differences = dict[tuple[int, int], tuple[frozenset[int], frozenset[int]]]
"""The channels that were added and removed between two sets, by the identities of the sets, which are held
meanwhile."""


@frozen
class Sight:
    """What an account sees differently from before, as channel ids."""

    user_id: int
    gained: frozenset[int]
    lost: frozenset[int]
    moderation_gained: frozenset[int] = frozenset()
    """Channels seen before and now below which the account sees every thread from now on."""
    moderation_lost: frozenset[int] = frozenset()
    """Channels seen before and now below which it sees private threads no longer, unless it is in them."""


@frozen
class Recipients:
    """Sessions that receive an event whole, and those of passive members that only hear some kinds of it."""

    full: tuple[GatewaySession, ...] = ()
    passive: tuple[GatewaySession, ...] = ()


ENTRANCES_KEPT: Final = 32
"""For how many sets of roles a room remembers what an account with them finds when it enters."""


@define(eq=False)
class Entrance:
    """What an account finds when it enters a room. Accounts with the same roles share one."""

    sees: frozenset[int]
    moderates: frozenset[int]
    beginning: bytes
    """The guild in Ready up to its members, as JSON, for what these roles see."""
    version: int
    """The `GuildState.version` from which it was made."""
    threads: bool
    """Whether it includes what only sessions with thread access are sent."""


@define(eq=False)
class RoomAccount:
    """An account with sessions in a guild."""

    sees: frozenset[int]
    """The channels that the account was last shown, as `GuildRoom.look_again` found them."""
    moderates: frozenset[int]
    """The channels below which it was shown every thread."""
    sessions: tuple[GatewaySession, ...]
    entrance: Entrance | None = None
    """What its latest Ready held of the guild; None if it sees something else since, or had no Ready."""
    joined_at: bytes = b""
    """When it joined, as Ready wrote it; it stays the same while the account is a member."""

    def look_around(self, state: GuildState, *, threads: bool) -> Entrance:
        """Make what Ready holds of the guild now, for what the account sees."""
        begun = state.encoded.beginning(state, self.sees, threads=threads)
        self.entrance = Entrance(self.sees, self.moderates, begun, state.version, threads)
        return self.entrance


@define(eq=False)
class GuildRoom:
    """The sessions connected to one guild."""

    state: GuildState
    _presences: Presences
    _voice_states: VoiceStates
    guild_id: int = attrs.field(default=attrs.Factory(lambda room: room.state.guild.id, takes_self=True), init=False)
    accounts: dict[int, RoomAccount] = attrs.field(factory=dict, init=False)
    """The accounts with sessions here, by id."""
    _recipients: dict[tuple[int, int], Recipients] = attrs.field(factory=dict, init=False)
    _large: bool = attrs.field(default=False, init=False)
    _entrances: tuple[dict[frozenset[int], Entrance], dict[frozenset[int], Entrance]] = attrs.field(
        factory=lambda: ({}, {}), init=False
    )
    """What accounts find when they enter, by their roles, without and with thread access; valid for `_entered_at`."""
    _entered_at: int = attrs.field(default=-1, init=False)
    _in_voice: KeysView[int] = attrs.field(
        default=attrs.Factory(lambda room: room._voice_states.guild_ids(), takes_self=True), init=False
    )
    """The guilds in which somebody is in voice."""

    def connect(self, session: GatewaySession, member: Member | None = None, *, told: bool = True) -> RoomAccount:
        """From now on the session hears the guild; returns its account. The caller adds the guild to the session's
        `guild_ids` and to the account's in `Presences`. `member` is the membership of the account where that has just
        been read; `told` says whether the session is to be told of the whole guild now."""
        account = self.accounts.get(session.user_id)
        if account is None:
            account = self._enter(session, member, told)
        elif session not in account.sessions:
            account.sessions += (session,)
        self._recipients.clear()
        return account

    def _enter(self, session: GatewaySession, member: Member | None, told: bool) -> RoomAccount:
        state, user_id = self.state, session.user_id
        # First what may fail on what is stored: a session is in a room altogether or not at all.
        if member is None:
            member = state.member(user_id)
        else:
            state.remember_member(member)
        if self._entered_at != state.version:
            self._entered_at, self._entrances = state.version, ({}, {})
        if not told or member is None or state.is_judged_apart(user_id) or self.guild_id in self._in_voice:
            visible, moderated = state.sights(user_id)
            account = RoomAccount(self._with_voice(user_id, visible), moderated, (session,))
        else:
            known, threads = self._entrances[session.threads], session.threads
            entrance = known.get(member.role_ids)
            if entrance is None:
                if len(known) >= ENTRANCES_KEPT:
                    known.clear()
                visible, moderated = state.sights(user_id)
                beginning = state.encoded.beginning(state, visible, threads=threads)
                entrance = known[member.role_ids] = Entrance(visible, moderated, beginning, state.version, threads)
            account = RoomAccount(entrance.sees, entrance.moderates, (session,), entrance)
        self.accounts[user_id] = account
        return account

    def disconnect(self, session: GatewaySession) -> None:
        """The session no longer hears the guild."""
        user_id = session.user_id
        account = self.accounts.get(user_id)
        if account is None or session not in account.sessions:
            return
        account.sessions = tuple([other for other in account.sessions if other is not session])
        if not account.sessions:
            del self.accounts[user_id]
            self._presences.account_disconnected(self.guild_id, user_id)
        session.guild_ids.discard(self.guild_id)
        session.active_guilds -= {self.guild_id}
        self._recipients.clear()

    @property
    def sessions(self) -> list[GatewaySession]:
        """Every session in the room, those of an account together."""
        return [session for account in self.accounts.values() for session in account.sessions]

    def sessions_of(self, user_id: int) -> tuple[GatewaySession, ...]:
        """The account's sessions in the room."""
        account = self.accounts.get(user_id)
        return () if account is None else account.sessions

    def forget_recipients(self) -> None:
        """Forget the lists of receivers, because other sessions are passive now."""
        self._recipients.clear()

    def look_again(self, user_id: int | None = None) -> list[Sight]:
        """Compute again what one account or all accounts may see; returns who sees something else than before."""
        self._recipients.clear()
        differences: _Differences = {}
        changed: list[Sight] = []
        for seeing in list(self.accounts) if user_id is None else [user_id] * (user_id in self.accounts):
            account = self.accounts[seeing]
            visible, moderated = self.state.sights(seeing)
            before, after, moderated_before = account.sees, self._with_voice(seeing, visible), account.moderates
            if after is before and moderated is moderated_before:
                continue
            account.sees, account.moderates, account.entrance = after, moderated, None
            # Most accounts share few sets of channels, and each pair of them is compared once.
            gained, lost = _differences(before, after, differences)
            begun, ended = _differences(moderated_before, moderated, differences)
            if gained or lost or begun or ended:
                changed.append(Sight(seeing, gained, lost, begun - gained & after, ended - lost & after))
        return changed

    def shown_to(self, user_id: int) -> frozenset[int]:
        """The channels that the account of a connected session sees: what `look_again` found last."""
        return self.accounts[user_id].sees

    def seen_by(self, user_id: int) -> frozenset[int]:
        """The channels that an account sees; a voice channel that it is in counts as seen (gateway.md, Routing)."""
        return self._with_voice(user_id, self.state.visible_channels(user_id))

    def _with_voice(self, user_id: int, visible: frozenset[int]) -> frozenset[int]:
        if self.guild_id not in self._in_voice:
            return visible
        connected = self._voice_states.channels_of(self.guild_id, user_id)
        return visible if not connected or connected <= visible else visible | connected & self.state.channels.keys()

    @property
    def available_to_members(self) -> bool:
        """Whether members receive more than Guild Update (gateway.md, Routing)."""
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
        """Whether the account saw a channel that was deleted and has not been told yet: events about those in it are
        judged on the state before (gateway.md, Audiences)."""
        account = self.accounts.get(user_id)
        return channel_id not in self.state.channels and account is not None and channel_id in account.sees

    def _compute(self, channel_id: int, permission: int) -> Recipients:
        full: list[GatewaySession] = []
        passive: list[GatewaySession] = []
        channel = self.state.channels.get(channel_id)
        known_to_threads = channel is not None and channel.type in CHANNEL_THREADS_TYPES
        for user_id, account in self.accounts.items():
            if not self._may_receive(user_id, channel_id, permission):
                continue
            for session in account.sessions:
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
    """The channels that were added and those that were removed."""
    pair = id(before), id(after)
    if pair not in known:
        known[pair] = after - before, before - after
    return known[pair]
