"""What sessions asked to watch by Lazy Request (gateway.md, Lazy Request).

Everything here belongs to a session and a guild, and goes when the session leaves the guild. The two questions that are
asked often, who watches an account's presence and who watches a member list, have indexes of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Set
from typing import Final

import attrs

from chat.classes import define
from chat.gateway.session import GatewaySession
from chat.protocol.requests import MemberRange

WATCHED_LISTS: Final = 32
"""Member lists that one session watches at a time; with one more, the one it has watched for longest is forgotten."""

ListKey = tuple[int, int]
"""The guild and the channel whose viewers a member list shows."""


@define(eq=False)
class Interest:
    """What one session watches in one guild."""

    members: frozenset[int] = frozenset()
    threads: bool = False
    thread_member_lists: tuple[int, ...] = ()


@define(eq=False, weakref_slot=False)
class Subscriptions:
    _interests: dict[int, dict[GatewaySession, Interest]] = attrs.field(factory=dict, init=False)
    _presence: dict[int, dict[GatewaySession, int]] = attrs.field(factory=dict, init=False)
    """For each account the sessions that watch it, with the number of guilds in which they do."""
    _lists: dict[int, dict[int, dict[GatewaySession, tuple[MemberRange, ...]]]] = attrs.field(factory=dict, init=False)
    """The watched lists by guild and channel."""
    _lists_of: dict[GatewaySession, dict[ListKey, None]] = attrs.field(factory=dict, init=False)
    _typing_declined: dict[int, set[GatewaySession]] = attrs.field(factory=dict, init=False)
    on_guild_changed: list[Callable[[int], None]] = attrs.field(factory=list, init=False)
    """Called with each guild whose members may see something else than before."""
    on_list_left: list[Callable[[ListKey], None]] = attrs.field(factory=list, init=False)
    """Called with each member list that a session stops watching."""

    # Presences

    def presence_subscribers(self, user_id: int) -> Iterable[GatewaySession]:
        """Sessions that watch the account's presence."""
        return self._presence.get(user_id, {}).keys()

    def watch_members(self, session: GatewaySession, guild_id: int, user_ids: Iterable[int]) -> frozenset[int]:
        """From now on the session watches exactly these members of the guild; returns those it did not watch before."""
        interest = self._interest(session, guild_id)
        before, interest.members = interest.members, frozenset(user_ids)
        for user_id in interest.members - before:
            watchers = self._presence.setdefault(user_id, {})
            watchers[session] = watchers.get(session, 0) + 1
        for user_id in before - interest.members:
            self._stop_watching(session, user_id)
        return interest.members - before

    def member_left(self, guild_id: int, user_id: int) -> None:
        """An account left the guild: no session there watches it any longer."""
        watchers = tuple(self._presence.get(user_id, ()))
        for session in watchers:
            interest = self._interests.get(guild_id, {}).get(session)
            if interest is not None and user_id in interest.members:
                interest.members -= {user_id}
                self._stop_watching(session, user_id)

    def _stop_watching(self, session: GatewaySession, user_id: int) -> None:
        watchers = self._presence[user_id]
        watchers[session] -= 1
        if not watchers[session]:
            del watchers[session]
        if not watchers:
            del self._presence[user_id]

    # Member lists

    def watch_lists(self, session: GatewaySession, guild_id: int, lists: Mapping[int, tuple[MemberRange, ...]]) -> None:
        """From now on the session watches exactly these lists of the guild (by channel), each in these ranges."""
        wanted = {(guild_id, channel_id): ranges for channel_id, ranges in lists.items() if ranges}
        own = self._lists_of.get(session, {})
        for key in [key for key in own if key[0] == guild_id and key not in wanted]:
            self.leave_list(session, key)
        for key, ranges in wanted.items():
            own = self._lists_of.setdefault(session, {})
            own[key] = None
            self._lists.setdefault(guild_id, {}).setdefault(key[1], {})[session] = ranges
            if len(own) > WATCHED_LISTS:
                self.leave_list(session, next(iter(own)))

    def leave_list(self, session: GatewaySession, key: ListKey) -> None:
        """The session no longer watches this list."""
        own = self._lists_of.get(session, {})
        if key not in own:
            return
        guild_id, channel_id = key
        lists = self._lists[guild_id]
        del own[key], lists[channel_id][session]
        if not lists[channel_id]:
            del lists[channel_id]
        if not lists:
            del self._lists[guild_id]
        if not own:
            del self._lists_of[session]
        for tell in self.on_list_left:
            tell(key)

    def list_watchers(self, key: ListKey) -> Mapping[GatewaySession, tuple[MemberRange, ...]]:
        """The sessions that watch a member list, with their ranges."""
        return self._lists.get(key[0], {}).get(key[1], {})

    def lists_of_guild(self, guild_id: int) -> Collection[ListKey]:
        """The guild's lists that are watched."""
        return [(guild_id, channel_id) for channel_id in self._lists.get(guild_id, ())]

    def lists_of(self, session: GatewaySession) -> Collection[ListKey]:
        """The lists that the session watches."""
        return tuple(self._lists_of.get(session, ()))

    def guilds_with_lists(self) -> Collection[int]:
        """Guilds of which a member list is watched."""
        return self._lists.keys()

    # Other interests

    def set_typing(self, session: GatewaySession, guild_id: int, wanted: bool) -> None:
        """Whether the session hears who is typing in the guild; it does until it declines."""
        declined = self._typing_declined.setdefault(guild_id, set())
        if wanted:
            declined.discard(session)
        else:
            declined.add(session)
        if not declined:
            del self._typing_declined[guild_id]

    def typing_decliners(self, guild_id: int) -> Set[GatewaySession]:
        """Sessions that do not want to hear who is typing."""
        return self._typing_declined.get(guild_id, frozenset())

    def set_threads(self, session: GatewaySession, guild_id: int, wanted: bool) -> bool:
        """Whether the session watches all of the guild's threads; returns whether that is new."""
        interest = self._interest(session, guild_id)
        is_new, interest.threads = wanted and not interest.threads, wanted
        return is_new

    def set_thread_member_lists(self, session: GatewaySession, guild_id: int, thread_ids: tuple[int, ...]) -> None:
        """The threads whose members the session watches."""
        self._interest(session, guild_id).thread_member_lists = thread_ids

    def thread_watchers(self, guild_id: int, thread_id: int) -> list[GatewaySession]:
        """The sessions that watch who is in the thread."""
        interests = self._interests.get(guild_id, {})
        return [session for session, interest in interests.items() if thread_id in interest.thread_member_lists]

    def interest(self, session: GatewaySession, guild_id: int) -> Interest | None:
        """What the session watches in the guild beside member lists; None if it never asked."""
        return self._interests.get(guild_id, {}).get(session)

    def _interest(self, session: GatewaySession, guild_id: int) -> Interest:
        return self._interests.setdefault(guild_id, {}).setdefault(session, Interest())

    # What the hub tells

    def forget(self, session: GatewaySession, guild_id: int) -> None:
        """Forget all that the session watches in a guild that it left."""
        for key in [key for key in self._lists_of.get(session, {}) if key[0] == guild_id]:
            self.leave_list(session, key)
        if session in self.typing_decliners(guild_id):
            self.set_typing(session, guild_id, True)
        interests = self._interests.get(guild_id, {})
        interest = interests.pop(session, None)
        if interest is None:
            return
        if not interests:
            del self._interests[guild_id]
        for user_id in interest.members:
            self._stop_watching(session, user_id)

    def guild_changed(self, guild_id: int) -> None:
        """Roles, overwrites, channels or members' roles of the guild changed."""
        for tell in self.on_guild_changed:
            tell(guild_id)
