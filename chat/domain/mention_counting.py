"""Whose count of mentions a message raises, in work that does not grow with the guild (wire facts 5.4, read state).

Named accounts are counted when the message is written, and so are, up to a bound, those who are online when it mentions
here. A message to a role or to everyone is noted once (`chat.store.mass_mentions`) and counted for each member when a
session of theirs starts; whoever is connected counts what it hears.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs

from chat.domain.access import ChannelAccess
from chat.domain.guild_states import GuildStates
from chat.domain.message_mentions import CountedMentions
from chat.domain.private_channels import PrivateChannelAccess
from chat.registries.channel_types import ChannelType
from chat.store import mass_mentions, read_states, threads, user_guild_settings
from chat.store.mass_mentions import EVERYONE, HERE, MassMention
from chat.store.messages import Message

HERE_COUNTED: Final = 1_000
"""Accounts that are counted one by one when a message mentions here; where more are online, it counts for everyone."""

SUPPRESS_EVERYONE: Final = "suppress_everyone"
SUPPRESS_ROLES: Final = "suppress_roles"
"""User guild settings: such mentions shall not count (wire facts 5.4)."""


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
        if self.here_ids and self.guild_id is not None:
            counted += self._here(connection, message, self.guild_id, set(self.user_ids))
        if counted:
            read_states.add_mention(connection, message.channel_id, counted)
        if self.mass and self.guild_id is not None:
            guild_id = self.guild_id
            mass_mentions.insert(
                connection,
                (
                    MassMention(guild_id, role_id, message.id, message.channel_id, message.author_id)
                    for role_id in self.mass
                ),
            )

    def _here(self, connection: sqlite3.Connection, message: Message, guild_id: int, besides: set[int]) -> list[int]:
        online = [user_id for user_id in self.here_ids if user_id not in besides]
        online = read_states.without_blockers(connection, message.author_id, online)
        return read_states.without_suppressed(connection, guild_id, SUPPRESS_EVERYONE, online)


NOBODY: Final = Notified()


class MentionCounting:
    """Judges whom messages notify. `online_in` gives the members of a guild whom others see online."""

    def __init__(self, online_in: Callable[[int], Iterable[int]]) -> None:
        self._online_in = online_in

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
                here_ids = tuple(user_id for user_id in online if user_id != access.user_id and access.sees(user_id))
                mass.append(HERE)
        return Notified(access.guild_id, tuple(counted.notified_user_ids(access)), here_ids, tuple(mass))


def unread_mass_mentions(connection: sqlite3.Connection, guild_states: GuildStates, user_id: int) -> Mapping[int, int]:
    """How many unread messages name a role of the account, or everyone, by the channels where it sees them."""
    found: dict[int, set[int]] = defaultdict(set)
    settings: dict[int, Mapping[str, Any]] = {}
    seen: dict[int, bool] = {}
    for mention in mass_mentions.unread(connection, user_id):
        guild_id, channel_id = mention.guild_id, mention.channel_id
        if guild_id not in settings:
            settings[guild_id] = user_guild_settings.get(connection, user_id, guild_id) or {}
        if settings[guild_id].get(SUPPRESS_EVERYONE if mention.role_id == EVERYONE else SUPPRESS_ROLES):
            continue
        if channel_id not in seen:
            seen[channel_id] = _hears(connection, guild_states, user_id, guild_id, channel_id)
        if seen[channel_id]:
            found[channel_id].add(mention.message_id)
    return {channel_id: len(message_ids) for channel_id, message_ids in found.items()}


def _hears(
    connection: sqlite3.Connection, guild_states: GuildStates, user_id: int, guild_id: int, channel_id: int
) -> bool:
    """Whether what is said to many in the channel is said to the account: who sees it; in a thread who is in it."""
    state = guild_states.get(guild_id)
    if state is None:
        return False
    if channel_id in state.channels:
        return state.can_view(user_id, channel_id)
    thread = threads.by_id(connection, channel_id)
    if thread is None or thread.channel.guild_id != guild_id or thread.channel.parent_id is None:
        return False
    return (
        state.can_view(user_id, thread.channel.parent_id)
        and threads.member(connection, channel_id, user_id) is not None
    )
