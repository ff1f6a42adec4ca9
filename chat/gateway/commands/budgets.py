"""How much one socket may ask for, and how fast (gateway.md, Command budgets)."""

from __future__ import annotations

import collections
from typing import Final

import attrs
import trio

from chat.classes import define
from chat.protocol.requests import LazyRequest, MemberRequest
from chat.protocol.voice import VoiceStateCommand
from chat.registries.limits import (
    BOT_FULL_LIST_WINDOW_MS,
    FORUM_UNREADS_BUDGET,
    FORUM_UNREADS_BUDGET_WINDOW_MS,
    PRESENCE_BUDGET,
    PRESENCE_BUDGET_WINDOW_MS,
    VOICE_IMMEDIATE_COMMANDS,
    VOICE_IMMEDIATE_WINDOW_MS,
)

FULL_LISTS_REMEMBERED: Final = 65_536
"""Whole lists that bots were given and whose windows still count; beyond, the oldest is forgotten."""


class RollingWindow:
    """Allows a number of uses in any span of `window_ms` milliseconds."""

    def __init__(self, uses: int, window_ms: int) -> None:
        self._window_seconds = window_ms / 1000
        self._times: collections.deque[float] = collections.deque(maxlen=uses)

    def spend(self) -> bool:
        """Use one; False when the window has no more."""
        now = trio.current_time()
        if len(self._times) == self._times.maxlen and now < self._times[0] + self._window_seconds:
            return False
        self._times.append(now)
        return True


@define(eq=False)
class SocketWork:
    """What one socket has spent of its budgets, and which of its requests run or wait. It goes with the socket."""

    presences: RollingWindow = attrs.Factory(lambda: RollingWindow(PRESENCE_BUDGET, PRESENCE_BUDGET_WINDOW_MS))
    voice: RollingWindow = attrs.Factory(lambda: RollingWindow(VOICE_IMMEDIATE_COMMANDS, VOICE_IMMEDIATE_WINDOW_MS))
    forum_unreads: RollingWindow = attrs.Factory(
        lambda: RollingWindow(FORUM_UNREADS_BUDGET, FORUM_UNREADS_BUDGET_WINDOW_MS)
    )
    voice_waiting: collections.deque[VoiceStateCommand] = attrs.Factory(collections.deque)
    lazy_waiting: collections.deque[LazyRequest] = attrs.Factory(collections.deque)
    lazy_turn: trio.Lock = attrs.Factory(trio.Lock)
    """Lazy Requests of a socket are applied one after the other, in the order in which they came."""
    members_pending: MemberRequest | None = None
    """The Request Guild Members that waits for a place; a later one replaces it."""
    scopes: set[trio.CancelScope] = attrs.Factory(set)
    """One scope for each request in progress."""

    def close(self) -> None:
        """Abandon the requests of a socket that is gone."""
        self.voice_waiting.clear()
        self.lazy_waiting.clear()
        self.members_pending = None
        for scope in self.scopes:
            scope.cancel()


@define(eq=False, weakref_slot=False)
class FullListWindows:
    """When each bot may have each guild's whole list again."""

    _ends: collections.OrderedDict[tuple[int, int], float] = attrs.field(factory=collections.OrderedDict, init=False)

    def forget(self) -> None:
        """Allow every bot every list at once."""
        self._ends.clear()

    def seconds_to_wait(self, user_id: int, guild_id: int) -> float:
        """How many seconds the bot has to wait for the list; 0 opens a new window."""
        now = trio.current_time()
        while self._ends and (len(self._ends) > FULL_LISTS_REMEMBERED or next(iter(self._ends.values())) <= now):
            self._ends.popitem(last=False)
        end = self._ends.get((user_id, guild_id))
        if end is not None:
            return end - now
        self._ends[user_id, guild_id] = now + BOT_FULL_LIST_WINDOW_MS / 1000
        return 0.0
