"""How far accounts have read, and how often they were mentioned since (messages.md, Read states).

Counting mentions is work that does not grow with the guild. Named accounts are counted when the message is written. A
message to a role, to everyone or, up to a bound, to those who are online is noted (`chat.store.messages.read_states`)
and counted for each member when a session of theirs starts; clients that are connected count what they hear.
"""

from __future__ import annotations

import contextlib
import itertools
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.bus.audience import ToAccounts
from chat.bus.bus import Event
from chat.classes import define, frozen
from chat.clock import iso_timestamp
from chat.domain.core import Core
from chat.domain.messages.message_context import CountedMentions
from chat.domain.standing.access import ChannelAccess
from chat.domain.standing.guild_states import GuildStates
from chat.domain.standing.private_channels import PrivateChannelAccess
from chat.errors import ApiError
from chat.registries.channel_types import CHANNEL_THREADS_TYPES, THREAD_CHANNEL_TYPES, read_state_flags
from chat.registries.events import EventName
from chat.store import threads
from chat.store.accounts import user_settings
from chat.store.database import Database
from chat.store.guilds import channels
from chat.store.messages import read_states
from chat.store.messages.messages import Message
from chat.store.messages.read_states import EVERYONE, HERE, Acknowledgement, MassMention, ReadState

HERE_COUNTED: Final = 1_000
"""Accounts that are noted one by one when a message mentions here; where more are online, it counts for everyone."""

SUPPRESS_EVERYONE: Final = "suppress_everyone"
SUPPRESS_ROLES: Final = "suppress_roles"
"""User guild settings: such mentions shall not count (messages.md, Read states)."""


@frozen
class Notified:
    """The accounts that a message notifies: single ones, those online, and roles or everyone (`mass`)."""

    guild_id: int | None = None
    user_ids: tuple[int, ...] = ()
    here_ids: tuple[int, ...] = ()
    mass: tuple[int, ...] = ()

    def write(self, connection: sqlite3.Connection, message: Message) -> None:
        """In the unit that writes the message, after it: raise the counts of mentions."""
        counted = list(self.user_ids)
        if counted:
            counted = read_states.that_listen(connection, message.author_id, counted)
            if self.guild_id is None and len(counted) < len(self.user_ids):
                silent = [user_id for user_id in self.user_ids if user_id not in counted]
                read_states.mark_uncounted(connection, message.id, silent)
        if counted and message.mentioned_user_ids:
            named = set(message.mentioned_user_ids)
            read_states.mark_counted(connection, message.id, [user_id for user_id in counted if user_id in named])
        if counted:
            read_states.add_mention(connection, message.channel_id, counted)
        if self.mass and self.guild_id is not None:
            guild_id, channel_id, author_id = self.guild_id, message.channel_id, message.author_id
            mentions = (MassMention(guild_id, role_id, message.id, channel_id, author_id) for role_id in self.mass)
            read_states.note_mass_mentions(connection, mentions, self.here_ids)


def notified_by(
    access: ChannelAccess, counted: CountedMentions, online_in: Callable[[int], Iterable[int]]
) -> Notified | None:
    """Whom a message notifies, if any: in a guild those it names, in a conversation all others in it.

    `online_in` gives the members of a guild whom others see online.
    """
    if isinstance(access, PrivateChannelAccess):
        others = tuple(user_id for user_id in access.recipients if user_id != access.user_id)
        return Notified(user_ids=others)
    if not (counted.users or counted.role_ids or counted.everyone or counted.here):
        return None
    mass = [EVERYONE, *counted.role_ids] if counted.everyone else [*counted.role_ids]
    here_ids: tuple[int, ...] = ()
    if counted.here and access.guild_id is not None:
        online = tuple(itertools.islice(online_in(access.guild_id), HERE_COUNTED + 1))
        if len(online) > HERE_COUNTED:
            mass.append(EVERYONE)
        else:
            here_ids = tuple(user_id for user_id in online if user_id != access.user_id)
            mass.append(HERE)
    return Notified(access.guild_id, tuple(counted.notified_user_ids(access)), here_ids, tuple(mass))


@frozen
class UnreadMassMentions:
    """Unread messages of one channel that name a role of an account, everyone or those online, and that the account
    wants to count. `is_seen` tells whether it sees the channel."""

    guild_id: int
    channel_id: int
    parent_id: int | None
    """The channel above a thread that the account is in."""
    message_ids: set[int] = attrs.field(factory=set)

    def is_seen(self, guild_states: GuildStates, user_id: int) -> bool:
        """Whether the account sees the channel."""
        state = guild_states.get(self.guild_id)
        above = self.channel_id if self.parent_id is None else self.parent_id
        return state is not None and above in state.channels and state.can_view(user_id, above)


def find_unread_mass_mentions(connection: sqlite3.Connection, user_id: int) -> dict[int, UnreadMassMentions]:
    """For each channel the unread messages that mention the account through a role or everyone; of threads only those
    that the account is in."""
    found: dict[int, UnreadMassMentions | None] = {}
    settings: dict[int, Mapping[str, Any]] = {}
    for mention in read_states.unread_mass_mentions(connection, user_id):
        guild_id, channel_id = mention.guild_id, mention.channel_id
        if guild_id not in settings:
            settings[guild_id] = user_settings.of_guild(connection, user_id, guild_id) or {}
        if settings[guild_id].get(SUPPRESS_EVERYONE if mention.role_id in (EVERYONE, HERE) else SUPPRESS_ROLES):
            continue
        if channel_id not in found:
            found[channel_id] = _place(connection, user_id, guild_id, channel_id)
        unread = found[channel_id]
        if unread is not None:
            unread.message_ids.add(mention.message_id)
    return {channel_id: unread for channel_id, unread in found.items() if unread is not None}


def _place(connection: sqlite3.Connection, user_id: int, guild_id: int, channel_id: int) -> UnreadMassMentions | None:
    """A channel of the guild; of its threads those that the account is in."""
    if channels.type_of(connection, channel_id) not in THREAD_CHANNEL_TYPES:
        return UnreadMassMentions(guild_id, channel_id, None)
    thread = threads.by_id(connection, channel_id)
    if thread is None or threads.member(connection, channel_id, user_id) is None:
        return None
    return UnreadMassMentions(guild_id, channel_id, thread.channel.parent_id)


def needs_threads(state: ReadState) -> bool:
    """Whether only sessions that know threads are told of it (gateway.md, Sessions without threads)."""
    return state.channel_type in CHANNEL_THREADS_TYPES


def read_state_object(state: ReadState) -> wire.ReadState:
    """The read state; those of threads and of channels that hold nothing else have `flags`."""
    data: wire.ReadState = {
        "id": str(state.channel_id),
        "mention_count": state.mention_count,
        "last_message_id": None if state.last_message_id is None else str(state.last_message_id),
        "last_pin_timestamp": None if state.last_pin_timestamp is None else iso_timestamp(state.last_pin_timestamp),
    }
    if state.version:
        data["version"] = str(state.version)
    if needs_threads(state):
        data["flags"] = int(read_state_flags(state.channel_type))
    return data


@frozen
class ReadUpTo:
    """How far an account has read a channel.

    `manual` where that message was chosen by hand, backwards perhaps. `mention_count` is what the account's client
    counts as unread from there; without it the server counts.
    """

    channel_id: int
    message_id: int
    mention_count: int | None = None
    manual: bool = False


@frozen
class _Told:
    """The events of one acknowledgement. `mass` is left unread in addition to `mention_count`."""

    acknowledgement: Acknowledgement
    manual: bool
    mention_count: int
    of_threads: bool
    mass: UnreadMassMentions | None


@define(kw_only=True, eq=False)
class ReadStates:
    _core: Core

    async def acknowledge(self, principal: Principal, wish: ReadUpTo) -> None:
        """The caller has read up to this message.

        :raises ApiError: as `Access.channel`.
        """
        self._core.access.channel(principal, wish.channel_id)
        await self._take(principal, [wish])

    async def acknowledge_many(self, principal: Principal, wishes: Iterable[ReadUpTo]) -> None:
        """The same for several channels at once: of each the last wish counts. Channels that the caller does not see
        are passed over, since a client's list may be out of date."""
        last = {wish.channel_id: wish for wish in wishes}
        seen = []
        for channel_id, wish in last.items():
            with contextlib.suppress(ApiError):
                self._core.access.channel(principal, channel_id)
                seen.append(wish)
        await self._take(principal, seen)

    async def forget(self, principal: Principal, channel_id: int) -> None:
        """Make the caller's read state of the channel that of a new reader without mentions.

        :raises ApiError: as `Access.channel`.
        """
        self._core.access.channel(principal, channel_id)
        await self._core.database.write(
            lambda connection: read_states.forget(connection, principal.user_id, channel_id), guard=principal.guard
        )

    async def _take(self, principal: Principal, wishes: Iterable[ReadUpTo]) -> None:
        user_id = principal.user_id
        numbered = [(wish, self._acknowledgement(wish)) for wish in wishes]

        def unit(connection: sqlite3.Connection) -> list[_Told]:
            taken = [(wish, told, read_states.take(connection, user_id, told)) for wish, told in numbered]
            left: dict[int, UnreadMassMentions] = {}
            if any(done is not None and done.leaves_some for _, _, done in taken):
                left = find_unread_mass_mentions(connection, user_id)
            return [
                _Told(
                    told,
                    wish.manual,
                    done.mention_count,
                    done.channel_type in CHANNEL_THREADS_TYPES,
                    left.get(wish.channel_id) if done.leaves_some else None,
                )
                for wish, told, done in taken
                if done is not None  # else the channel went at this moment
            ]

        def then(told: list[_Told]) -> None:
            self._core.bus.publish(*(self._event(user_id, entry) for entry in told))

        if numbered:
            await self._core.database.write(unit, then, guard=principal.guard)

    def _acknowledgement(self, wish: ReadUpTo) -> Acknowledgement:
        version = self._core.snowflakes()
        # A count of nothing left is only as good as what the client had heard by then.
        count = wish.mention_count if wish.mention_count or wish.manual else None
        # What is not written yet cannot be read.
        return Acknowledgement(wish.channel_id, min(wish.message_id, version), count, version)

    def _event(self, user_id: int, told: _Told) -> Event:
        """MESSAGE_ACK, for the account's own sessions."""
        acknowledgement, count = told.acknowledgement, told.mention_count
        if told.mass is not None and told.mass.is_seen(self._core.guild_states, user_id):
            count += len(told.mass.message_ids)
        data: wire.MessageAcknowledged = {
            "channel_id": str(acknowledgement.channel_id),
            "message_id": str(acknowledgement.message_id),
            "mention_count": count,
            "version": str(acknowledgement.version),
        }
        if told.manual:
            data["manual"] = True
        return Event(EventName.MESSAGE_ACK, data, ToAccounts((user_id,), threads=told.of_threads))


def read_states_of(
    database: Database, guild_states: GuildStates, user_id: int, *, threads: bool
) -> list[wire.ReadState]:
    """Every read state object of an account; without `threads` none that only sessions with threads are told of."""
    connection = database.reader
    states = {state.channel_id: state for state in read_states.of_user(connection, user_id)}
    for channel_id, unread in find_unread_mass_mentions(connection, user_id).items():
        if not unread.is_seen(guild_states, user_id):
            continue
        state = states.get(channel_id)
        if state is None:
            kind = channels.type_of(connection, channel_id)
            state = ReadState(channel_id, None, 0, None, channel_type=kind or 0)
        states[channel_id] = attrs.evolve(state, mention_count=state.mention_count + len(unread.message_ids))
    shown = (states[channel_id] for channel_id in sorted(states))
    return [read_state_object(state) for state in shown if threads or not needs_threads(state)]
