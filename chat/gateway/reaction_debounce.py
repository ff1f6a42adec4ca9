"""Reactions in conversations, gathered for sessions that want it (gateway.md, Gathered reactions).

The first addition to a message opens a window of 650 ms. What is added to that message meanwhile goes out together, as
one MESSAGE_REACTION_ADD_MANY, when the window closes or holds 512 additions; before that when something is to be told
that must not come first, such as a removal. Every other session hears of each addition at once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs
import trio

from chat.bus.bus import Event
from chat.classes import define, frozen
from chat.gateway.session import GatewaySession
from chat.registries.events import EventName
from chat.registries.limits import REACTION_DEBOUNCE_ADDITIONS, REACTION_DEBOUNCE_MS

OVERTAKING: Final = frozenset(
    {
        EventName.MESSAGE_REACTION_REMOVE,
        EventName.MESSAGE_REACTION_REMOVE_ALL,
        EventName.MESSAGE_REACTION_REMOVE_EMOJI,
        EventName.MESSAGE_DELETE,
        EventName.MESSAGE_DELETE_BULK,
        EventName.CHANNEL_RECIPIENT_REMOVE,
    }
)
"""Events that would change their meaning if they overtook additions that came before them."""

ADDITION: Final = ("user_id", "emoji", "member")
"""Members of the event that are kept for each addition."""

Send = Callable[[Sequence[GatewaySession], EventName, object], None]


@frozen
class _Addition:
    told: Mapping[str, Any]
    receivers: tuple[GatewaySession, ...]


@define(eq=False)
class _Window:
    """Additions to one message; `closes_at` is Trio time."""

    channel_id: str
    message_id: str
    closes_at: float
    additions: list[_Addition] = attrs.field(factory=list)


@define(eq=False, weakref_slot=False)
class ReactionDebounce:
    """Holds additions back. `send` dispatches to sessions."""

    _send: Send
    windows: dict[str, _Window] = attrs.field(factory=dict, init=False)
    """Additions that are held back, by message, in the order in which they are sent."""
    _opened: trio.Event = attrs.field(factory=trio.Event, init=False)

    def gather(self, event: Event, receivers: tuple[GatewaySession, ...]) -> tuple[GatewaySession, ...]:
        """Hold a MESSAGE_REACTION_ADD back for those who asked for it; returns the others."""
        waiting = tuple(session for session in receivers if session.debounces_reactions)
        data = event.data
        if not waiting or not isinstance(data, Mapping):
            return receivers
        message_id = data["message_id"]
        window = self.windows.get(message_id)
        if window is None:
            closes_at = trio.current_time() + REACTION_DEBOUNCE_MS / 1000
            window = self.windows[message_id] = _Window(data["channel_id"], message_id, closes_at)
            self._opened.set()
        told = {name: data[name] for name in ADDITION if name in data}
        window.additions.append(_Addition(told, waiting))
        if len(window.additions) >= REACTION_DEBOUNCE_ADDITIONS:
            self._close(window)
        return tuple(session for session in receivers if not session.debounces_reactions)

    def before(self, event: Event) -> None:
        """Call before an event goes out: sends the held additions that it must not overtake."""
        if event.name in OVERTAKING and isinstance(event.data, Mapping):
            channel_id = event.data.get("channel_id")
            for window in [window for window in self.windows.values() if window.channel_id == channel_id]:
                self._close(window)

    def close_all(self) -> None:
        """Send all additions that are held back, because the server ends."""
        for window in list(self.windows.values()):
            self._close(window)

    async def run(self) -> None:
        """Close windows in time, until cancelled."""
        while True:
            self._opened = trio.Event()
            first = next(iter(self.windows.values()), None)
            with trio.move_on_at(math.inf if first is None else first.closes_at):
                await self._opened.wait()
            now = trio.current_time()
            for window in [window for window in self.windows.values() if window.closes_at <= now]:
                self._close(window)

    def _close(self, window: _Window) -> None:
        del self.windows[window.message_id]
        for receivers, additions in itertools.groupby(window.additions, lambda addition: addition.receivers):
            data = {
                "channel_id": window.channel_id,
                "message_id": window.message_id,
                "reactions": [addition.told for addition in additions],
            }
            self._send(receivers, EventName.MESSAGE_REACTION_ADD_MANY, data)
