"""Whose count of mentions a message raises, in work that does not grow with the guild (messages.md, Read states).

Named accounts are counted when the message is written. A message to a role, to everyone or, up to a bound, to those who
are online is noted (`chat.store.messages.mass_mentions`) and counted for each member when a session of theirs starts;
whoever is connected counts what it hears.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs

from chat.domain.messages.message_mentions import CountedMentions
from chat.domain.standing.access import ChannelAccess
from chat.domain.standing.guild_states import GuildStates
from chat.domain.standing.private_channels import PrivateChannelAccess
from chat.registries.channel_types import THREAD_CHANNEL_TYPES, ChannelType
from chat.store.accounts import user_guild_settings
from chat.store.guilds import channels
from chat.store.messages import mass_mentions, read_states
from chat.store.messages.mass_mentions import EVERYONE, HERE, MassMention
from chat.store.messages.messages import Message
from chat.store.threads import threads

HERE_COUNTED: Final = 1_000
"""Accounts that are noted one by one when a message mentions here; where more are online, it counts for everyone."""

SUPPRESS_EVERYONE: Final = "suppress_everyone"
SUPPRESS_ROLES: Final = "suppress_roles"
"""User guild settings: such mentions shall not count (messages.md, Read states)."""


@attrs.frozen
class Notified:
    """Whom a message notifies: accounts one by one, those online, and roles or everyone (`mass`)."""

    guild_id: int | None = None
    user_ids: tuple[int, ...] = ()
    here_ids: tuple[int, ...] = ()
    mass: tuple[int, ...] = ()
    may_be_blocked: bool = True
    """Whether one of the accounts may have blocked the author, which in a conversation of two keeps it from writing."""

    def write(self, connection: sqlite3.Connection, message: Message) -> None:
        """In the unit that writes the message, after it: raise the counts."""
        counted = list(self.user_ids)
        if counted and self.may_be_blocked:
            counted = read_states.without_blockers(connection, message.author_id, counted)
        if counted and message.mentioned_user_ids:
            named = set(message.mentioned_user_ids)
            read_states.mark_counted(connection, message.id, [user_id for user_id in counted if user_id in named])
        if counted:
            read_states.add_mention(connection, message.channel_id, counted)
        if self.mass and self.guild_id is not None:
            guild_id, channel_id, author_id = self.guild_id, message.channel_id, message.author_id
            mentions = (MassMention(guild_id, role_id, message.id, channel_id, author_id) for role_id in self.mass)
            mass_mentions.insert(connection, mentions, self.here_ids)


NOBODY: Final = Notified()


@attrs.define(eq=False)
class MentionCounting:
    """Judges whom messages notify. `online_in` gives the members of a guild whom others see online."""

    _online_in: Callable[[int], Iterable[int]]

    def of(self, access: ChannelAccess, counted: CountedMentions) -> Notified:
        """Whom a message notifies: those it names, and in a conversation everybody else in it."""
        if isinstance(access, PrivateChannelAccess):
            others = tuple(user_id for user_id in access.recipients if user_id != access.user_id)
            return Notified(user_ids=others, may_be_blocked=access.channel.type != ChannelType.DM)
        if not (counted.users or counted.role_ids or counted.everyone or counted.here):
            return NOBODY
        mass = [EVERYONE, *counted.role_ids] if counted.everyone else [*counted.role_ids]
        here_ids: tuple[int, ...] = ()
        if counted.here and access.guild_id is not None:
            online = tuple(itertools.islice(self._online_in(access.guild_id), HERE_COUNTED + 1))
            if len(online) > HERE_COUNTED:
                mass.append(EVERYONE)
            else:
                here_ids = tuple(user_id for user_id in online if user_id != access.user_id)
                mass.append(HERE)
        return Notified(access.guild_id, tuple(counted.notified_user_ids(access)), here_ids, tuple(mass))


@attrs.frozen
class UnreadMassMentions:
    """Unread messages that name a role of an account, everyone or who is there, in one channel; as far as the account
    wants them to count. Whether it sees the channel is for memory to say."""

    guild_id: int
    channel_id: int
    parent_id: int | None
    """The channel above, of a thread, which the account is in."""
    message_ids: set[int] = attrs.field(factory=set)

    def is_seen(self, guild_states: GuildStates, user_id: int) -> bool:
        """Whether the account sees the channel."""
        state = guild_states.get(self.guild_id)
        above = self.channel_id if self.parent_id is None else self.parent_id
        return state is not None and above in state.channels and state.can_view(user_id, above)


def find_unread_mass_mentions(connection: sqlite3.Connection, user_id: int) -> dict[int, UnreadMassMentions]:
    """By channel what names the account as one of many and counts for it; in threads only for those who are in them."""
    found: dict[int, UnreadMassMentions | None] = {}
    settings: dict[int, Mapping[str, Any]] = {}
    for mention in mass_mentions.unread(connection, user_id):
        guild_id, channel_id = mention.guild_id, mention.channel_id
        if guild_id not in settings:
            settings[guild_id] = user_guild_settings.get(connection, user_id, guild_id) or {}
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
